"""A WebSocket that is refused before it opens gets the status and body that a request would."""

from typing import Final

import msgspec
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.errors import LegatoError
from app.schemas import ErrorBody
from app.web.problems import describe_error, tell_headers

CLOSED_FOR_POLICY: Final = 1008


async def refuse_socket(scope: Scope, send: Send, error: LegatoError) -> None:
    """Answer the handshake with the error; where the server cannot, it answers 403 by itself."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": CLOSED_FOR_POLICY, "reason": error.message})
        return
    headers = {"Content-Type": "application/json"} | tell_headers(error)
    await send(
        {
            "type": "websocket.http.response.start",
            "status": error.status,
            "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
        }
    )
    body = msgspec.json.encode(ErrorBody(describe_error(error)))
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})


class SocketRefusal(ASGIMiddleware):
    """Tells in HTTP what the middleware within refuses a WebSocket for."""

    scopes = (ScopeType.WEBSOCKET,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the handshake on, or answer it."""
        try:
            await next_app(scope, receive, send)
        except LegatoError as error:
            await refuse_socket(scope, send, error)
