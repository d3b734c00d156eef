"""HTTP on one connection: uvicorn's, with limits and with a deadline for each thing awaited."""

import asyncio
import re
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.server import ServerState

from app.errors import HeadTooLargeError, LegatoError, MalformedRequestError, SlowRequestError
from app.server.buffers import bound_buffers
from app.server.config import MAX_HEAD_BYTES, EdgeConfig
from app.server.deadline import Deadline

MAX_SURPLUS_BYTES: Final = 65_536
"""So much of a body is read and dropped after its answer, for the sake of the connection."""
FAREWELL_SECONDS: Final = 3.0
"""So long a client may go on sending once it was told that nothing more is read."""

_BLANK_LINE: Final = re.compile(rb"\n\r?\n")


class HttpProtocol(H11Protocol):
    """Serves the requests of one connection, or turns it away."""

    def __init__(
        self,
        config: EdgeConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Be ready for a connection."""
        super().__init__(config, server_state, app_state, _loop)
        self._edge: Final = config
        self._head: Final = Deadline(self.loop, config.settings.header_seconds)
        self._body: Final = Deadline(self.loop, config.settings.idle_seconds)
        self._stall: Final = Deadline(self.loop, config.settings.stall_seconds)
        self._farewell: Final = Deadline(self.loop, FAREWELL_SECONDS)
        self._is_leaving = False
        self._surplus_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Let the client in, or answer that there is no room and close."""
        self.transport = transport
        address = get_remote_addr(transport)
        try:
            self._edge.connections.enter(transport, address[0] if address else None)
        except LegatoError as refusal:
            transport.write(self._edge.write_refusal(refusal))
            transport.close()
            return
        bound_buffers(transport, self._edge.settings.send_buffer_bytes)
        super().connection_made(transport)
        self._head.start(self._end_head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back, however the connection ended."""
        self._edge.connections.leave(self.transport)
        self._stop_reading()
        self._stall.stop()
        self._farewell.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless all is said."""
        if self._is_leaving:
            return
        if self._is_head_too_large(data):
            self._turn_away(HeadTooLargeError(f"More than {MAX_HEAD_BYTES} bytes of headers came."))
            return
        super().data_received(data)
        self._await_more(len(data))

    def on_response_complete(self) -> None:
        """Go on to the next request, of which a part may be there already."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]:
            self._await_more(0)

    def send_400_response(self, msg: str) -> None:
        """Answer what h11 could not read."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._turn_away(MalformedRequestError(msg))
        else:
            self.transport.abort()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; it stays counted."""
        self._stop_reading()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        """Give the client its time to take what is there."""
        super().pause_writing()
        self._stall.start_cut(self.transport)

    def resume_writing(self) -> None:
        """Note that the client takes what it is sent."""
        super().resume_writing()
        self._stall.stop()

    def shutdown(self) -> None:
        """Close as soon as the response under way is complete."""
        if self._is_leaving:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _is_handed_over(self) -> bool:
        return self.transport.get_protocol() is not self

    def _await_more(self, size: int) -> None:
        """Set the deadline for what must come next, now that `size` bytes came."""
        if self._is_leaving or self.transport.is_closing() or self._is_handed_over:
            return
        if self.conn.their_state is h11.IDLE:
            self._unset_keepalive_if_required()
            self._body.stop()
            self._surplus_bytes = 0
            if not self._head.is_running:
                self._head.start(self._end_head)
        elif self.conn.their_state is h11.SEND_BODY:
            self._head.stop()
            self._body.start(self._end_body)
            self._drop_surplus(size)
        else:
            self._stop_reading()

    def _stop_reading(self) -> None:
        self._head.stop()
        self._body.stop()
        self._unset_keepalive_if_required()

    def _is_head_too_large(self, data: bytes) -> bool:
        """Tell whether a head is longer than is read; h11 bounds it only where it is incomplete."""
        if self.conn.their_state is not h11.IDLE:
            return False
        came = self.conn.trailing_data[0] + data
        return len(came) > MAX_HEAD_BYTES and not _BLANK_LINE.search(came, 0, MAX_HEAD_BYTES)

    def _drop_surplus(self, size: int) -> None:
        """Read what is left of a body that is answered already, but not all of a large one."""
        if self.cycle.response_complete:
            self._surplus_bytes += size
            if self._surplus_bytes > MAX_SURPLUS_BYTES:
                self._leave()

    def _end_head(self) -> None:
        if self.conn.trailing_data[0]:
            self._turn_away(SlowRequestError("The headers took too long."))
        else:
            self.transport.close()

    def _end_body(self) -> None:
        if self.flow.read_paused:
            # It is the app that takes its time, not the client.
            self._body.start(self._end_body)
        elif self.cycle.response_started:
            self.transport.abort()
        else:
            self._turn_away(SlowRequestError("The body took too long."))

    def _turn_away(self, error: LegatoError) -> None:
        """Answer in the place of the app, and close."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(self._edge.write_refusal(error))
        self._leave()

    def _leave(self) -> None:
        """Close so that the client can read what it was told.

        With bytes unread, a plain close would be a reset, which may overtake the answer.
        """
        self._is_leaving = True
        self._stop_reading()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._farewell.start(self.transport.abort)
