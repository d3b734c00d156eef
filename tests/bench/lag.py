"""How long an event loop keeps what is due waiting, and the most memory seen meanwhile."""

import asyncio
import ctypes
from itertools import count
from time import perf_counter
from typing import Final

import numpy as np
import psutil  # type: ignore[import-untyped]  # it has no stubs of its own

INTERVAL_SECONDS: Final = 0.005
MEMORY_TURNS: Final = 8
"""Memory is measured every so many turns."""
PERCENTILES: Final = (50, 99, 99.9, 100)


def measure_memory() -> int:
    """Give the resident bytes of this process."""
    return int(psutil.Process().memory_info().rss)


def trim_memory() -> None:
    """Give back what is free, where the C library can: else the next one's growth is hidden."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


class LagMeter:
    """Asks to be woken every few milliseconds, and notes how late that happens."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was measured."""
        self._lags: list[float] = []
        self.peak_memory = measure_memory()

    async def run(self) -> None:
        """Measure until cancelled."""
        for turn in count():
            due = perf_counter() + INTERVAL_SECONDS
            await asyncio.sleep(INTERVAL_SECONDS)
            self._note(perf_counter() - due)
            if turn % MEMORY_TURNS == 0:
                self.peak_memory = max(self.peak_memory, measure_memory())

    def take_percentiles(self) -> dict[str, float]:
        """Give the percentiles in seconds."""
        lags = self._lags or [0.0]
        return {str(q): float(np.percentile(lags, q)) for q in PERCENTILES}

    def _note(self, lag: float) -> None:
        # Those that would have been woken during a long lag were late too: without them it counts
        # for no more than a short one.
        while lag > -INTERVAL_SECONDS:
            self._lags.append(max(0.0, lag))
            lag -= INTERVAL_SECONDS
