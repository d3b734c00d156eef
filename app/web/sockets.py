"""A WebSocket that is refused before it opens gets the status and body that a request would."""

from collections.abc import Collection
from typing import Any, Final

import msgspec
from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.errors import ForeignOriginError, LegatoError
from app.schemas import ErrorBody
from app.web.access import is_from_page
from app.web.problems import describe_error, tell_headers

CLOSED_FOR_POLICY: Final = 1008


async def refuse_socket(scope: Scope, send: Send, error: LegatoError) -> None:
    """Answer the handshake with the error; where the server cannot, it answers 403 by itself."""
    sending: Any = send  # Litestar's messages lack ASGI's extension for this
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await sending(
            {"type": "websocket.close", "code": CLOSED_FOR_POLICY, "reason": error.message}
        )
        return
    headers = {"Content-Type": "application/json"} | tell_headers(error)
    await sending(
        {
            "type": "websocket.http.response.start",
            "status": error.status,
            "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
        }
    )
    body = msgspec.json.encode(ErrorBody(describe_error(error)))
    await sending({"type": "websocket.http.response.body", "body": body})


class SocketGate(ASGIMiddleware):
    """Keeps other sites' pages out, and tells in HTTP whatever those within refuse a socket for.

    CORS does not govern WebSockets: a browser opens one to anywhere and only says from where.
    """

    scopes = (ScopeType.WEBSOCKET,)

    def __init__(self, origins: Collection[str]) -> None:
        """Let in pages of `origins`, as CORS does, besides our own; programs send no origin."""
        self._origins: Final = frozenset(origins)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the handshake on, or answer it."""
        try:
            self._check_origin(ASGIConnection(scope))
            await next_app(scope, receive, send)
        except LegatoError as error:
            await refuse_socket(scope, send, error)

    def _check_origin(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        origin = connection.headers.get("origin")
        if origin is None or is_from_page(connection) or self._origins & {origin, "*"}:
            return
        raise ForeignOriginError(f"Pages of {origin} may not call this server.")
