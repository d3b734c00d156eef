"""A client that listens as a player does: it starts early, and takes what it plays in real time."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from app.formats import FORMATS

START_SECONDS: Final = 0.2
"""Chromium begins to play once about so much is buffered."""
LEAD_SECONDS: Final = 3.0
"""So far the player runs ahead of what is heard; then it stops reading."""
BUFFER_BYTES: Final = 4_096
INTERVAL_SECONDS: Final = 0.5
"""The longest chunk: a round of a hundred turns then takes 0.3 s of encoding, and who started with
0.2 s has that much to spare. With the default of 1 s it has not, until the streams are ahead."""
SAMPLE_RATE: Final = 24_000
FRAME_BYTES: Final = 192
"""A frame at 24 kHz and 64 kbit/s: 576 samples, 24 ms."""
FRAME_SAMPLES: Final = 576
BYTES_PER_SECOND: Final = 8_000


@dataclass(frozen=True, slots=True)
class Heard:
    """What a player got, when the first byte came, and how near it came to running dry.

    `spare_seconds` is the least that was buffered when more came; below 0 it had run dry.
    """

    body: bytes
    first_byte_seconds: float
    spare_seconds: float


def name_client(number: int) -> str:
    """Give the address of one of many clients of a proxy."""
    return f"192.0.2.{number}"


def write_request(seed: int, seconds: int, *headers: str, client: int = 1) -> bytes:
    """Ask for mp3 as the client of that number, by way of a proxy."""
    text = " ".join(["second"] * seconds)
    fields = {"input": text, "seed": seed, "streaming_interval": INTERVAL_SECONDS}
    body = json.dumps(fields).encode()
    head = [
        "POST /v1/audio/speech HTTP/1.1",
        "Host: legato",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        f"X-Forwarded-For: {name_client(client)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


async def play(port: int, request: bytes, *, in_real_time: bool = True) -> Heard:
    """Play to the end; raises IncompleteReadError where the body breaks off."""
    clock, body = _Clock(), bytearray()
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(sock=await connect(port), limit=BUFFER_BYTES)
        with closing(writer):
            writer.write(request)
            async for piece in _read_body(reader):
                clock.take(len(piece))
                body += piece
                if in_real_time:
                    await asyncio.sleep(clock.count_pause())
    return Heard(bytes(body), clock.first_byte_seconds, clock.spare_seconds)


class _Clock:
    """When what came is played."""

    def __init__(self) -> None:
        self.first_byte_seconds = 0.0
        self.spare_seconds = float("inf")
        self._asked_at = time.perf_counter()
        self._started_at = 0.0
        self._seconds = 0.0

    def take(self, size: int) -> None:
        """Note that so many bytes came."""
        now = time.perf_counter()
        if self._seconds == 0:
            self.first_byte_seconds = now - self._asked_at
        if self._started_at:
            self.spare_seconds = min(self.spare_seconds, self._started_at + self._seconds - now)
        self._seconds += size / BYTES_PER_SECOND
        if not self._started_at and self._seconds >= START_SECONDS:
            self._started_at = now

    def count_pause(self) -> float:
        """Give the seconds until the player wants more."""
        if not self._started_at:
            return 0.0
        ahead = self._started_at + self._seconds - time.perf_counter()
        return max(0.0, ahead - LEAD_SECONDS)


def count_frames(body: bytes) -> int:
    """Count the mp3 frames; raises ValueError where there is anything else."""
    heads = {body[at : at + 2] for at in range(0, len(body), FRAME_BYTES)}
    if len(heads) != 1 or not next(iter(heads)).startswith(b"\xff"):
        raise ValueError("There is more than frames, or less.")
    count, rest = divmod(len(body), FRAME_BYTES)
    if rest:
        raise ValueError("The last frame is not whole.")
    return count


def expect_frames(seconds: int) -> int:
    """Count the frames that so much sound takes."""
    decoded = FORMATS["mp3"].decoded_samples(seconds * SAMPLE_RATE, SAMPLE_RATE)
    return decoded // FRAME_SAMPLES


async def connect(port: int) -> socket.socket:
    """Connect with a small buffer, so that what is not read is soon not sent."""
    connection = socket.socket()
    connection.settimeout(0.0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    return connection


async def _read_body(reader: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(head.decode())
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
