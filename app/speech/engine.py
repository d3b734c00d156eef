"""The contract between a voice and the rest: words in, chunks of PCM with marks out."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
"""Mono PCM of shape (n,), full scale at -1.0 and 1.0."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is spoken, and where it stands in the text that the person wrote.

    `spoken` may hold several words ("five dollars" for "$5") and carries its own punctuation;
    `start` and `end` are character offsets into the written text.
    """

    spoken: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """When something is heard: a span of the written text, and its first and last sample + 1."""

    kind: Literal["word", "phoneme"]
    text: str
    text_start: int
    text_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Mono float32 samples with their rate in Hz, and the marks that begin within them."""

    samples: Samples
    sample_rate: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine offers; `language` is a BCP 47 tag."""

    id: str
    name: str
    language: str


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence to speak: its words and how to say them.

    `speed` divides durations (0.25 to 4); `seed` makes the render repeatable, None leaves it to
    chance; `interval_seconds` is the longest chunk to yield, in seconds of audio.
    """

    words: tuple[Word, ...]
    voice: str
    speed: float = 1.0
    seed: int | None = None
    interval_seconds: float = 1.0

    @property
    def text(self) -> str:
        """The sentence as one string, its words joined by single spaces."""
        return " ".join(word.spoken for word in self.words)


class Engine(Protocol):
    """A model with its voices, living on the thread that owns MLX."""

    @property
    def id(self) -> str:
        """The model's name in the API."""

    @property
    def sample_rate(self) -> int:
        """Rate of every chunk, in Hz."""

    @property
    def re_entrant(self) -> bool:
        """Whether two generations may be open at once and take turns."""

    @property
    def has_pace(self) -> bool:
        """Whether it honours an utterance's speed; if not, it is always given 1."""

    @property
    def voices(self) -> Sequence[Voice]:
        """What it can sound like, the default voice first."""

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        """Speak one sentence; marks count samples from the sentence's own start.

        The caller closes the generator.
        """
