"""The real server in a program of its own, which tells what it holds and how it fares.

A line "begin" on its input starts the measures anew, "report" asks for them, each answered by a
line of JSON; the end of its input stops it. Its voice costs nothing, so that what is measured is
the server and the encoders: a hundred of the embedded voice would need ten cores or more.
"""

import asyncio
import gc
import json
import socket
import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any, Final

import numpy as np
from anyio.to_thread import current_default_thread_limiter
from av.container import OutputContainer

from app.formats import AudioFormat
from app.jobs import Task
from app.main import create_app
from app.server.serve import Server, make_server
from app.settings import Settings
from app.speech.encoder import StreamEncoder
from app.speech.engine import AudioChunk, Samples, Utterance, Voice
from app.worker import Worker
from tests.bench.lag import LagMeter, measure_memory, trim_memory

SAMPLE_RATE: Final = 24_000
FIRST_SECONDS: Final = 0.2
"""Chunks grow as those of the embedded voice do: twofold from this length to the one asked for."""
HESITATION_SECONDS: Final = 0.0005
HESITATIONS: Final = 20
_SILENCE: Final = np.zeros(0, np.float32)


class NoiseEngine:
    """Noise, a second a word and another one for each seed; `hesitant` takes a while to begin."""

    id: Final = "noise"
    sample_rate: Final = SAMPLE_RATE
    re_entrant: Final = True
    has_pace: Final = True
    voices: Final[Sequence[Voice]] = (
        Voice("steady", "Steady", "en"),
        Voice("hesitant", "Hesitant", "en"),
    )

    def __init__(self) -> None:
        """Make a minute of noise, of which each speech is a part."""
        self.open_voices = 0
        # With no temporary arrays, which would leave the process larger than it has to be.
        noise = np.random.default_rng(1).standard_normal(60 * SAMPLE_RATE, dtype=np.float32)
        noise *= 0.2
        self._noise: Final[Samples] = noise

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        """Speak a second of noise for each word."""
        self.open_voices += 1
        try:
            if utterance.voice == "hesitant":
                for _ in range(HESITATIONS):
                    sleep(HESITATION_SECONDS)
                    yield AudioChunk(_SILENCE, SAMPLE_RATE)
            yield from self._cut(utterance)
        finally:
            self.open_voices -= 1

    def _cut(self, utterance: Utterance) -> Generator[AudioChunk]:
        start = (utterance.seed or 0) * 1_009 % (30 * SAMPLE_RATE)
        end, seconds = start + len(utterance.words) * SAMPLE_RATE, FIRST_SECONDS
        while start < end:
            size = min(end - start, round(seconds * SAMPLE_RATE))
            yield AudioChunk(self._noise[start : start + size], SAMPLE_RATE)
            start, seconds = start + size, min(2 * seconds, utterance.interval_seconds)


class CountedEncoder(StreamEncoder):
    """The real one, counted while it is open."""

    open_encoders: Final[set["CountedEncoder"]] = set()

    def __init__(self, audio_format: AudioFormat, sample_rate: int) -> None:
        super().__init__(audio_format, sample_rate)
        self.open_encoders.add(self)

    def close(self) -> None:
        super().close()
        self.open_encoders.discard(self)


def count_cancels(worker: Worker) -> Counter[str]:
    """Count what each job is at when its reader leaves it."""
    schedule, counter = worker._schedule, Counter[str]()  # noqa: SLF001 - no reader needs to know
    cancel = schedule.cancel

    def note(task: Task[Any], reason: Exception) -> None:
        counter[task.state.name] += 1
        cancel(task, reason)

    schedule.cancel = note  # type: ignore[method-assign]
    return counter


def is_of_pool(thread: threading.Thread) -> bool:
    """Tell whether it is one of those that asyncio and anyio keep, a bounded number, for reuse."""
    return thread.name.startswith(("asyncio_", "AnyIO"))


class Control:
    """Answers the one who started the program."""

    def __init__(self, server: Server, worker: Worker, engine: NoiseEngine) -> None:
        self._server, self._worker, self._engine = server, worker, engine
        self._cancels = count_cancels(worker)
        self._lag = LagMeter()

    async def serve(self) -> None:
        """Obey line by line, until there are no more."""
        loop, lines = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(partial(asyncio.StreamReaderProtocol, lines), sys.stdin)
        measuring = asyncio.create_task(self._lag.run())
        while line := await lines.readline():
            report = self._begin() if line == b"begin\n" else self._report()
            print(json.dumps(report), flush=True)  # noqa: T201 - that is how it answers
        measuring.cancel()
        self._server.stop()

    def _begin(self) -> dict[str, Any]:
        trim_memory()
        report = self._report()
        self._lag.begin()
        self._cancels.clear()
        return report

    def _report(self) -> dict[str, Any]:
        return {
            "held": self._count(),
            "cancels": dict(self._cancels),
            "memory": measure_memory(),
            "peak_memory": self._lag.peak_memory,
            "lags": self._lag.take_percentiles(),
        }

    def _count(self) -> dict[str, int]:
        worker, state = self._worker, self._server.server_state
        return {
            "jobs": worker.jobs,
            "lanes": worker.running + worker.waiting,
            "connections": len(self._server.connections),
            "protocols": len(state.connections),
            "requests": len(state.tasks),
            "tasks": len(asyncio.all_tasks()),
            "threads": sum(not is_of_pool(thread) for thread in threading.enumerate()),
            "threads at work": current_default_thread_limiter().borrowed_tokens,
            "descriptors": len(list(Path("/dev/fd").iterdir())),
            "encoders": len(CountedEncoder.open_encoders),
            "containers": sum(isinstance(thing, OutputContainer) for thing in gc.get_objects()),
            "voices": self._engine.open_voices,
        }


async def serve(changes: dict[str, Any]) -> None:
    """Serve on a free port, which is the first line of output, with such settings."""
    settings, engine = Settings(**changes), NoiseEngine()
    app = create_app(settings, load=lambda _: [engine], make_encoder=CountedEncoder)
    server = make_server(app, settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await app.state.readiness.settle()
        control = Control(server, app.state.studio.worker, engine)
        print(listener.getsockname()[1], flush=True)  # noqa: T201 - that is how it answers
        await asyncio.gather(control.serve(), serving)


if __name__ == "__main__":
    asyncio.run(serve(json.loads(sys.argv[1])))
