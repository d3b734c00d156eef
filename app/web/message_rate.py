"""How fast a client may send messages: what comes faster waits, and nothing is lost."""

from collections.abc import Callable
from typing import Final

import anyio

BURST_SECONDS: Final = 1.0


class MessageRate:
    """Lets `per_second` messages through, and a second's worth of them at once.

    The generic cell rate algorithm (ITU-T I.371), with a wait where a cell would be dropped.
    """

    def __init__(self, per_second: float, *, now: Callable[[], float] = anyio.current_time) -> None:
        """Begin with nothing sent yet; `now` is a clock in seconds."""
        self._interval_seconds: Final = 1 / per_second
        self._now: Final = now
        self._due_at = 0.0

    def delay_seconds(self) -> float:
        """Count one message, and tell how long to wait before the next is read."""
        now = self._now()
        self._due_at = max(self._due_at, now) + self._interval_seconds
        return max(0.0, self._due_at - now - BURST_SECONDS)
