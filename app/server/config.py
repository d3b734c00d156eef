"""Uvicorn's configuration, as the settings want it, with what our protocols need to know."""

import asyncio
from typing import Any, Final

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.errors import LegatoError
from app.server.connections import Connections
from app.server.refusals import Header, write_refusal
from app.settings import Settings

MAX_HEAD_BYTES: Final = 65_536
"""The longest request line with headers that is read: OpenAI's 4,096 characters of text take up to
49,152 bytes in a query."""
BACKLOG: Final = 256
"""Connections that the kernel holds for us; one more waits a second for its next try. Asyncio takes
as many in one go, which holds all else up for 20 ms (measured with 250 that came at once)."""
PING_SECONDS: Final = 20.0
"""A WebSocket's client is asked so often whether it is there, and has as long to answer."""


class EdgeConfig(uvicorn.Config):
    """What is configured, and what is known of all connections."""

    def __init__(
        self,
        app: Any,  # noqa: ANN401 - uvicorn's and Litestar's types for an ASGI app differ
        settings: Settings,
        *,
        http: type[asyncio.Protocol],
        ws: type[asyncio.Protocol],
    ) -> None:
        """Serve `app` by the two protocols; X-Forwarded-For is believed of proxies only."""
        proxied = ProxyHeadersMiddleware(app, trusted_hosts=list(settings.trusted_proxies))
        super().__init__(
            proxied,
            host=settings.host,
            port=settings.port,
            loop="asyncio",
            http=http,
            ws=ws,
            ws_max_size=settings.max_message_bytes,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=PING_SECONDS,
            # 300 bytes can be 64 KiB of zeros, and what we send is text of a few words or audio.
            ws_per_message_deflate=False,
            log_config=None,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self.settings: Final = settings
        self.connections: Final = Connections(
            most=settings.max_connections,
            most_per_client=settings.max_connections_per_client,
            is_proxy=proxied.trusted_hosts.__contains__,
        )
        self.security_headers: list[Header] = []

    def write_refusal(self, error: LegatoError) -> bytes:
        """Write a whole response that tells the error."""
        return write_refusal(error, self.security_headers)
