"""Where sound was inserted, lost or broken: what was heard against what was made.

A window of the reference is looked for in the captured sound by normalised cross-correlation, and
the lag is followed from window to window. Sound that was inserted makes the lag grow, sound that
was lost makes it shrink, whatever the lengths in the headers say. Codec-made silence is not exactly
zero and buffered ranges stay whole across it, so nothing simpler sees a seam.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
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
# Twice what a codec at 64 kbit/s moves the peak of a window of noise.
_MARKED_SECONDS: Final = 0.05e-3
_PLATEAU_WINDOWS: Final = 5


@dataclass(frozen=True, slots=True)
class LagWindow:
    """One window of the reference: its first sample, its lag in samples, and how well it fits."""

    start: int
    lag_samples: float
    correlation: float


@dataclass(frozen=True, slots=True)
class LagStep:
    """A change of lag: where in the reference, and its size, positive where sound was inserted."""

    at_seconds: float
    size_seconds: float


@dataclass(frozen=True, slots=True)
class LagTrack:
    """The lag over the whole reference; windows too quiet to place are left out."""

    rate: int
    windows: tuple[LagWindow, ...]
    steps: tuple[LagStep, ...] = field(default=())

    @property
    def first_lag_seconds(self) -> float:
        """Where in the captured sound the reference's first sample lies."""
        return self.windows[0].lag_samples / self.rate

    @property
    def inserted_seconds(self) -> float:
        """All that was inserted between the first and the last window."""
        return sum(max(step.size_seconds, 0.0) for step in self.steps)

    @property
    def dropped_seconds(self) -> float:
        """All that was lost between the first and the last window."""
        return sum(max(-step.size_seconds, 0.0) for step in self.steps)

    @property
    def spread_seconds(self) -> float:
        """Difference of the largest and the smallest lag: drift too slow for a step shows here."""
        lags = [window.lag_samples for window in self.windows]
        return (max(lags) - min(lags)) / self.rate

    @property
    def minimum_correlation(self) -> float:
        """The fit of the window that fits worst, 1.0 at best."""
        return min(window.correlation for window in self.windows)


def track_lag(  # noqa: PLR0913 - the sounds and the four lengths that the method has
    captured: Samples,
    reference: Samples,
    *,
    rate: int,
    window_seconds: float = 0.08,
    hop_seconds: float = 0.02,
    reach_seconds: float = 0.12,
    step_seconds: float = 0.1e-3,
    floor: float = 0.05,
) -> LagTrack:
    """Follow the lag of `reference` (n,) within `captured` (m,), mono at the same `rate` in Hz.

    Changes of lag up to `reach_seconds` are found at once, larger ones within a few windows; those
    of `step_seconds` or more are reported as steps. Windows whose level is below `floor` times the
    reference's are skipped. Raises ValueError if no window is loud enough.
    """
    size, hop = round(window_seconds * rate), round(hop_seconds * rate)
    starts = _find_loud(reference, size, hop, floor=floor)
    if not starts:
        raise ValueError("the reference is shorter than a window, or silent")
    search = _Search(captured, reference, size, round(reach_seconds * rate), rate)
    windows = search.follow(starts)
    steps = tuple(
        step for step in _find_steps(windows, size, rate) if abs(step.size_seconds) >= step_seconds
    )
    return LagTrack(rate, windows, steps)


def _find_loud(reference: Samples, size: int, hop: int, *, floor: float) -> list[int]:
    energy = np.concatenate(([0.0], np.cumsum(np.square(reference, dtype=np.float64))))
    starts = np.arange(0, len(reference) - size + 1, hop)
    least = floor**2 * energy[-1] * size / max(len(reference), 1)
    return [int(start) for start in starts[energy[starts + size] - energy[starts] > least]]


class _Peaks(NamedTuple):
    """Places where a window fits, as parallel arrays, and the best way to each from the start."""

    lags: _Floats
    correlations: _Floats
    scores: _Floats
    origins: npt.NDArray[np.intp]


class _Search:
    """The search for each window; the best path through all their peaks is the track."""

    def __init__(
        self, captured: Samples, reference: Samples, size: int, reach: int, rate: int
    ) -> None:
        self._reference: Final = reference
        self._captured: Final = captured
        self._size: Final = size
        self._reach: Final = reach
        self._full_jump: Final = _FULL_JUMP_SECONDS * rate
        self._anchor_size: Final = round(_ANCHOR_SECONDS * rate)

    def follow(self, starts: list[int]) -> tuple[LagWindow, ...]:
        """Give each window the lag that it has on the best path (Viterbi's algorithm)."""
        # The anchor fits the larger side of a seam within it, so look widely for the first window.
        leader, reach = self._anchor(starts[0]), _WIDEST * self._reach
        trail: list[_Peaks] = []
        for start in starts:
            peaks = self._reach_peaks(self._find_peaks(start, leader, reach), trail)
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
        span = _cut(self._captured, first, self._size + 2 * reach)
        fits = correlate(self._reference[start : start + self._size], span)
        places, heights = _find_maxima(fits)
        lags = places + (first - start)
        rank = heights - self._price(lags - leader)
        kept = np.argsort(rank)[-_CANDIDATES:]
        return lags[kept], heights[kept]

    def _reach_peaks(self, found: tuple[_Floats, _Floats], trail: list[_Peaks]) -> _Peaks:
        lags, heights = found
        if not trail:
            return _Peaks(lags, heights, heights, np.zeros(len(lags), dtype=np.intp))
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


def _cut(samples: Samples, first: int, length: int) -> Samples:
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


def _find_steps(windows: tuple[LagWindow, ...], size: int, rate: int) -> Iterator[LagStep]:
    """Join neighbouring changes to steps: the windows over a seam creep from one lag to the next.

    A step's size is the difference of the medians before and after, so a lone outlier has none.
    """
    lags = [window.lag_samples for window in windows]
    marked = [i for i in range(1, len(lags)) if abs(lags[i] - lags[i - 1]) > _MARKED_SECONDS * rate]
    groups: list[list[int]] = []
    for i in marked:
        if groups and windows[i].start - windows[groups[-1][-1]].start <= size:
            groups[-1].append(i)
        else:
            groups.append([i])
    edges = [0, *(group[-1] for group in groups)]
    nexts = [*(group[0] for group in groups[1:]), len(lags)]
    for group, earliest, latest in zip(groups, edges, nexts, strict=False):
        before = median(lags[max(earliest, group[0] - _PLATEAU_WINDOWS) : group[0]])
        after = median(lags[group[-1] : min(latest, group[-1] + _PLATEAU_WINDOWS)])
        middle = (windows[group[0] - 1].start + windows[group[-1]].start + size) / 2
        yield LagStep(middle / rate, (after - before) / rate)
