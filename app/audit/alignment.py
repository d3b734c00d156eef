"""Where sound was inserted, lost or broken: what was heard against what was made.

A window of the reference is looked for in the captured sound by normalised cross-correlation, and
the lag is followed from window to window. Sound that was inserted makes the lag grow, sound that
was lost makes it shrink, whatever the lengths in the headers say. Codec-made silence is not exactly
zero and buffered ranges stay whole across it, so nothing simpler sees a seam.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np
import numpy.typing as npt

from app.audit.lag_search import LagSearch, LagWindow

Samples = npt.NDArray[np.float32]

# Twice what a codec at 64 kbit/s moves the peak of a window of noise.
_MARKED_SECONDS: Final = 0.05e-3
_PLATEAU_WINDOWS: Final = 5


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
    level = (
        float(np.sqrt(np.mean(np.square(reference, dtype=np.float64)))) if len(reference) else 0.0
    )
    starts = find_loud(reference, size, hop, least_level=floor * level)
    if not starts:
        raise ValueError("the reference is shorter than a window, or silent")
    search = LagSearch(captured, reference, size, round(reach_seconds * rate), rate)
    windows = search.follow(starts)
    changes = find_changes(windows, size, marked_samples=_MARKED_SECONDS * rate)
    steps = (change.to_step(windows, size, rate) for change in changes)
    kept = tuple(step for step in steps if abs(step.size_seconds) >= step_seconds)
    return LagTrack(rate, windows, kept)


def find_loud(reference: Samples, size: int, hop: int, *, least_level: float) -> list[int]:
    """Return where windows of `size` begin, every `hop` samples, that are louder than a level."""
    energy = np.concatenate(([0.0], np.cumsum(np.square(reference, dtype=np.float64))))
    starts = np.arange(0, len(reference) - size + 1, hop)
    loud = energy[starts + size] - energy[starts] > least_level**2 * size
    return [int(start) for start in starts[loud]]


@dataclass(frozen=True, slots=True)
class LagChange:
    """A change of lag between two windows, and the lags in samples that hold around it."""

    last_before: int
    first_after: int
    lag_before: float
    lag_after: float

    def to_step(self, windows: Sequence[LagWindow], size: int, rate: int) -> LagStep:
        """Place it in the middle of what its two windows span."""
        middle = (windows[self.last_before].start + windows[self.first_after].start + size) / 2
        return LagStep(middle / rate, (self.lag_after - self.lag_before) / rate)


def find_changes(
    windows: Sequence[LagWindow], size: int, *, marked_samples: float
) -> Iterator[LagChange]:
    """Join neighbouring changes to one: the windows over a seam creep from one lag to the next.

    Changes of up to `marked_samples` are none. The lags are the medians before and after, so a lone
    outlier changes nothing.
    """
    lags = [window.lag_samples for window in windows]
    marked = [i for i in range(1, len(lags)) if abs(lags[i] - lags[i - 1]) > marked_samples]
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
        yield LagChange(group[0] - 1, group[-1], before, after)
