"""The server as a whole: how it starts, and how it ends without cutting anybody off."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from types import FrameType
from typing import Final

import uvicorn
from litestar import Litestar

from app.server.config import EdgeConfig
from app.server.connections import Connections
from app.server.http import HttpProtocol
from app.server.refusals import read_security_headers
from app.server.websocket import WebSocketProtocol
from app.settings import Settings

BACKSTOP_SECONDS: Final = 2
"""So long a response may take to notice that its connection was cut, before it is cancelled."""


@dataclass(frozen=True, slots=True)
class Drain:
    """What the app does so that the server can stop: `begin` no new work, and tell when it `ended`.

    Requests go on being answered meanwhile, if only with a refusal.
    """

    begin: Callable[[], None]
    ended: Callable[[], Awaitable[None]]


def make_server(app: Litestar, settings: Settings) -> "Server":
    """Make the server of `app`, as create_app made it, to be `run` or `serve`d."""
    config = EdgeConfig(app, settings, http=HttpProtocol, ws=WebSocketProtocol)
    server = Server(config, Drain(partial(_refuse_speeches, app), partial(_finish_speeches, app)))
    app.state.readiness.when_failed = server.stop
    return server


class Server(uvicorn.Server):
    """Uvicorn's, which drains the app before it stops.

    The first signal lets what runs go on for `grace_seconds` and refuses what is new; the second
    one ends at once. Either way it ends in good order, so that the exit status is 0.
    """

    def __init__(self, config: EdgeConfig, drain: Drain) -> None:
        """Be ready to run once."""
        super().__init__(config)
        self._edge: Final = config
        self._drain: Final = drain
        self._draining: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cut_at = 0.0

    @property
    def connections(self) -> Connections:
        """Who is connected."""
        return self._edge.connections

    def stop(self) -> None:
        """Do what the first signal does; on the event loop's thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the app and listen."""
        self._loop = asyncio.get_running_loop()
        self._edge.security_headers = await read_security_headers()
        await super().startup(sockets=sockets)

    async def on_tick(self, counter: int) -> bool:
        """Tell whether to stop listening: once it is asked to stop, and all that ran has ended."""
        if not await super().on_tick(counter):
            return False
        if self._draining is None:
            self._draining = asyncio.create_task(self._wait_for_the_last())
        return self.force_exit or self._draining.done()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, let responses be taken in what is left of the grace, and end the app."""
        loop = asyncio.get_running_loop()
        if self._draining is not None:
            self._draining.cancel()
        left_seconds = 0.0 if self.force_exit else max(0.0, self._cut_at - loop.time())
        cut = loop.call_later(left_seconds, self._cut_connections)
        self.config.timeout_graceful_shutdown = ceil(left_seconds) + BACKSTOP_SECONDS
        await super().shutdown(sockets=sockets)
        cut.cancel()
        if self.force_exit:
            # Uvicorn leaves the app to be cancelled then, which it would log as a failure.
            await self.lifespan.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.should_exit:
            self.force_exit = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._cut_connections)
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take signals, and do not hand them on in the end as uvicorn does: they are obeyed."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    async def _wait_for_the_last(self) -> None:
        grace_seconds = self._edge.settings.grace_seconds
        self._cut_at = asyncio.get_running_loop().time() + grace_seconds
        self._drain.begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await self._drain.ended()

    def _cut_connections(self) -> None:
        """Reset what is still open; each response ends as it does when its client hangs up."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _refuse_speeches(app: Litestar) -> None:
    app.state.readiness.drain()
    if "studio" in app.state:
        app.state.studio.worker.refuse_new()


async def _finish_speeches(app: Litestar) -> None:
    if "studio" in app.state:
        await app.state.studio.worker.wait_until_idle()
