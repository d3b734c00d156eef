"""What may lie between the app and its client."""

import asyncio
import socket


def bound_buffers(transport: asyncio.Transport, send_buffer_bytes: int) -> None:
    """Let the kernel hold `send_buffer_bytes`, and ourselves one message at most.

    So the protocol is paused exactly while the kernel takes no more. Linux calls a socket writable
    again when a third of its buffer is free (sk_stream_is_writeable), hence that is what a client
    must take between a pause and its end.
    """
    transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET,
        socket.SO_SNDBUF,
        # Linux takes twice what it is told, for its bookkeeping (socket(7)), of which large
        # messages need next to none.
        send_buffer_bytes // 2,
    )
    transport.set_write_buffer_limits(high=0)
