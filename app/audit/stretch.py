"""One stretch of a long comparison: a piece of what was made and where to look for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

import numpy as np

from app.audit.alignment import LagChange, LagTrack, find_changes, find_loud
from app.audit.gaps import Span, find_heard
from app.audit.lag_search import LagSearch, LagWindow, correlate
from app.speech.engine import Samples

WINDOW_SECONDS: Final = 0.08
HOP_SECONDS: Final = 0.02
_REACH_SECONDS: Final = 0.12
# Twice what a codec at 64 kbit/s moves the peak of a window of noise.
_MARKED_SECONDS: Final = 0.05e-3
_LEAST_SECONDS: Final = 0.1e-3
_STEADY_SAMPLES: Final = 0.02
_SLIGHT_SAMPLES: Final = 0.5
_LEAST_RUN: Final = 4


@dataclass(frozen=True, slots=True)
class Located:
    """A change of lag, in samples: the last one that was made before it, and the lags around it.

    What was heard of the windows around it reaches from `earliest` to `latest`: in a pause it can
    lie anywhere within.
    """

    made_at: int
    lag_before: int
    lag_after: int
    size: float
    earliest: int
    latest: int

    @property
    def heard_at(self) -> int:
        """Where the sound breaks off."""
        return self.made_at + self.lag_before

    @property
    def resumed_at(self) -> int:
        """The first sample made that is heard again."""
        return self.made_at + max(self.lag_before - self.lag_after, 0)


class Stretch:
    """Samples that were made and heard, each beginning at its place in the whole sound."""

    def __init__(
        self, made: Samples, heard: Samples, *, made_start: int, heard_start: int, rate: int
    ) -> None:
        """Look for all of `made` (n,) in `heard` (m,), both at `rate` Hz."""
        self.made = made
        self.heard = heard
        self.start = made_start
        self.end = made_start + len(made)
        self.window = round(WINDOW_SECONDS * rate)
        self._shift = heard_start - made_start
        self.rate = rate

    def follow(self, lag: float | None, *, least_level: float) -> list[LagWindow]:
        """Place each window louder than a level; the first lies at `lag`, or anywhere for None."""
        hop = round(HOP_SECONDS * self.rate)
        starts = find_loud(self.made, self.window, hop, least_level=least_level)
        if not starts:
            return []
        reach = round(_REACH_SECONDS * self.rate)
        search = LagSearch(self.heard, self.made, self.window, reach, self.rate)
        leader = None if lag is None else lag - self._shift
        return [
            LagWindow(self.start + at.start, at.lag_samples + self._shift, at.correlation)
            for at in search.follow(starts, leader=leader)
        ]

    @property
    def level(self) -> float:
        """The effective level of what was made."""
        return _measure_level(self.made)

    def find_again(
        self, start: int, *, size_seconds: float, after: int | None, least_level: float
    ) -> LagWindow | None:
        """Look for what was made from `start` on, anywhere `after` a sample that was heard.

        None where it is quieter than a level, or not in the stretch.
        """
        first = start - self.start
        template = self.made[first : first + round(size_seconds * self.rate)]
        if len(template) < self.window or _measure_level(template) < least_level:
            return None
        skipped = 0 if after is None else max(after - self.start - self._shift, 0)
        around = 0 if skipped else len(template)
        fits = correlate(template, np.pad(self.heard[skipped:], (around, len(template))))
        best = int(np.argmax(fits))
        lag = float(best - around + skipped - first + self._shift)
        return LagWindow(start, lag, float(fits[best]))

    def drop_chance_fits(self, windows: list[LagWindow], *, least: float) -> list[LagWindow]:
        """Leave out windows that do not fit, and the few in a row that do far from all others.

        A window of voiced speech fits elsewhere by chance, and so it does where the sound is not.
        No sum of changes is touched by what is left out.
        """
        runs = _join_runs(
            [window for window in windows if window.correlation >= least],
            furthest=_REACH_SECONDS * self.rate,
        )
        kept: list[LagWindow] = []
        for run in runs:
            follows = _place(run[0]) >= (_place(kept[-1]) - self.window if kept else -self.window)
            if len(run) >= _LEAST_RUN and follows:
                kept.extend(run)
        return kept

    def locate(self, change: LagChange, windows: Sequence[LagWindow]) -> Located:
        """Find the sample at which one lag explains what is heard no longer, and the other does."""
        first = windows[change.last_before].start
        last = min(windows[change.first_after].start + self.window, self.end)
        before, after = round(change.lag_before), round(change.lag_after)
        lost = max(before - after, 0)
        first = max(first, self.start)
        # The cost of each place to break off: what it leaves unexplained on both sides.
        left = np.concatenate(([0.0], np.cumsum(self._measure_error(first, last, before))))
        right = np.concatenate(([0.0], np.cumsum(self._measure_error(first, last, after))))
        resumed = np.minimum(np.arange(len(left)) + lost, len(left) - 1)
        at = first + int(np.argmin(left + right[-1] - right[resumed]))
        size = change.lag_after - change.lag_before
        return Located(at, before, after, size, first + before, last + after)

    def _measure_error(self, first: int, last: int, lag: int) -> Samples:
        error: Samples = np.square(
            self.made[first - self.start : last - self.start] - self.cut_heard(first, last, lag)
        )
        return error

    def cut_heard(self, first: int, last: int, lag: int) -> Samples:
        """Return what is heard of the samples from `first` to `last`, silence where nothing is."""
        begin, end = first + lag - self.start - self._shift, last + lag - self.start - self._shift
        held = self.heard[max(begin, 0) : max(end, 0)]
        before = min(max(-begin, 0), last - first)
        return np.pad(held, (before, last - first - before - len(held)))

    def find_changes(self, windows: Sequence[LagWindow]) -> Iterator[LagChange]:
        """Find changes of lag: of half a sample where the lag is steady, else of 0.1 ms."""
        lags = [window.lag_samples for window in windows]
        moves = [abs(after - before) for before, after in pairwise(lags)]
        steady = bool(moves) and median(moves) < _STEADY_SAMPLES
        marked = _SLIGHT_SAMPLES / 2 if steady else _MARKED_SECONDS * self.rate
        least = _SLIGHT_SAMPLES if steady else _LEAST_SECONDS * self.rate
        for change in find_changes(windows, self.window, marked_samples=marked):
            if abs(change.lag_after - change.lag_before) >= least:
                yield change

    def find_heard(self, windows: Sequence[LagWindow]) -> tuple[Span, Span]:
        """Return what of the stretch could be heard, and what was, in seconds from its start."""
        local = tuple(
            LagWindow(at.start - self.start, at.lag_samples - self._shift, at.correlation)
            for at in windows
            if at.start >= self.start
        )
        whole = LagTrack(self.rate, (LagWindow(0, 0.0, 1.0),))
        return (
            find_heard(self.made, self.made, whole),
            find_heard(self.heard, self.made, LagTrack(self.rate, local)),
        )


def _measure_level(samples: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0


def _place(window: LagWindow) -> float:
    return window.start + window.lag_samples


def _join_runs(windows: list[LagWindow], *, furthest: float) -> list[list[LagWindow]]:
    """Part windows where the lag changes by more than `furthest` samples at once."""
    runs: list[list[LagWindow]] = []
    for window in windows:
        if runs and abs(window.lag_samples - runs[-1][-1].lag_samples) <= furthest:
            runs[-1].append(window)
        else:
            runs.append([window])
    return runs
