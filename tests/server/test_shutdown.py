"""How the server stops: in its own time when it is asked once, at once when it is asked twice."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from http.client import IncompleteRead
from pathlib import Path
from typing import NamedTuple

import pytest
from litestar import get

from tests.server.clients import (
    Client,
    Listener,
    build,
    wait_until,
    write_request,
    write_speech,
)
from tests.serving import Served, running
from tests.voices import ToneEngine

LONG = 60.0
BROKEN = (IncompleteRead, ConnectionResetError)


def ask(port: int, request: bytes) -> int:
    with Client(port).send(request) as client:
        return client.answer().status


def tell_to_stop(served: Served) -> None:
    """Do what a signal does, and wait until it shows."""
    served.server.handle_exit(signal.SIGTERM, None)
    ready = write_request("/readyz", b"", "Connection: close", method="GET")
    wait_until(lambda: ask(served.port, ready) == 503)


def test_what_runs_is_spoken_to_the_end_while_what_is_new_is_refused() -> None:
    with running(build(), grace_seconds=LONG) as served:
        listener = Listener(served.port)
        listener.start()
        listener.hear_more()
        tell_to_stop(served)
        with Client(served.port).send(write_speech()) as late:
            answer = late.answer()
        assert (answer.status, answer.error["code"]) == (503, "shutting_down")
        assert int(answer.headers["retry-after"]) > 0
        for _ in range(50):
            listener.hear_more()
            assert ask(served.port, write_request("/livez", method="GET")) == 200
        listener.hear_the_end()
        served.thread.join()
        with pytest.raises(ConnectionRefusedError):
            Client(served.port)


def test_what_waits_for_its_turn_is_spoken_too() -> None:
    with running(build(max_streams=1), grace_seconds=LONG) as served:
        listener = Listener(served.port)
        listener.start()
        listener.hear_more()
        with Client(served.port).send(write_speech(3)) as waiting:
            wait_until(lambda: served.app.state.studio.worker.waiting == 1)
            tell_to_stop(served)
            listener.hear_the_end()
            assert waiting.answer().status == 200


def test_what_is_made_but_not_taken_yet_has_what_is_left_of_the_grace() -> None:
    engine = ToneEngine()
    with running(build(engine, lead_bytes=10_000_000), grace_seconds=LONG) as served:
        listener = Listener(served.port)
        engine.closed.clear()
        with Client(served.port).send(write_speech(800)) as client:
            response = client.begin_answer()
            assert engine.closed.wait(20)
            served.server.handle_exit(signal.SIGTERM, None)
            wait_until(lambda: not served.server.servers[0].sockets)
            assert len(response.read()) == len(listener.expected)
        listener.start()
        listener.hear_the_end()


def test_what_takes_longer_than_the_grace_is_cut_and_nobody_takes_it_for_whole() -> None:
    engine = ToneEngine()
    with (
        running(build(engine), grace_seconds=0.2) as served,
        Client(served.port).send(write_speech(800)) as client,
    ):
        response = client.begin_answer()
        served.server.handle_exit(signal.SIGTERM, None)
        served.thread.join()
        assert engine.closed.is_set()
        with pytest.raises(BROKEN):
            response.read()


def test_the_second_signal_ends_what_is_being_made_at_once() -> None:
    engine = ToneEngine()
    with (
        running(build(engine), grace_seconds=LONG) as served,
        Client(served.port).send(write_speech(800)) as client,
    ):
        response = client.begin_answer()
        tell_to_stop(served)
        served.server.handle_exit(signal.SIGTERM, None)
        served.thread.join()
        assert engine.closed.is_set()
        with pytest.raises(BROKEN):
            response.read()


def test_the_second_signal_ends_what_is_being_sent_at_once() -> None:
    engine = ToneEngine()
    with (
        running(build(engine, lead_bytes=10_000_000), grace_seconds=LONG) as served,
        Client(served.port).send(write_speech(800)) as client,
    ):
        response = client.begin_answer()
        assert engine.closed.wait(20)
        served.server.handle_exit(signal.SIGTERM, None)
        wait_until(lambda: not served.server.servers[0].sockets)
        served.server.handle_exit(signal.SIGTERM, None)
        with pytest.raises(BROKEN):
            response.read()


@get("/deaf")
async def work_without_listening() -> None:
    await asyncio.sleep(LONG)


def test_the_second_signal_ends_what_does_not_notice_that_its_client_is_gone() -> None:
    app = build()
    app.register(work_without_listening)
    request = write_request("/deaf", method="GET")
    with running(app, grace_seconds=LONG) as served, Client(served.port).send(request):
        wait_until(lambda: len(served.server.server_state.tasks) == 1)
        served.server.handle_exit(signal.SIGTERM, None)
        served.server.handle_exit(signal.SIGTERM, None)
        served.thread.join(timeout=LONG / 2)
        assert not served.thread.is_alive()


@pytest.mark.parametrize("sent", [b"", b"GET / HT", write_request("/livez", method="GET")])
def test_nobody_who_asks_for_nothing_holds_up_the_end(sent: bytes) -> None:
    with (
        running(build(header_seconds=LONG), grace_seconds=LONG) as served,
        Client(served.port).send(sent) as client,
    ):
        wait_until(lambda: len(served.server.connections) == 1)
        served.server.handle_exit(signal.SIGTERM, None)
        served.thread.join()
        client.ends()


class Program(NamedTuple):
    """The server as a person starts it."""

    process: subprocess.Popen[str]
    port: int

    def read_log(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read()


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    cache = tmp_path_factory.getbasetemp() / "voice-cache"
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--cache-folder", str(cache)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = ""
        while "Device: " not in said:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line, said
            said += line
        port = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        assert port is not None
        yield Program(process, int(port[1]))
        process.kill()


def write_reading(path: Path = Path(__file__)) -> bytes:
    """Ask for a text of which only a part fits the buffers."""
    text = " ".join(re.findall(r"[a-z]{2,}", path.read_text()))[:300]
    body = json.dumps({"input": text, "response_format": "pcm"}).encode()
    return write_request("/v1/audio/speech", body, "Connection: close")


def test_a_program_that_is_told_to_stop_ends_what_it_says_and_then_with_status_0(
    program: Program,
) -> None:
    with Client(program.port).send(write_reading()) as client:
        response = client.begin_answer()
        program.process.send_signal(signal.SIGTERM)
        assert len(response.read()) > 600_000
    assert program.process.wait(timeout=30) == 0
    assert "Traceback" not in program.read_log()


def test_a_program_that_is_interrupted_twice_ends_at_once(program: Program) -> None:
    with Client(program.port).send(write_reading()) as client:
        response = client.begin_answer()
        program.process.send_signal(signal.SIGINT)
        ready = write_request("/readyz", b"", "Connection: close", method="GET")
        wait_until(lambda: ask(program.port, ready) == 503)
        program.process.send_signal(signal.SIGINT)
        with pytest.raises(BROKEN):
            response.read()
    assert program.process.wait(timeout=30) == 0
    assert "Traceback" not in program.read_log()
