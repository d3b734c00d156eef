"""Where windows of one sound lie in another: the best path through the places where each fits."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from app.speech.engine import Samples

_Floats = npt.NDArray[np.float64]

# A change of lag costs as much as half a window's correlation, from one millisecond up: a period of
# voiced speech that fits by chance for one window never pays for the way there and back.
_JUMP_COST: Final = 0.5
_FULL_JUMP_SECONDS: Final = 1e-3
_CANDIDATES: Final = 12
# Unrelated windows fit by up to about 0.3; the search widens until one fits better, to 16 times.
_LOST_BELOW: Final = 0.4
_WIDEST: Final = 16
_ANCHOR_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class LagWindow:
    """One window of the reference: its first sample, its lag in samples, and how well it fits."""

    start: int
    lag_samples: float
    correlation: float


class _Peaks(NamedTuple):
    """Places where a window fits, as parallel arrays, and the best way to each from the start."""

    lags: _Floats
    correlations: _Floats
    scores: _Floats
    origins: npt.NDArray[np.intp]


class LagSearch:
    """The search for each window; the best path through all their peaks is the track."""

    def __init__(
        self, captured: Samples, reference: Samples, size: int, reach: int, rate: int
    ) -> None:
        """Look for windows of `size` samples of `reference` (n,) in `captured` (m,), at one rate.

        They lie up to `reach` samples from where the one before lay, or further when it was lost.
        """
        self._reference: Final = reference
        self._captured: Final = captured
        self._size: Final = size
        self._reach: Final = reach
        self._full_jump: Final = _FULL_JUMP_SECONDS * rate
        self._anchor_size: Final = round(_ANCHOR_SECONDS * rate)

    def follow(self, starts: list[int], *, leader: float | None = None) -> tuple[LagWindow, ...]:
        """Give each window the lag that it has on the best path (Viterbi's algorithm).

        `leader` is the lag of the first one in samples; without it, it is looked for everywhere.
        """
        reach, origin = self._reach, leader
        if leader is None:
            # The anchor fits the larger side of a seam within it, so look widely around it.
            leader, reach = self._anchor(starts[0]), _WIDEST * self._reach
        trail: list[_Peaks] = []
        for start in starts:
            found = self._find_peaks(start, leader, reach)
            peaks = self._reach_peaks(found, trail) if trail else self._set_out(found, origin)
            trail.append(peaks)
            best = int(np.argmax(peaks.scores))
            leader = float(peaks.lags[best])
            lost = peaks.correlations[best] < _LOST_BELOW
            reach = min(2 * reach, _WIDEST * self._reach) if lost else self._reach
        return tuple(_walk_back(starts, trail))

    def _anchor(self, start: int) -> float:
        template = self._reference[start : start + self._anchor_size]
        before = len(template)
        padded = np.pad(self._captured, (before, before))
        return float(np.argmax(correlate(template, padded)) - before - start)

    def _find_peaks(self, start: int, leader: float, reach: int) -> tuple[_Floats, _Floats]:
        first = start + round(leader) - reach
        span = cut(self._captured, first, self._size + 2 * reach)
        fits = correlate(self._reference[start : start + self._size], span)
        places, heights = _find_maxima(fits)
        lags = places + (first - start)
        rank = heights - self._price(lags - leader)
        kept = np.argsort(rank)[-_CANDIDATES:]
        return lags[kept], heights[kept]

    def _set_out(self, found: tuple[_Floats, _Floats], origin: float | None) -> _Peaks:
        lags, heights = found
        scores = heights if origin is None else heights - self._price(lags - origin)
        return _Peaks(lags, heights, scores, np.zeros(len(lags), dtype=np.intp))

    def _reach_peaks(self, found: tuple[_Floats, _Floats], trail: list[_Peaks]) -> _Peaks:
        lags, heights = found
        before = trail[-1]
        ways = before.scores[:, None] - self._price(before.lags[:, None] - lags[None, :])
        origins = np.argmax(ways, axis=0)
        return _Peaks(lags, heights, heights + np.max(ways, axis=0), origins)

    def _price(self, changes: _Floats) -> _Floats:
        return _JUMP_COST * np.minimum(np.abs(changes) / self._full_jump, 1.0)


def correlate(template: Samples, span: Samples) -> _Floats:
    """Fit `template` (n,) at every place of `span` (m,): m - n + 1 values from -1 to 1.

    Places with less than a hundredth of the template's energy are held to that level, so that
    faint noise never fits well.
    """
    length = _round_up(len(span))
    product = np.fft.rfft(span, length) * np.conj(np.fft.rfft(template, length))
    raw = np.fft.irfft(product, length)[: len(span) - len(template) + 1]
    energy = np.concatenate(([0.0], np.cumsum(np.square(span, dtype=np.float64))))
    local = energy[len(template) :] - energy[: len(energy) - len(template)]
    own = float(np.sum(np.square(template, dtype=np.float64)))
    fits: _Floats = raw / np.sqrt(own * np.maximum(local, 0.01 * own))
    return fits


def _round_up(length: int) -> int:
    """Give the next length with small factors, for which the transform is fast."""
    power = 1 << max(length - 1, 1).bit_length()
    return min(size for size in (power, power * 3 // 4, power * 9 // 16) if size >= length)


def cut(samples: Samples, first: int, length: int) -> Samples:
    """Take `length` samples from `first` on, with silence where there are none."""
    inside = samples[max(first, 0) : max(first + length, 0)]
    before = min(max(-first, 0), length)
    return np.pad(inside, (before, length - before - len(inside)))


def _find_maxima(fits: _Floats) -> tuple[_Floats, _Floats]:
    """Find local maxima to a fraction of a sample, by the parabola through three points."""
    middle = fits[1:-1]
    tops = np.flatnonzero((middle > fits[:-2]) & (middle >= fits[2:])) + 1
    if not len(tops):
        tops = np.array([len(fits) // 2])
    before, here, after = fits[tops - 1], fits[tops], fits[tops + 1]
    bend = np.minimum(before - 2 * here + after, -1e-12)
    offsets = np.clip((before - after) / (2 * bend), -0.5, 0.5)
    return tops + offsets, here - (before - after) * offsets / 4


def _walk_back(starts: list[int], trail: list[_Peaks]) -> list[LagWindow]:
    at = int(np.argmax(trail[-1].scores))
    windows = []
    for start, peaks in zip(reversed(starts), reversed(trail), strict=True):
        windows.append(LagWindow(start, float(peaks.lags[at]), float(peaks.correlations[at])))
        at = int(peaks.origins[at])
    return windows[::-1]
