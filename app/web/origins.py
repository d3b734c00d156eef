"""Pages of other sites may not spend this server's time, unless the operator lists them."""

from collections.abc import Collection
from typing import Final

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.errors import ForeignOriginError
from app.web.access import Connection, is_from_page, is_open


class OriginGate(ASGIMiddleware):
    """Refuses what a browser says that a foreign page asks for.

    CORS keeps such a page from reading an answer, but not from asking: an <img>, a form or a POST
    of plain text reaches even a server on the loopback, and a WebSocket is not governed by it at
    all. This is the "resource isolation policy" of web.dev's article on fetch metadata.
    """

    scopes = (ScopeType.HTTP, ScopeType.WEBSOCKET)

    def __init__(self, origins: Collection[str]) -> None:
        """Let in pages of `origins`, as CORS does; "*" is any."""
        self._origins: Final = frozenset(origins)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the connection on, or raise ForeignOriginError."""
        connection: Connection = ASGIConnection(scope)
        if not is_open(connection) and self._is_foreign(connection):
            raise ForeignOriginError("Pages of other sites may not call this server.")
        await next_app(scope, receive, send)

    def _is_foreign(self, connection: Connection) -> bool:
        origin = connection.headers.get("origin")
        if is_from_page(connection) or self._origins & {origin, "*"}:
            return False
        site = connection.headers.get("sec-fetch-site")
        if site is None:
            # An old browser, or an insecure origin: HTTP is left to CORS there.
            return connection.scope["type"] == ScopeType.WEBSOCKET and origin is not None
        # A link may lead here from anywhere; "none" is what a person typed.
        return site != "none" and connection.headers.get("sec-fetch-mode") != "navigate"
