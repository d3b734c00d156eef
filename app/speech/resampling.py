"""One resampler for a whole stream, whose output length is exact."""

from fractions import Fraction
from typing import Final, Protocol

import av
import numpy as np

from app.speech.engine import Samples

_FILTER_SAMPLES: Final = 64
"""Silence that flushes libswresample's filter: twice its 32 taps, counted at the lower rate."""


class Resampler(Protocol):
    """Turns samples at one rate into samples at another, a piece at a time."""

    def feed(self, samples: Samples) -> Samples:
        """Return what `samples`, of shape (n,), made ready."""

    def finish(self) -> Samples:
        """Return the rest; nothing may be fed afterwards."""


class _Unchanged:
    def feed(self, samples: Samples) -> Samples:
        return samples

    def finish(self) -> Samples:
        return np.zeros(0, np.float32)


class _RateChange:
    """libswresample through PyAV, aligned to the first sample."""

    def __init__(self, input_rate: int, output_rate: int) -> None:
        self._input_rate = input_rate
        self._output_rate = output_rate
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=output_rate)
        self._fed = 0
        self._made = 0

    def feed(self, samples: Samples) -> Samples:
        frame = make_frame(samples, self._input_rate, start=self._fed)
        self._fed += samples.size
        made = self._join(self._resampler.resample(frame))
        self._made += made.size
        return made

    def finish(self) -> Samples:
        """Return the samples up to ceil(fed * output / input), the length that was promised.

        libswresample's own flush gives none for an input shorter than its filter, so silence
        pushes the last samples out.
        """
        wanted = -(-self._fed * self._output_rate // self._input_rate) - self._made
        if not self._fed:
            return self._join([])
        silence = _FILTER_SAMPLES * max(1, -(-self._input_rate // self._output_rate))
        return self.feed(np.zeros(silence, np.float32))[:wanted]

    @staticmethod
    def _join(frames: list[av.AudioFrame]) -> Samples:
        pieces = [frame.to_ndarray().reshape(-1) for frame in frames]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def create_resampler(input_rate: int, output_rate: int) -> Resampler:
    """Return a resampler between two rates in Hz; ceil(n * output / input) samples come of n."""
    if input_rate == output_rate:
        return _Unchanged()
    return _RateChange(input_rate, output_rate)


def make_frame(samples: Samples, sample_rate: int, *, start: int) -> av.AudioFrame:
    """Return a mono float frame of `samples`, which begin at sample `start` of the stream."""
    frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="flt", layout="mono")
    frame.sample_rate = sample_rate
    frame.time_base = Fraction(1, sample_rate)
    frame.pts = start
    return frame
