"""Runs of digital silence between sounds, found while they go by."""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.audit.tally import Tally
from app.speech.engine import Samples

_SHORTEST_SECONDS: Final = 0.01
_QUIETEST: Final = np.float32(0.5 / 32768)
"""Half a step of 16 bits: what rounds to zero."""

_SEAM_SECONDS: Final = 0.03
_SEAMS_REMEMBERED: Final = 64


@dataclass(frozen=True, slots=True)
class Silence:
    """A run of silence, in seconds; `at_seam` if a container ends in it or within 30 ms of it."""

    start_seconds: float
    length_seconds: float
    at_seam: bool


class SilenceFinder:
    """Finds silences of 10 ms and more in blocks of samples; what leads and trails is none."""

    def __init__(self, rate: int) -> None:
        """Begin at the first sample, at `rate` Hz."""
        self.found = Tally[Silence]()
        self.total_seconds = 0.0
        self.longest_seconds = 0.0
        self._rate = rate
        self._position = 0
        self._sounded_at: int | None = None
        self._seams = deque[int](maxlen=_SEAMS_REMEMBERED)

    def note_seam(self, at: int) -> None:
        """Tell that a container ended at a sample, before what follows it is fed."""
        self._seams.append(at)

    def feed(self, block: Samples) -> None:
        """Take the next samples (n,)."""
        sounding = np.flatnonzero(np.abs(block) >= _QUIETEST) + self._position
        self._position += len(block)
        if not len(sounding):
            return
        if self._sounded_at is not None:
            sounding = np.concatenate(([self._sounded_at], sounding))
        for gap in np.flatnonzero(np.diff(sounding) > _SHORTEST_SECONDS * self._rate):
            self._add(int(sounding[gap]) + 1, int(sounding[gap + 1]))
        self._sounded_at = int(sounding[-1])

    def _add(self, start: int, end: int) -> None:
        around = _SEAM_SECONDS * self._rate
        at_seam = any(start - around <= seam <= end + around for seam in self._seams)
        length = (end - start) / self._rate
        self.total_seconds += length
        self.longest_seconds = max(self.longest_seconds, length)
        self.found.add(Silence(start / self._rate, length, at_seam))
