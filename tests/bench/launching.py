"""Starts the server that is put under load, and asks it how it fares."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

WAIT_SECONDS = 10.0


class Report(msgspec.Struct):
    """What `tests.bench.loaded_server` tells: counts, bytes, and seconds by percentile."""

    held: dict[str, int]
    cancels: dict[str, int]
    memory: int
    peak_memory: int
    lags: dict[str, float]


class Launched:
    """A server that runs in a process of its own."""

    def __init__(self, commands: IO[str], answers: IO[str]) -> None:
        self._commands, self._answers = commands, answers
        self.port = int(answers.readline())

    def begin(self) -> Report:
        """Measure anew from now on, with nobody there."""
        self._report_once(lambda held: held["requests"] == held["protocols"] == 0)
        return self._ask("begin")

    def report_at_rest(self, before: Report) -> Report:
        """Wait until it holds no more than it did before; fail if that never comes to be."""
        return self._report_once(lambda held: held == before.held)

    def _report_once(self, is_so: Callable[[dict[str, int]], bool]) -> Report:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_so((report := self._ask("report")).held):
            assert time.monotonic() < deadline, report.held
            time.sleep(0.02)
        return report

    def _ask(self, command: str) -> Report:
        self._commands.write(f"{command}\n")
        self._commands.flush()
        return msgspec.json.decode(self._answers.readline(), type=Report)


@contextmanager
def launched(log: Path, **settings: Any) -> Iterator[Launched]:  # noqa: ANN401 - of any type
    """Run a server with such settings; it must end well, with nothing to complain about."""
    command = [sys.executable, "-m", "tests.bench.loaded_server", json.dumps(settings)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield Launched(process.stdin, process.stdout)
        process.stdin.close()
        assert process.wait(WAIT_SECONDS) == 0
    assert "Traceback" not in log.read_text()
