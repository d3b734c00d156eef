"""Another pace for a voice that has only its own: the same pitch, in less or more time."""

import math
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Final

import av
import numpy as np
from av.filter import Graph

from app.speech.engine import AudioChunk, Mark, Samples
from app.speech.resampling import make_frame

_SLOWEST_STAGE: Final = 0.5
_FASTEST_STAGE: Final = 2.0
"""What one `atempo` does well: below it refuses, above it skips samples (ffmpeg's manual)."""

_BLOCK: Final = 1024
_FLUSH_SECONDS: Final = 0.2
"""Silence that pushes the last samples out: at slow paces its own flush keeps some back."""


def change_pace(chunks: Iterable[AudioChunk], speed: float) -> Generator[AudioChunk]:
    """Play one sentence's chunks `speed` times as fast, through libav's `atempo`.

    n samples become round(n / speed); marks move with them, and each leaves with the chunk in which
    it now begins.
    """
    stretcher: _Stretcher | None = None
    marks: list[Mark] = []
    position, rate = 0, 0
    for chunk in chunks:
        rate = chunk.sample_rate
        stretcher = stretcher or _Stretcher(rate, speed)
        marks += (_move(mark, speed) for mark in chunk.marks)
        if (samples := stretcher.feed(chunk.samples)).size:
            position += samples.size
            yield AudioChunk(samples, rate, tuple(_take_begun(marks, position)))
    if stretcher is not None:
        yield AudioChunk(stretcher.finish(), rate, tuple(marks))


def _move(mark: Mark, speed: float) -> Mark:
    return replace(mark, start=round(mark.start / speed), end=round(mark.end / speed))


def _take_begun(marks: list[Mark], position: int) -> list[Mark]:
    count = sum(mark.start < position for mark in marks)
    begun = marks[:count]
    del marks[:count]
    return begun


class _Stretcher:
    """A chain of `atempo` filters whose output is cut or filled to the length that was promised.

    The filters' output depends on how their input is cut, so they are fed in blocks of one size.
    """

    def __init__(self, rate: int, speed: float) -> None:
        self._rate = rate
        self._speed = speed
        self._waiting = np.zeros(0, np.float32)
        self._fed = 0
        self._made = 0
        self._graph = _build_graph(rate, speed)

    def feed(self, samples: Samples) -> Samples:
        """Give what `samples`, of shape (n,), made ready."""
        self._waiting = np.concatenate([self._waiting, samples])
        whole = self._waiting.size - self._waiting.size % _BLOCK
        made = [self._push(self._waiting[at : at + _BLOCK]) for at in range(0, whole, _BLOCK)]
        self._waiting = self._waiting[whole:]
        return np.concatenate([np.zeros(0, np.float32), *made])

    def finish(self) -> Samples:
        """Give the rest."""
        missing = round((self._fed + self._waiting.size) / self._speed) - self._made
        silence = np.zeros(round(_FLUSH_SECONDS * self._rate), np.float32)
        rest = self._push(np.concatenate([self._waiting, silence]))
        self._graph.push(None)
        rest = np.concatenate([rest, self._pull()])[:missing]
        return np.pad(rest, (0, missing - rest.size))

    def _push(self, samples: Samples) -> Samples:
        self._graph.push(make_frame(samples, self._rate, start=self._fed))
        self._fed += samples.size
        made = self._pull()
        self._made += made.size
        return made

    def _pull(self) -> Samples:
        pieces = [np.zeros(0, np.float32)]
        while True:
            try:
                frame = self._graph.pull()
            except (av.BlockingIOError, av.EOFError):
                return np.concatenate(pieces)
            if isinstance(frame, av.AudioFrame):
                pieces.append(frame.to_ndarray().reshape(-1).astype(np.float32, copy=False))


def _build_graph(rate: int, speed: float) -> Graph:
    stages = max(
        1,
        math.ceil(math.log(speed) / math.log(_FASTEST_STAGE if speed > 1 else _SLOWEST_STAGE)),
    )
    graph = Graph()
    source = graph.add_abuffer(sample_rate=rate, format="flt", layout="mono")
    tempos = [graph.add("atempo", f"tempo={speed ** (1 / stages):.9f}") for _ in range(stages)]
    sink = graph.add("abuffersink")
    graph.link_nodes(source, *tempos, sink)
    graph.configure()
    return graph
