"""From a text to the bytes of one container, chunk by chunk."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from app.errors import NothingToSpeakError
from app.formats import AudioFormat
from app.schemas import LARGEST_SEED
from app.speech.engine import AudioChunk, Engine, Mark, Samples, Utterance, Voice, Word
from app.speech.text import Sentence
from app.speech.time_scale import change_pace

LONGEST_SENTENCE: Final = 300
"""Characters that a voice takes at once: attention costs the square of a sentence's length."""

Script = Callable[[], Iterator[Sentence | None]]
"""Gives the sentences to say, once, on the thread that speaks; None: there is none to say yet."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What to say and how: a script of any length, and the choices that hold for all of it."""

    script: Script
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
    The `last` one ends the container.
    """

    data: bytes
    samples: int
    sample_rate: int
    marks: tuple[Mark, ...] = ()
    last: bool = False

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
) -> Generator[EncodedChunk | None]:
    """Speak and encode: what each chunk gave, then the tail of the container.

    None where the script has nothing to say yet. `make_encoder` gets the sample rate in Hz. Voice
    and encoder are closed on every path.
    """
    rate = engine.sample_rate
    with closing(spoken(engine, speech)) as chunks, closing(make_encoder(rate)) as encoder:
        for chunk in chunks:
            yield None if chunk is None else _encode(encoder, chunk)
        yield EncodedChunk(encoder.finish(), 0, rate, last=True)


def _encode(encoder: Encoder, chunk: AudioChunk) -> EncodedChunk:
    data = encoder.feed(chunk.samples)
    return EncodedChunk(data, len(chunk.samples), chunk.sample_rate, chunk.marks)


def spoken(engine: Engine, speech: Speech) -> Generator[AudioChunk | None]:
    """Speak sentence by sentence, pauses included, as one run of samples.

    Marks count characters from the start of the text and samples from the start of the sound. None
    where the script has nothing to say yet. Raises NothingToSpeakError where all of it gave no
    sound.
    """
    rate = engine.sample_rate
    position, index = 0, -1
    for sentence in speech.script():
        if sentence is None:
            yield None
            continue
        start, index = position, index + 1
        with closing(_generate(engine, speech, sentence.words, index)) as chunks:
            for chunk in chunks:
                yield _shift_marks(chunk, start)
                position += len(chunk.samples)
        pause_samples = round(sentence.pause_seconds / speech.speed * rate)
        if position > start and pause_samples:
            yield AudioChunk(np.zeros(pause_samples, np.float32), rate)
            position += pause_samples
    if position == 0:
        raise NothingToSpeakError("The text has nothing in it that can be spoken.", param="input")


def _generate(
    engine: Engine, speech: Speech, words: tuple[Word, ...], index: int
) -> Generator[AudioChunk]:
    utterance = _utterance(speech, words, index)
    if engine.has_pace or speech.speed == 1:
        return engine.generate(utterance)
    return _scale(engine, utterance)


def _scale(engine: Engine, utterance: Utterance) -> Generator[AudioChunk]:
    with closing(engine.generate(replace(utterance, speed=1.0))) as chunks:
        yield from change_pace(chunks, utterance.speed)


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
