"""How many speeches a client may ask for in a minute."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from litestar.connection import ASGIConnection
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.errors import RateLimitedError
from app.web.access import identify
from app.web.token_bucket import take_token

SPEECH_PATHS: Final = ("/v1/audio/speech", "/v1/audio/speech/stream")

WINDOW_SECONDS: Final = 60.0

MOST_CLIENTS: Final = 10_000
"""How many are remembered; the one that was silent for longest is forgotten first."""


class RateLimit:
    """A token bucket for each client.

    Litestar's own limit counts from a fixed beginning, forgets nobody and tells no Retry-After.
    """

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        """Allow `per_minute` speeches at once, and that many a minute in the long run."""
        self._token_seconds: Final = WINDOW_SECONDS / per_minute
        self._now: Final = now
        self._full_at: Final[OrderedDict[str, float]] = OrderedDict()

    @property
    def clients(self) -> int:
        """How many clients are remembered."""
        return len(self._full_at)

    def take(self, client: str) -> None:
        """Count one speech of `client`; raises RateLimitedError, which says when to come again."""
        now = self._now()
        full_at, wait_seconds = take_token(
            self._full_at.get(client, now),
            now,
            token_seconds=self._token_seconds,
            bucket_seconds=WINDOW_SECONDS,
        )
        if wait_seconds > 0:
            raise RateLimitedError(
                "You ask for more speeches in a minute than this server allows.",
                retry_after_seconds=wait_seconds,
            )
        self._full_at[client] = full_at
        self._full_at.move_to_end(client)
        self._forget(now)

    def _forget(self, now: float) -> None:
        """Drop the oldest ones whose buckets are full, and any where there are too many."""
        while True:
            client, full_at = next(iter(self._full_at.items()))
            if full_at > now and self.clients <= MOST_CLIENTS:
                return
            del self._full_at[client]


class RateLimitMiddleware(ASGIMiddleware):
    """Counts each speech before anything else is done for it."""

    def __init__(self, limit: RateLimit) -> None:
        """Count with `limit`."""
        self._limit: Final = limit

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the connection on, or raise RateLimitedError."""
        if scope["path"] in SPEECH_PATHS and scope.get("method") != "OPTIONS":
            self._limit.take(identify(ASGIConnection(scope)).name)
        await next_app(scope, receive, send)
