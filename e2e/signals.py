"""An engine that makes sounds whose seams can be seen, at the pace that a test chooses."""

import threading
from collections.abc import Generator, Iterator, Sequence
from functools import cache
from queue import SimpleQueue
from typing import Final, Literal

import numpy as np

from app.speech.engine import AudioChunk, Mark, Samples, Utterance, Voice, Word
from tests.audit.sounds import make_chirp, make_noise

WORD_SECONDS: Final = {"second": 1.0, "blip": 0.05}
"""What each word of a text stands for; other words are silent."""

Ending = Literal["finished", "closed"]
_SILENCE: Final = np.zeros(0, dtype=np.float32)
_MAKERS: Final = {"noise": make_noise, "chirp": make_chirp}


class Gate:
    """Holds a generation once so much is made, until it is opened."""

    def __init__(self, after_seconds: float) -> None:
        """Let `after_seconds` of sound through, then hold until `open`."""
        self.after_seconds: Final = after_seconds
        self.reached: Final = threading.Event()
        self._opened: Final = threading.Event()
        self._failure: Exception | None = None

    def open(self) -> None:
        """Let everything through from now on."""
        self._opened.set()

    def fail(self, failure: Exception) -> None:
        """Have the generations that are held end in `failure`."""
        self._failure = failure
        self.open()

    @property
    def is_open(self) -> bool:
        """Whether everything may pass."""
        return self._opened.is_set()

    def hold(self) -> Iterator[None]:
        """Give turns away while the gate is shut, so that the thread can close generations."""
        self.reached.set()
        while not self._opened.wait(0.01):
            yield
        if self._failure:
            raise self._failure


class SignalEngine:
    """Noise and chirps as long as the text says: "second second blip" lasts 2.05 s."""

    id: Final = "signal"
    has_pace: Final = True
    voices: Final[Sequence[Voice]] = (
        Voice("noise", "Noise", "en"),
        Voice("chirp", "Chirp", "en"),
    )

    def __init__(self, sample_rate: int, *, re_entrant: bool = True) -> None:
        """Make sounds at `sample_rate` Hz; one that is not `re_entrant` makes others wait."""
        self.sample_rate: Final = sample_rate
        self.re_entrant: Final = re_entrant
        self.gate: Gate | None = None
        self.endings: Final[SimpleQueue[Ending]] = SimpleQueue()

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        """Make the sound in chunks of `interval_seconds`, and record how the generation ended."""
        sound = self.make(utterance.voice, measure(utterance.text))
        marks = list(self.mark(utterance.words))
        size = round(utterance.interval_seconds * self.sample_rate)
        ending: Ending = "closed"
        try:
            for start in range(0, len(sound), size):
                if (gate := self.gate) and start >= gate.after_seconds * self.sample_rate:
                    for _ in gate.hold():
                        yield AudioChunk(_SILENCE, self.sample_rate)
                begun = tuple(mark for mark in marks if start <= mark.start < start + size)
                yield AudioChunk(sound[start : start + size], self.sample_rate, begun)
            ending = "finished"
        finally:
            self.endings.put(ending)

    def mark(self, words: Sequence[Word]) -> Iterator[Mark]:
        """Give when each word sounds that does."""
        position = 0.0
        for word in words:
            start, position = position, position + measure(word.spoken)
            if position > start:
                place = (round(at * self.sample_rate) for at in (start, position))
                yield Mark("word", word.spoken, word.start, word.end, *place)

    def hold_after(self, seconds: float) -> Gate:
        """Hold every generation after `seconds` of its sound; gives the gate to open."""
        self.gate = Gate(seconds)
        return self.gate

    def release(self) -> None:
        """Hold nothing any more."""
        if self.gate:
            self.gate.open()
        self.gate = None

    def make(self, voice: str, seconds: float) -> Samples:
        """Give what `voice` sounds like for so long: what a listener should hear."""
        return _make(voice, round(seconds * self.sample_rate), self.sample_rate)


@cache
def _make(voice: str, count: int, rate: int) -> Samples:
    sound = _MAKERS[voice](count, rate)
    sound.setflags(write=False)
    return sound


def measure(text: str) -> float:
    """Add up the seconds that the words of `text` stand for."""
    words = (word.strip(".,!?").lower() for word in text.split())
    return sum(WORD_SECONDS.get(word, 0.0) for word in words)
