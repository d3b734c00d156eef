"""A moment by which something must have happened."""

import logging
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable
from typing import Final

_LOG: Final = logging.getLogger(__name__)


class Deadline:
    """A timer of the event loop that can be started, started anew and stopped."""

    __slots__ = ("_loop", "_seconds", "_timer")

    def __init__(self, loop: AbstractEventLoop, seconds: float) -> None:
        """Wait for nothing yet; each start will last `seconds`."""
        self._loop: Final = loop
        self._seconds: Final = seconds
        self._timer: TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is neither stopped nor past."""
        return self._timer is not None

    def start(self, expire: Callable[[], object]) -> None:
        """Begin anew; `expire` is called in the end, unless it is stopped before."""
        self.stop()
        # The callback is kept by the timer alone, so that no owner is part of a cycle for good.
        self._timer = self._loop.call_later(self._seconds, self._expire, expire)

    def stop(self) -> None:
        """Wait no more; harmless where nothing is awaited."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def start_cut(self, transport: Transport) -> None:
        """Begin anew the time in which the client must take something; in the end it is cut off."""

        def cut() -> None:
            _LOG.info("Cut a client that took nothing for %g s.", self._seconds)
            transport.abort()

        self.start(cut)

    def _expire(self, expire: Callable[[], object]) -> None:
        self._timer = None
        expire()
