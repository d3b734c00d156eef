"""The real server, on a real socket, in a thread of the tests' own process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from litestar import Litestar

from app.web.operations import Readiness


@contextmanager
def serving(app: Litestar) -> Iterator[str]:
    """Serve `app` with uvicorn on a free loopback port; gives its address, "http://host:port".

    Its voices are loaded by then.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        started = threading.Event()
        server = _Announcing(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1),
            app.state.readiness,
            started,
        )
        thread = threading.Thread(
            target=lambda: asyncio.run(server.serve(sockets=[listener])), name="uvicorn"
        )
        thread.start()
        try:
            if not started.wait(timeout=120) or not server.ready:
                raise RuntimeError("the server did not start; its log says why")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class _Announcing(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        readiness: Readiness,
        ready_or_failed: threading.Event,
    ) -> None:
        super().__init__(config)
        self.ready = False
        self._readiness = readiness
        self._ready_or_failed = ready_or_failed

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the thread that waits, however the start went."""
        try:
            await super().startup(sockets=sockets)
            await self._readiness.settle()
            self.ready = True
        finally:
            self._ready_or_failed.set()
