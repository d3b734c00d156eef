"""Drives an ASGI app in this process, message by message, as a server with one client would."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import anyio
from litestar import Litestar
from litestar.types import HTTPScope, Message

WAIT_SECONDS = 20


@asynccontextmanager
async def living(app: Litestar) -> AsyncGenerator[Litestar]:
    """Run the app's lifespan around a test, which begins once the voices are loaded."""
    async with app.lifespan():
        with anyio.fail_after(WAIT_SECONDS):
            await app.state.readiness.settle()
            yield app


@dataclass
class Reply:
    """What came back: `complete` tells a body that was ended from one that was aborted."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] = field(default_factory=list)
    complete: bool = False
    failure: BaseException | None = None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)["error"]
        return error


class Client:
    """One request; `on_piece` sees each piece as it is sent, and `hang_up` may be set any time.

    With `socket_full`, the first piece is never sent off, and the client hangs up meanwhile.
    """

    def __init__(
        self,
        app: Litestar,
        on_piece: Callable[[Reply], None] | None = None,
        *,
        socket_full: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.app = app
        self.on_piece = on_piece
        self.socket_full = socket_full
        self.hang_up = anyio.Event()
        self.reply = Reply()
        self._headers = {"Host": "test", **(headers or {})}
        self._bodies = [b""]

    async def get(self, url: str) -> Reply:
        return await self.request("GET", url, b"")

    async def post(self, url: str, body: object) -> Reply:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.request("POST", url, payload)

    async def request(self, method: str, url: str, body: bytes = b"") -> Reply:
        self._bodies = [body]
        try:
            await self.app(self._scope(method, url, body), self._receive, self._send)
        except Exception as failure:  # noqa: BLE001 - a server would abort the connection here
            self.reply.failure = failure
        return self.reply

    def _scope(self, method: str, url: str, body: bytes) -> HTTPScope:
        parts = urlsplit(url)
        headers = [(k.lower().encode(), v.encode()) for k, v in self._headers.items()]
        headers.append((b"content-length", str(len(body)).encode()))
        if body:
            headers.append((b"content-type", b"application/json"))
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
            "extensions": {},
        }
        return scope  # type: ignore[return-value] # Litestar adds its own keys to the scope

    async def _receive(self) -> Any:  # noqa: ANN401 - any ASGI message
        if self._bodies:
            return {"type": "http.request", "body": self._bodies.pop(), "more_body": False}
        await self.hang_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.reply.status = message["status"]
            self.reply.headers = {
                name.decode().lower(): value.decode() for name, value in message["headers"]
            }
        elif message["type"] == "http.response.body":
            if piece := message["body"]:
                self.reply.pieces.append(piece)
                if self.socket_full:
                    self.hang_up.set()
                    await anyio.sleep_forever()
                if self.on_piece is not None:
                    self.on_piece(self.reply)
            if not message["more_body"]:
                self.reply.complete = True
                self.hang_up.set()
