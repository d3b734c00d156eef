"""From a text to the bytes of one container, chunk by chunk."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from app.errors import NothingToSpeakError
from app.formats import AudioFormat
from app.schemas import LARGEST_SEED
from app.speech.engine import AudioChunk, Engine, Mark, Samples, Utterance, Voice, Word
from app.speech.text import sentences

LONGEST_SENTENCE: Final = 300
"""Characters that a voice takes at once: attention costs the square of a sentence's length."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What to say and how: a text of any length, and the choices that hold for all of it."""

    text: str
    voice: Voice
    speed: float = 1.0
    seed: int | None = None
    interval_seconds: float = 1.0


class Encoder(Protocol):
    """What turns PCM into one container; app.speech.encoder has the real one."""

    def feed(self, samples: Samples) -> bytes:
        """Encode samples of shape (n,) and give the bytes that came out."""

    def finish(self) -> bytes:
        """End the container and give its last bytes."""

    def close(self) -> None:
        """Free everything; harmless twice."""


EncoderFactory = Callable[[AudioFormat, int], Encoder]
"""Makes an encoder for a format and the rate, in Hz, of the samples that it will be fed."""


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """What a chunk of sound became: bytes of the one container, possibly none yet.

    `samples` counts the sound that went in, at `sample_rate` Hz; marks are those of AudioChunk.
    """

    data: bytes
    samples: int
    sample_rate: int
    marks: tuple[Mark, ...] = ()

    @property
    def size(self) -> int:
        """Bytes that wait for the reader."""
        return len(self.data)

    @property
    def cost(self) -> float:
        """Seconds of sound: what fair shares are counted in."""
        return self.samples / self.sample_rate


def encoded(
    engine: Engine, speech: Speech, make_encoder: Callable[[int], Encoder]
) -> Generator[EncodedChunk]:
    """Speak and encode: what each chunk gave, then the tail of the container.

    `make_encoder` gets the sample rate in Hz. Voice and encoder are closed on every path.
    """
    rate = engine.sample_rate
    with closing(spoken(engine, speech)) as chunks, closing(make_encoder(rate)) as encoder:
        for chunk in chunks:
            data = encoder.feed(chunk.samples)
            yield EncodedChunk(data, len(chunk.samples), rate, chunk.marks)
        yield EncodedChunk(encoder.finish(), 0, rate)


def spoken(engine: Engine, speech: Speech) -> Generator[AudioChunk]:
    """Speak sentence by sentence, pauses included, as one run of samples.

    Marks count characters from the start of the text and samples from the start of the sound.
    Raises NothingToSpeakError where the whole text gave no sound.
    """
    rate = engine.sample_rate
    position = 0
    for index, sentence in enumerate(
        sentences(speech.text, longest=LONGEST_SENTENCE, language=speech.voice.language)
    ):
        start = position
        with closing(engine.generate(_utterance(speech, sentence.words, index))) as chunks:
            for chunk in chunks:
                yield _shift_marks(chunk, start)
                position += len(chunk.samples)
        pause_samples = round(sentence.pause_seconds / speech.speed * rate)
        if position > start and pause_samples:
            yield AudioChunk(np.zeros(pause_samples, np.float32), rate)
            position += pause_samples
    if position == 0:
        raise NothingToSpeakError("The text has nothing in it that can be spoken.", param="input")


def _utterance(speech: Speech, words: tuple[Word, ...], index: int) -> Utterance:
    seed = None if speech.seed is None else (speech.seed + index) % (LARGEST_SEED + 1)
    return Utterance(
        words=words,
        voice=speech.voice.id,
        speed=speech.speed,
        seed=seed,
        interval_seconds=speech.interval_seconds,
    )


def _shift_marks(chunk: AudioChunk, offset: int) -> AudioChunk:
    marks = tuple(
        replace(mark, start=mark.start + offset, end=mark.end + offset) for mark in chunk.marks
    )
    return replace(chunk, marks=marks)
