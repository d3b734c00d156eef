"""Encoders that do what must never be done: the laws have to catch each of them."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from app.formats import AudioFormat
from app.speech.encoder import StreamEncoder
from app.speech.engine import Samples

FAULT_SECONDS: Final = 1.5
"""Where in the sound an edited encoder does its harm."""


class _Edited(StreamEncoder):
    """One container whose sound is changed at FAULT_SECONDS."""

    def __init__(self, audio_format: AudioFormat, sample_rate: int) -> None:
        """Open the container."""
        super().__init__(audio_format, sample_rate)
        self._rate: Final = sample_rate
        self._until_fault = round(FAULT_SECONDS * sample_rate)

    def feed(self, samples: Samples) -> bytes:
        """Encode `samples`, with the fault if it lies in them."""
        at, self._until_fault = self._until_fault, self._until_fault - len(samples)
        if not 0 <= at < len(samples):
            return super().feed(samples)
        return super().feed(np.concatenate(list(self.harm(samples, at))))

    def harm(self, samples: Samples, at: int) -> Iterator[Samples]:
        """Give the pieces that `samples` become, with the fault before sample `at`."""
        raise NotImplementedError


class MillisecondHole(_Edited):
    """Inserts one millisecond of silence."""

    def harm(self, samples: Samples, at: int) -> Iterator[Samples]:
        """Give what comes before, the hole, and the rest."""
        yield samples[:at]
        yield np.zeros(self._rate // 1000, dtype=np.float32)
        yield samples[at:]


class MillisecondLoss(_Edited):
    """Loses one millisecond of sound."""

    def harm(self, samples: Samples, at: int) -> Iterator[Samples]:
        """Give what comes before and after."""
        yield samples[:at]
        yield samples[at + self._rate // 1000 :]


class ClippedEnds(StreamEncoder):
    """Puts silence in place of the first and the last two milliseconds."""

    def __init__(self, audio_format: AudioFormat, sample_rate: int) -> None:
        """Open the container."""
        super().__init__(audio_format, sample_rate)
        self._clipped: Final = np.zeros(sample_rate // 500, dtype=np.float32)
        self._to_clip = len(self._clipped)
        self._held = self._clipped[:0]

    def feed(self, samples: Samples) -> bytes:
        """Encode what surely is not the end, without the start."""
        kept = samples[self._to_clip :]
        silence = self._clipped[: len(samples) - len(kept)]
        self._to_clip -= len(silence)
        self._held = np.concatenate((self._held, silence, kept))
        ready = self._held[: -len(self._clipped)]
        self._held = self._held[len(ready) :]
        return super().feed(ready)

    def finish(self) -> bytes:
        """End with silence."""
        return super().feed(self._clipped) + super().finish()
