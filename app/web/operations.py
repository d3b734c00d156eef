"""What an operator's machinery asks: does it live, and does it take speeches."""

import asyncio
from collections.abc import Callable
from typing import Final, Literal

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from app.errors import LegatoError, NotReadyError, OverloadedError, ShuttingDownError

State = Literal["loading", "ready", "failed", "draining", "full"]

LOADING_SECONDS: Final = 5.0
"""When to ask again while the voices are loaded: about what the embedded one takes."""


class Status(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of GET /livez and /readyz; the reason is told where it is not ready."""

    status: State | Literal["alive"]
    reason: str | None = None


class Readiness:
    """Whether new speeches are welcome: not before the voices are loaded, nor once it stops."""

    def __init__(self) -> None:
        """Begin as loading."""
        self.failure: Exception | None = None
        self.when_failed: Callable[[], None] = lambda: None
        self._phase: State = "loading"
        self._is_full: Callable[[], bool] = lambda: False
        self._loaded: Final = asyncio.Event()

    @property
    def state(self) -> State:
        """What it is just now."""
        return "full" if self._phase == "ready" and self._is_full() else self._phase

    def open(self, is_full: Callable[[], bool]) -> None:
        """Welcome speeches, as long as not `is_full()`; all is loaded."""
        self._is_full = is_full
        self._move("ready")

    def fail(self, failure: Exception) -> None:
        """Give up: loading ended in `failure`. Calls `when_failed`, which ends the server."""
        if self._phase != "draining":
            self.failure = failure
            self._move("failed")
            self.when_failed()

    def drain(self) -> None:
        """Welcome no more speeches; those that run may end."""
        self._move("draining")

    async def settle(self) -> None:
        """Wait until loading is over; raises what it failed with."""
        await self._loaded.wait()
        if self.failure is not None:
            raise self.failure

    def refusal(self) -> LegatoError | None:
        """Give the error that a speech would be refused with now, or None where it is welcome."""
        match self.state:
            case "ready":
                return None
            case "full":
                return OverloadedError("The queue is full.")
            case "draining":
                return ShuttingDownError("The server is shutting down.")
            case "failed":
                return NotReadyError("The voices could not be loaded.")
            case "loading":
                return NotReadyError(
                    "The voices are being loaded; try again in a moment.",
                    retry_after_seconds=LOADING_SECONDS,
                )

    def _move(self, phase: State) -> None:
        # What stops never becomes ready, whenever the loading thread is done.
        if self._phase != "draining":
            self._phase = phase
        self._loaded.set()


@get("/livez", sync_to_thread=False, tags=["operations"], summary="Whether the server turns")
def tell_life() -> Status:
    """Answer as long as the event loop turns, whatever else is the matter."""
    return Status(status="alive")


@get("/readyz", sync_to_thread=False, tags=["operations"], summary="Whether speeches are welcome")
def tell_readiness(readiness: NamedDependency[Readiness]) -> Response[Status]:
    """Answer 200 where a new speech would begin or wait its turn, else 503 with the reason."""
    refusal = readiness.refusal()
    if refusal is None:
        return Response(Status(status=readiness.state))
    return Response(Status(status=readiness.state, reason=refusal.message), status_code=503)
