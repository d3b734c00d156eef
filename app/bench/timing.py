"""Timing two ways of doing a thing in turns, so that a noisy machine is noisy for both."""

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5
"""How often each is run."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours over theirs; `bound` is the most that the project allows, None where it sets none."""

    name: str
    ours_seconds: float
    theirs_seconds: float
    bound: float | None = None

    @property
    def value(self) -> float:
        """Ours in units of theirs: smaller is better."""
        return self.ours_seconds / self.theirs_seconds


def time_in_turns(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    """Run both in turns and give the best seconds of each; each tells its own seconds.

    The best of a few runs is the one that the rest of the machine disturbed least.
    """
    pairs = [(ours(), theirs()) for _ in range(ROUNDS)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def clock(action: Callable[[], object]) -> Callable[[], float]:
    """Make a function that runs `action` and tells how many seconds it took."""

    def timed() -> float:
        started = time.perf_counter()
        action()
        return time.perf_counter() - started

    return timed
