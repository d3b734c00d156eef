"""A WebSocket on one connection: uvicorn's, with what else a client could do to it bounded."""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode, Frame

from app.errors import HeadTooLargeError, LegatoError, MalformedRequestError
from app.server.config import EdgeConfig
from app.server.deadline import Deadline

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

MAX_FRAGMENTS: Final = 256
"""Frames of one message: empty ones count for nothing in its size."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Serves one WebSocket, on a connection that HttpProtocol let in."""

    def __init__(
        self,
        config: EdgeConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Be ready for the connection."""
        super().__init__(config, server_state, app_state, _loop)
        self._edge: Final = config
        self._stall: Final = Deadline(self.loop, config.settings.stall_seconds)
        self._owed_pong = b""

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back, however the connection ended."""
        self._edge.connections.leave(self.transport)
        self._stall.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the first call brings the whole request."""
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(self._edge.write_refusal(self._explain_refusal()))
            self.transport.close()

    async def send(self, message: "ASGISendEvent") -> None:
        """Send; a sender that never pauses is paused to learn that its client has gone."""
        await super().send(message)
        if self.transport.is_closing():
            await asyncio.sleep(0)

    def handle_cont(self, event: Frame) -> None:
        """Add a frame to the message; uvicorn would gather them without end."""
        if len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
            self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Answer; while the client takes nothing, only its last ping is kept (RFC 6455, 5.5.3)."""
        if self.writable.is_set():
            super().handle_ping()
        elif writes := self.conn.data_to_send():
            # One call brings the pongs of all the pings that came at once.
            self._owed_pong = writes[-1]

    def pause_writing(self) -> None:
        """Give the client its time to take what is there."""
        super().pause_writing()
        self._stall.start_cut(self.transport)

    def resume_writing(self) -> None:
        """Note that the client takes what it is sent."""
        self._stall.stop()
        super().resume_writing()
        if self._owed_pong and not self.transport.is_closing():
            self.transport.write(self._owed_pong)
        self._owed_pong = b""

    def _explain_refusal(self) -> LegatoError:
        """Say why the library did not take a request that h11 took."""
        if isinstance(self.conn.handshake_exc, InvalidMessage):
            return MalformedRequestError("This is no request that could open a WebSocket.")
        return HeadTooLargeError("The headers are too many or too long for a WebSocket.")
