"""Looks for dips and clicks along a stretch, wherever it is certain which sample is which."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from app.audit.disturbances import Disturbance, find_disturbances
from app.audit.lag_search import LagWindow
from app.audit.stretch import Located, Stretch

SURE: Final = 0.8
"""From this correlation on all of a window is taken to be the sound that was made."""

_UNSETTLED_SECONDS: Final = 0.06
"""What an encoder's delay and padding disturb on each side of a break."""


def look_closely(
    stretch: Stretch, first: LagWindow, located: Sequence[Located], *, end: int, level: float
) -> Iterator[Disturbance]:
    """Find disturbances from a window on to the sample `end` that was made.

    `located` are the changes of lag on the way, and `level` is the effective level of the whole
    reference. The disturbances are placed in the whole of what was heard.
    """
    guard = round(_UNSETTLED_SECONDS * stretch.rate)
    unsure = 0 if first.correlation > SURE else stretch.window
    begin, lag = max(first.start + unsure, stretch.start), round(first.lag_samples)
    for change in located:
        yield from _look_at(stretch, begin, change.made_at - guard, lag=lag, level=level)
        begin, lag = change.resumed_at + guard, change.lag_after
    yield from _look_at(stretch, begin, min(end, stretch.end), lag=lag, level=level)


def _look_at(
    stretch: Stretch, begin: int, end: int, *, lag: int, level: float
) -> Iterator[Disturbance]:
    if end <= begin:
        return
    made = stretch.made[begin - stretch.start : end - stretch.start]
    found = stretch.cut_heard(begin, end, lag)
    for at in find_disturbances(found, made, rate=stretch.rate, level=level):
        yield replace(at, start_seconds=at.start_seconds + (begin + lag) / stretch.rate)
