"""Clients that ask for something and leave: at any moment, and in each way there is to leave."""

import asyncio
import base64
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Final
from uuid import UUID

from websockets.frames import Frame, Opcode

from tests.bench.players import connect, name_client

STORM_SECONDS: Final = 8.0
PATIENCE_SECONDS: Final = 1.0
MOST_TAKEN_BYTES: Final = 100_000
CLIENTS: Final = 50
SPEECH: Final = "/v1/audio/speech"

Exit = Callable[[socket.socket], Awaitable[None]]


async def reset(connection: socket.socket) -> None:
    """Leave as a machine that was switched off."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def close(_connection: socket.socket) -> None:
    """Leave as a program that ended: with FIN, or RST where something came that was not read."""


async def close_in_order(connection: socket.socket) -> None:
    """Say no more, and read until the other side has closed too."""
    connection.shutdown(socket.SHUT_WR)
    loop = asyncio.get_running_loop()
    with suppress(ConnectionError):
        while await loop.sock_recv(connection, 65_536):
            """What still comes is of no interest."""


EXITS: Final[tuple[Exit, ...]] = (reset, close, close_in_order)


@dataclass(frozen=True, slots=True)
class Visit:
    """When it begins, what is sent, how much read, how long one stays then, and how one leaves."""

    due_seconds: float
    data: bytes
    taken_bytes: int
    stay_seconds: float
    leave: Exit

    @classmethod
    def draw(cls, random: Random, *, followed: UUID) -> "Visit":
        """Draw one at random; some follow the events of the speech named `followed`."""
        data = random.choice(_WRITERS)(random, followed)
        if random.random() < 0.1:
            data = data[: random.randrange(len(data))]
        taken = random.choice([0, 0, 1, random.randrange(MOST_TAKEN_BYTES)])
        stay = random.choice([0.0, 0.05, 1.0, 1.0]) * random.random()
        due = random.uniform(0, STORM_SECONDS)
        return cls(due, data, taken, stay, random.choice(EXITS))

    async def pay(self, port: int) -> None:
        """Come, ask, and leave."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self.due_seconds)
        with await connect(port) as connection, suppress(ConnectionError):
            await loop.sock_sendall(connection, self.data)
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._take(connection)
            await asyncio.sleep(self.stay_seconds)
            await self.leave(connection)

    async def _take(self, connection: socket.socket) -> None:
        loop, left = asyncio.get_running_loop(), self.taken_bytes
        while left > 0 and (data := await loop.sock_recv(connection, 8_192)):
            left -= len(data)


async def pay_visits(port: int, visits: list[Visit]) -> None:
    """Pay them all, each when it is due and for ten seconds at most."""
    async with asyncio.timeout(STORM_SECONDS + 10), asyncio.TaskGroup() as group:
        for visit in visits:
            group.create_task(visit.pay(port))


def _write(address: str, line: str, *headers: str, body: bytes = b"") -> bytes:
    client = f"X-Forwarded-For: {address}"
    lines = [f"{line} HTTP/1.1", "Host: legato", f"Content-Length: {len(body)}", client, *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _draw(random: Random) -> str:
    return name_client(random.randrange(2, CLIENTS))


def _write_post(random: Random, _: UUID) -> bytes:
    fields = {
        "input": " ".join(["second"] * random.choice([1, 10])),
        "voice": random.choice(["steady", "hesitant"]),
        "response_format": random.choice(["mp3", "pcm", "pcm"]),
        "stream_format": random.choice(["audio", "audio", "sse"]),
        "stream": random.random() < 0.9,
    }
    json_type = "Content-Type: application/json"
    return _write(_draw(random), f"POST {SPEECH}", json_type, body=json.dumps(fields).encode())


def _write_get(random: Random, _: UUID) -> bytes:
    return _write(_draw(random), f"GET {SPEECH}?input=second+second&response_format=wav")


def _write_follower(random: Random, followed: UUID) -> bytes:
    """Follow the speech that plays, or one that nobody has asked for."""
    stream_id = random.choice([followed, UUID(int=random.getrandbits(128))])
    return _write(name_client(1), f"GET {SPEECH}/{stream_id}/events")


def _write_dialogue(random: Random, _: UUID) -> bytes:
    handshake = _write(
        _draw(random),
        f"GET {SPEECH}/stream",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(random.randbytes(16)).decode()}",
    )
    messages = [{"type": "text", "text": "second second. "}] * random.randrange(5)
    messages += [{"type": random.choice(["flush", "end", "cancel"])}] * random.randrange(2)
    frames = [Frame(Opcode.TEXT, json.dumps(message).encode()) for message in messages]
    return handshake + b"".join(frame.serialize(mask=True) for frame in frames)


_WRITERS: Final = (
    _write_post,
    _write_post,
    _write_post,
    _write_get,
    _write_follower,
    _write_dialogue,
)
