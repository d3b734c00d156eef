"""Engines for unit tests: signals instead of a voice, and faults on demand."""

import threading
from collections.abc import Generator, Sequence

import numpy as np

from app.speech.engine import AudioChunk, Mark, Utterance, Voice


class ToneEngine:
    """Speaks each word as 0.1 s of a tone, a chunk a word; records what is done to it."""

    def __init__(
        self,
        name: str = "tone",
        *,
        re_entrant: bool = True,
        has_pace: bool = True,
        fail_after: int | None = None,
    ) -> None:
        self.id = name
        self.sample_rate = 24_000
        self.re_entrant = re_entrant
        self.has_pace = has_pace
        self.voices: Sequence[Voice] = (Voice("a", "A", "en-US"), Voice("b", "B", "en-GB"))
        self.fail_after = fail_after
        self.utterances: list[Utterance] = []
        self.chunks_made = 0
        self.closed = threading.Event()

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        self.utterances.append(utterance)
        time = np.arange(2_400, dtype=np.float32) / self.sample_rate
        tone = np.sin(2 * np.pi * 440 * time).astype(np.float32) * np.float32(0.5)
        try:
            for index, word in enumerate(utterance.words):
                if self.chunks_made == self.fail_after:
                    raise ValueError("the model broke")
                self.chunks_made += 1
                start = index * len(tone)
                mark = Mark("word", word.spoken, word.start, word.end, start, start + len(tone))
                yield AudioChunk(tone, self.sample_rate, (mark,))
        finally:
            self.closed.set()


class SilentEngine(ToneEngine):
    """Has nothing to say to anything."""

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        self.utterances.append(utterance)
        yield from ()
