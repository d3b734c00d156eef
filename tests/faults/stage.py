"""A voice and an encoder that stop or fail at any step, and keep minutes of what they do."""

import threading
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from types import TracebackType
from typing import Final, Self

import numpy as np

from app.formats import AudioFormat
from app.speech.encoder import StreamEncoder
from app.speech.engine import AudioChunk, Mark, Samples, Utterance, Voice
from app.speech.stream import Encoder

SAMPLE_RATE: Final = 24_000
CHUNKS: Final = 6
"""What the staged voice says, whatever the text is: so many chunks of 0.1 s each."""
STAGED_FORMAT: Final = "pcm"
"""The format that the staged encoder is for; others are encoded in peace."""
WAIT_SECONDS: Final = 10

_TONE: Final[Samples] = np.sin(np.arange(2_400, dtype=np.float32) / 9) * np.float32(0.5)


def make_chunk(number: int) -> Samples:
    """Give the sound of that number, unlike any other."""
    return _TONE / np.float32(number + 1)


class Hold:
    """A step that is not done before it is released; begin and release are seen across threads."""

    def __init__(self) -> None:
        self.begun: Final = threading.Event()
        self.release: Final = threading.Event()

    def pass_through(self) -> None:
        self.begun.set()
        assert self.release.wait(WAIT_SECONDS)


class Stage:
    """What is to happen at which step of a speech, and which steps there were, and where."""

    def __init__(self) -> None:
        self.minutes: Counter[str] = Counter()
        self.threads: set[str] = set()
        self.holds: Final[dict[str, Hold]] = {}
        self.faults: Final[dict[str, type[BaseException]]] = {}

    def clear(self) -> None:
        """Forget what was."""
        self.minutes.clear()
        self.threads.clear()
        self.holds.clear()
        self.faults.clear()

    def enter(self, step: str) -> None:
        """Do the step: hold there if that is wanted, then fail there, if that is."""
        self.minutes[step] += 1
        self.threads.add(threading.current_thread().name)
        if (hold := self.holds.get(step)) is not None:
            hold.pass_through()
        if (fault := self.faults.get(step)) is not None:
            raise fault

    def succeeded(self, step: str) -> int:
        """Count how often the step was done without fail."""
        return 0 if step in self.faults else self.minutes[step]


class StagedEngine:
    """Speaks with a voice in peace, and with another one under the stage's direction."""

    id: Final = "staged"
    sample_rate: Final = SAMPLE_RATE
    re_entrant: Final = True
    has_pace: Final = True
    voices: Final[Sequence[Voice]] = (
        Voice("staged", "Staged", "en"),
        Voice("calm", "Calm", "en"),
    )

    def __init__(self, stage: Stage) -> None:
        self._stage: Final = stage

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        if utterance.voice == "staged":
            self._stage.enter("generate")
            return _StagedChunks(self._stage)
        return self._speak_calmly(utterance)

    @staticmethod
    def _speak_calmly(utterance: Utterance) -> Generator[AudioChunk]:
        for number in range(len(utterance.words)):
            yield AudioChunk(make_chunk(number), SAMPLE_RATE)


class _StagedChunks(Generator[AudioChunk, None, None]):
    """A generator that sees when, where and how often it is closed."""

    def __init__(self, stage: Stage) -> None:
        self._stage: Final = stage
        self._made = 0

    def send(self, _value: None) -> AudioChunk:
        number, self._made = self._made, self._made + 1
        self._enter(f"next {number}" if number < CHUNKS else "end")
        if number >= CHUNKS:
            raise StopIteration
        return AudioChunk(make_chunk(number), SAMPLE_RATE, _StagedMarks(self._stage, number))

    def throw(
        self,
        kind: object,
        value: object = None,
        traceback: TracebackType | None = None,
    ) -> AudioChunk:
        raise NotImplementedError

    def close(self) -> None:
        self._stage.enter("close")

    def _enter(self, step: str) -> None:
        try:
            self._stage.enter(step)
        except StopIteration as error:
            raise RuntimeError("generator raised StopIteration") from error  # as PEP 479 has it


class _StagedMarks(tuple[Mark, ...]):  # noqa: SLOT001 - a tuple that knows its stage
    """No marks, to find which is a step too."""

    _stage: Stage
    _number: int

    def __new__(cls, stage: Stage, number: int) -> Self:
        marks = super().__new__(cls)
        marks._stage, marks._number = stage, number
        return marks

    def __iter__(self) -> Iterator[Mark]:
        self._stage.enter(f"marks {self._number}")
        return super().__iter__()


class _StagedEncoder:
    """The real encoder, with the stage before it."""

    def __init__(self, stage: Stage, encoder: Encoder) -> None:
        self._stage: Final = stage
        self._encoder: Final = encoder
        self._fed = 0

    def feed(self, samples: Samples) -> bytes:
        self._stage.enter(f"feed {self._fed}")
        self._fed += 1
        return self._encoder.feed(samples)

    def finish(self) -> bytes:
        self._stage.enter("finish")
        return self._encoder.finish()

    def close(self) -> None:
        self._encoder.close()
        self._stage.enter("encoder close")


class StagedEncoders:
    """Makes encoders: staged ones for the one format, calm ones for all others."""

    def __init__(self, stage: Stage) -> None:
        self._stage: Final = stage

    def __call__(self, audio_format: AudioFormat, sample_rate: int) -> Encoder:
        if audio_format.name != STAGED_FORMAT:
            return StreamEncoder(audio_format, sample_rate)
        self._stage.enter("open")
        return _StagedEncoder(self._stage, StreamEncoder(audio_format, sample_rate))
