"""Security headers on every response, errors and static files included."""

from typing import Final

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    # MediaSource plays from a blob: URL.
    "media-src": "'self' blob:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}

_HEADERS: Final = {
    "Content-Security-Policy": "; ".join(" ".join(rule) for rule in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


async def add_security_headers(message: Message, _: Scope) -> None:
    """Add the headers as a response starts: a `before_send` hook."""
    if (
        message["type"] == "http.response.start"
        or message["type"] == "websocket.http.response.start"
    ):
        message.setdefault("headers", [])
        headers = MutableScopeHeaders(message)
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
