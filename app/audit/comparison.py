"""Compares a sound of any length with its reference while both arrive, a stretch at a time.

A stretch of 16 s of the reference is looked for in what was heard; the lag at which it ends is
where the next one is expected. What is held is one stretch and what may have been inserted in it.
"""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from app.audit.alignment import LagChange
from app.audit.close_look import SURE, look_closely
from app.audit.disturbances import Disturbance
from app.audit.lag_search import LagWindow
from app.audit.sample_buffer import SampleBuffer
from app.audit.seams import Break, Seams
from app.audit.stretch import HOP_SECONDS, WINDOW_SECONDS, Located, Stretch
from app.audit.tally import Tally
from app.speech.engine import Samples

_STRETCH_SECONDS: Final = 16
_LONGEST_INSERTION_SECONDS: Final = 14
_BEFORE_SECONDS: Final = 2
_SETTLED_SECONDS: Final = 1.0
_STEADY_SECONDS: Final = 0.2e-3
_FITTING: Final = 0.5
_FLOOR: Final = 0.05
_PLATEAU_WINDOWS: Final = 5
_REPLACED_WINDOWS: Final = 12
_LOUD: Final = 0.25
_ANCHORS: Final = ((1.0, _FITTING), (WINDOW_SECONDS, 0.8))
_PLACING_SECONDS: Final = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


class Comparison:
    """Follows a reference through what is heard; `breaks` and `disturbances` grow as it goes.

    In seconds: the `delay` before the reference's first sample, None as long as it was not placed;
    what is missing at its start and at its end; and what else of it was `not_found`.
    """

    def __init__(self, reference: Iterator[Samples], rate: int) -> None:
        """Compare with blocks of mono samples at `rate` Hz, which stay the caller's to close."""
        self.breaks = Tally[Break]()
        self.disturbances = Tally[Disturbance]()
        self.inserted_seconds = 0.0
        self.lost_seconds = 0.0
        self.delay_seconds: float | None = None
        self.missing_start_seconds = 0.0
        self.missing_end_seconds = 0.0
        self.not_found_seconds = 0.0
        self._reference = reference
        self._rate = rate
        self._heard = SampleBuffer()
        self._made = SampleBuffer()
        self._seams = Seams(rate)
        self._level = 0.0
        self._border = 0
        self._carried: LagWindow | None = None
        self._missed_from: int | None = None
        self._sounding_from = sys.maxsize
        self._placed = False
        self._done = False

    @property
    def silent(self) -> bool:
        """Whether nothing can be said, since there is no sound in the reference."""
        return self._done and self._sounding_from == sys.maxsize

    @property
    def made_seconds(self) -> float:
        """How long the reference is, as far as it was read."""
        return self._made.end / self._rate

    @property
    def tail_seconds(self) -> float:
        """How much was heard after the reference's last sample."""
        return max(self._heard.end - self._made.end - self._lag, 0) / self._rate

    @property
    def _lag(self) -> int:
        return 0 if self._carried is None else round(self._carried.lag_samples)

    def note_seam(self, number: int, at: int) -> None:
        """Tell that container `number` ended at a sample of what is heard."""
        self._seams.note(number, at)

    def feed(self, heard: Samples) -> None:
        """Take the samples (n,) that were heard next."""
        self._heard.append(heard)
        ahead = (_STRETCH_SECONDS + _LONGEST_INSERTION_SECONDS) * self._rate
        while not self._done and self._heard.end >= self._border + self._lag + ahead:
            self._go_on()
        if self._done:
            self._heard.forget(self._heard.end)

    def finish(self) -> None:
        """Tell that nothing more is heard: what is left of the reference is missing at its end."""
        while not self._done and self._border + self._lag < self._heard.end:
            self._go_on()
        if not self._done and self._missed_from is None:
            self._missed_from = self._border
        while self._read_reference():
            self._made.forget(self._made.end)
        if self._missed_from is not None:
            self.missing_end_seconds = (self._made.end - self._missed_from) / self._rate

    def _read_reference(self) -> bool:
        block = next(self._reference, None)
        if block is not None:
            self._made.append(block)
        return block is not None

    def _go_on(self) -> None:
        """Compare one stretch, and go to where the next one begins."""
        end = self._border + _STRETCH_SECONDS * self._rate
        # A sample more than the stretch tells that it is not the last.
        while self._made.end <= end and self._read_reference():
            pass
        self._done = self._made.end <= end
        stretch = self._cut_stretch(min(end, self._made.end))
        self._level = max(self._level, stretch.level)
        if stretch.level > _FLOOR * self._level:
            self._sounding_from = min(self._sounding_from, stretch.start)
            self._follow(stretch) if self._placed else self._place(stretch)
        else:
            self._pass(stretch)
        # A window that spans the border needs what was heard before it.
        self._made.forget(self._border)
        self._heard.forget(self._border + self._lag - _BEFORE_SECONDS * self._rate)

    def _pass(self, stretch: Stretch) -> None:
        self._border = max(stretch.end - stretch.window, stretch.start + 1)

    def _cut_stretch(self, end: int) -> Stretch:
        first = self._border + self._lag - _BEFORE_SECONDS * self._rate
        return Stretch(
            self._made.cut(self._border, max(end, self._border)),
            self._heard.cut(first, max(self._heard.end, first)),
            made_start=self._border,
            heard_start=first,
            rate=self._rate,
        )

    def _place(self, stretch: Stretch) -> None:
        """Look for the sound further on, in what was made and in what is heard."""
        found = self._carried
        begin = stretch.start if found is None else max(found.start, stretch.start)
        after = None if found is None else begin + self._lag
        # Seams every quarter of a second leave no second in one piece, but a window.
        at_first = found is None and self._missed_from is None
        for size, least in _ANCHORS if at_first else _ANCHORS[:1]:
            for seconds in _PLACING_SECONDS[0 if found is None else 1 :]:
                again = stretch.find_again(
                    begin + round(seconds * self._rate),
                    size_seconds=size,
                    after=after,
                    least_level=_LOUD * self._level,
                )
                if again is not None and again.correlation >= least:
                    self._go_on_from(stretch, again)
                    return
        if self._missed_from is None:
            self._missed_from = begin if found is None else found.start + stretch.window
        self._pass(stretch)

    def _go_on_from(self, stretch: Stretch, again: LagWindow) -> None:
        found = self._carried
        self._placed = True
        if found is None:
            # Windows before it are judged as well, from the lag that it has.
            self._follow(stretch, lag=again.lag_samples)
            return
        if self._missed_from is not None:
            self.not_found_seconds += (again.start - self._missed_from) / self._rate
            self._missed_from = None
        change = LagChange(0, 1, found.lag_samples, again.lag_samples)
        if abs(again.lag_samples - found.lag_samples) >= 1:
            self._add_break(stretch.locate(change, (found, again)))
        self._carried, self._border, self._done = again, again.start, False

    def _follow(self, stretch: Stretch, *, lag: float | None = None) -> None:
        """Take what is certain from the windows of a stretch, and set the next border."""
        leader = lag if self._carried is None else self._carried.lag_samples
        windows = stretch.follow(leader, least_level=_FLOOR * self._level)
        kept = stretch.drop_chance_fits(windows, least=_FITTING)
        settled = _SETTLED_SECONDS * self._rate
        if not windows:
            self._pass(stretch)
        elif not kept:
            self._lose(stretch.start, settled)
        else:
            lost = windows[-1].start - kept[-1].start > settled
            self._note_edges(stretch, kept, last=self._done and not lost)
            until = len(kept) - 1 if lost else self._choose_last(stretch, kept)
            self._note_replaced(windows, kept[: until + 1])
            self._take(stretch, kept, until)
            if lost:
                self._lose(stretch.start, settled)

    def _lose(self, start: int, settled: float) -> None:
        """Look for the sound anew behind the last window that was found."""
        self._placed = self._done = False
        found = start if self._carried is None else self._carried.start
        self._border = max(found, start + round(settled))

    def _choose_last(self, stretch: Stretch, windows: list[LagWindow]) -> int:
        """Choose the last window to take: on a plateau, with some evidence behind it."""
        if self._done:
            return len(windows) - 1
        latest = stretch.end - _SETTLED_SECONDS * self._rate
        early = [i for i, window in enumerate(windows) if window.start <= latest]
        for i in reversed(early):
            around = windows[max(i - _PLATEAU_WINDOWS, 0) : i + _PLATEAU_WINDOWS]
            lags = [window.lag_samples for window in around]
            if max(lags) - min(lags) < _STEADY_SECONDS * self._rate:
                return i
        return early[-1] if early else 0

    def _take(self, stretch: Stretch, windows: list[LagWindow], until: int) -> None:
        """Keep what was found up to a window, and go on behind it."""
        known = [*([self._carried] if self._carried else []), *windows]
        offset = len(known) - len(windows)
        changes = [at for at in stretch.find_changes(known) if at.first_after <= until + offset]
        located = [stretch.locate(change, known) for change in changes]
        for change in located:
            self._add_break(change)
        steady_from = max([0, *(change.first_after for change in changes)])
        recent = known[max(steady_from, until + offset - _PLATEAU_WINDOWS) : until + offset + 1]
        lag = median(window.lag_samples for window in recent)
        self._carried = replace(windows[until], lag_samples=lag)
        border = windows[until].start + round(HOP_SECONDS * self._rate)
        sure = windows[until].correlation > SURE
        end = windows[until].start + (stretch.window if sure else 0)
        for found in look_closely(stretch, known[0], located, end=end, level=self._level):
            self.disturbances.add(found)
        self._border = border
        self._seams.forget(border + self._lag - round(_SETTLED_SECONDS * self._rate))

    def _note_replaced(self, windows: list[LagWindow], kept: list[LagWindow]) -> None:
        """Note where another sound was heard for the time that the reference's own takes."""
        starts = [window.start for window in windows]
        for before, after in pairwise([*([self._carried] if self._carried else []), *kept]):
            loud = bisect_left(starts, after.start) - bisect_right(starts, before.start)
            stays = abs(after.lag_samples - before.lag_samples) < 1
            if stays and loud >= _REPLACED_WINDOWS:
                self.not_found_seconds += loud * HOP_SECONDS

    def _note_edges(self, stretch: Stretch, windows: list[LagWindow], *, last: bool) -> None:
        """Note the delay, and what is missing at the start and at the end."""
        self._missed_from = None
        if self.delay_seconds is None:
            could, heard = stretch.find_heard(windows)
            before = stretch.start - self._sounding_from
            self.delay_seconds = windows[0].lag_samples / self._rate
            self.missing_start_seconds = before / self._rate + max(
                heard.start_seconds - could.start_seconds, 0.0
            )
        if last:
            could, heard = stretch.find_heard(windows)
            self.missing_end_seconds = max(could.end_seconds - heard.end_seconds, 0.0)

    def _add_break(self, change: Located) -> None:
        found = self._seams.name(change)
        self.breaks.add(found)
        self.inserted_seconds += max(found.size_seconds, 0.0)
        self.lost_seconds += max(-found.size_seconds, 0.0)
