"""The real server, as `python -m app serve` runs it, in a thread of the tests' own process."""

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from litestar import Litestar

from app.server.serve import Server, make_server

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs, and its event loop."""

    app: Litestar
    server: Server
    port: int
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run something on the server's event loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=60)


@contextmanager
def serving(app: Litestar) -> Iterator[str]:
    """Serve `app` on a free loopback port; gives its address, "http://host:port".

    Its voices are loaded by then.
    """
    with running(app) as served:
        yield served.url


@contextmanager
def running(app: Litestar, *, grace_seconds: float = 1.0) -> Iterator[Served]:
    """Serve `app` on a free loopback port, with its own settings but for the grace."""
    settings = msgspec.structs.replace(app.state.settings, grace_seconds=grace_seconds)
    server = make_server(app, settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        begun = _Begun()
        thread = threading.Thread(
            target=lambda: asyncio.run(_serve(app, server, listener, begun)), name="uvicorn"
        )
        thread.start()
        try:
            yield Served(app, server, listener.getsockname()[1], begun.wait(), thread)
        finally:
            server.should_exit = True
            thread.join()


class _Begun:
    """Tells the thread that waits, however the start went."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def tell(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._told.set()

    def wait(self) -> asyncio.AbstractEventLoop:
        if not self._told.wait(timeout=120) or self._loop is None:
            raise RuntimeError("the server did not start; its log says why")
        return self._loop


async def _serve(app: Litestar, server: Server, listener: socket.socket, begun: _Begun) -> None:
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    settle = asyncio.create_task(app.state.readiness.settle())
    try:
        await asyncio.wait([serve, settle], return_when=asyncio.FIRST_COMPLETED)
        ready = settle.done() and settle.exception() is None
        begun.tell(asyncio.get_running_loop() if ready else None)
        await serve
    finally:
        settle.cancel()
        begun.tell(None)
