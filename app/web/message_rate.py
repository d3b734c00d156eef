"""How fast a client may send messages: what comes faster waits, and nothing is lost."""

from collections.abc import Callable
from typing import Final

import anyio

from app.web.token_bucket import take_token

BURST_SECONDS: Final = 1.0


class MessageRate:
    """Lets `per_second` messages through, and a second's worth of them at once."""

    def __init__(self, per_second: float, *, now: Callable[[], float] = anyio.current_time) -> None:
        """Begin with nothing sent yet; `now` is a clock in seconds."""
        self._token_seconds: Final = 1 / per_second
        self._now: Final = now
        self._full_at = 0.0

    def delay_seconds(self) -> float:
        """Count one message, and tell how long to wait before the next is read."""
        self._full_at, wait_seconds = take_token(
            self._full_at,
            self._now(),
            token_seconds=self._token_seconds,
            bucket_seconds=BURST_SECONDS,
        )
        return wait_seconds
