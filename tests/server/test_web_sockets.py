"""What a client can do to the server on a WebSocket, whatever is spoken there."""

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketDisconnect

from tests.server.clients import Client, build, leaving_nothing, playing_on, wait_until
from tests.serving import Served, running

Socket = WebSocket[Any, Any, Any]

MASK = b"\0\0\0\0"
"""All frames of a client are masked; this mask leaves them as they are."""
TEXT, CONTINUED, BINARY, CLOSE, PING, PONG = 1, 0, 2, 8, 9, 10
FINAL = 0x80


def write_frame(opcode: int, data: bytes = b"", *, final: bool = True) -> bytes:
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    if size > 0xFFFF:
        length = b"\xff" + size.to_bytes(8, "big")
    return bytes([opcode | (FINAL if final else 0)]) + length + MASK + data


def open_socket(served: Served, path: str, *headers: str) -> Client:
    key = base64.b64encode(bytes(16)).decode()
    head = [f"GET {path} HTTP/1.1", "Host: legato", "Connection: Upgrade", "Upgrade: websocket"]
    head += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]
    return Client(served.port).send("\r\n".join(head).encode())


def accept(client: Client) -> Client:
    """Read the answer to the handshake, byte by byte, so that no frame is lost."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += read(client, 1)
    assert head.startswith(b"HTTP/1.1 101")
    return client


def read(client: Client, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = client.socket.recv(size - len(data))
        assert piece
        data += piece
    return data


def read_frame(client: Client) -> tuple[int, bytes]:
    opcode, size = read(client, 2)
    if size >= 126:
        size = int.from_bytes(read(client, 2 if size == 126 else 8), "big")
    return opcode & 0xF, read(client, size)


@websocket("/echo")
async def echo(socket: Socket) -> None:
    await socket.accept()
    try:
        while True:
            await socket.send_text(await socket.receive_text())
    except WebSocketDisconnect:
        """There is nobody left to answer."""


heard = threading.Event()


@websocket("/flood")
async def flood(socket: Socket) -> None:
    """Send without end, and listen too."""
    await socket.accept()

    async def send() -> None:
        while True:
            await socket.send_bytes(bytes(30_000))

    sending = asyncio.create_task(send())
    try:
        while True:
            await socket.receive_text()
            heard.set()
    except WebSocketDisconnect:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


breaks: list[Callable[[], None]] = []
tireless_sends: list[None] = []


@websocket("/tireless")
async def send_tirelessly(socket: Socket) -> None:
    """Have the connection break, and go on as a sender may to whom nothing is said."""
    await socket.accept()
    await socket.receive_text()
    breaks.pop()()
    with suppress(WebSocketDisconnect):
        while len(tireless_sends) < 1_000:
            await socket.send_bytes(b"a")
            tireless_sends.append(None)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    app = build(max_message_bytes=1_000, stall_seconds=1.0)
    app.register(echo)
    app.register(flood)
    app.register(send_tirelessly)
    with running(app) as served:
        yield served


@pytest.mark.parametrize("go", [Client.reset, lambda client: client.socket.close()])
def test_the_upgrade_keeps_the_place_and_the_end_gives_it_back(served: Served, go: Any) -> None:  # noqa: ANN401 - a method and a lambda
    with leaving_nothing(served):
        client = accept(open_socket(served, "/echo"))
        client.send(write_frame(TEXT, b"hello"))
        assert read_frame(client) == (TEXT, b"hello")
        assert len(served.server.connections) == 1
        go(client)


def test_a_socket_that_is_refused_gives_its_place_back(served: Served) -> None:
    with leaving_nothing(served), open_socket(served, "/nowhere") as client:
        assert client.answer().status in {403, 404}
        assert client.ends()


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([write_frame(TEXT, b"a" * 1_001)], id="one long frame"),
        pytest.param(
            [write_frame(TEXT, b"a" * 600, final=False), write_frame(CONTINUED, b"a" * 600)],
            id="two frames",
        ),
        pytest.param(
            [write_frame(TEXT, final=False)] + [write_frame(CONTINUED, final=False)] * 2_000,
            id="empty frames without end",
        ),
    ],
)
def test_a_message_that_is_too_long_closes_its_socket_and_no_other(
    served: Served, frames: list[bytes]
) -> None:
    with playing_on(served), accept(open_socket(served, "/echo")) as client:
        client.send(b"".join(frames))
        opcode, reason = read_frame(client)
        assert (opcode, int.from_bytes(reason[:2], "big")) == (CLOSE, 1009)


def test_a_message_as_long_as_may_be_in_many_frames_is_read(served: Served) -> None:
    with leaving_nothing(served), accept(open_socket(served, "/echo")) as client:
        client.send(write_frame(TEXT, b"ab", final=False))
        client.send(write_frame(CONTINUED, b"abcd", final=False) * 200)
        client.send(write_frame(CONTINUED, b"a" * 198))
        assert read_frame(client) == (TEXT, b"ab" + b"abcd" * 200 + b"a" * 198)


def test_a_client_that_takes_nothing_is_cut(served: Served) -> None:
    with leaving_nothing(served), accept(open_socket(served, "/flood")):
        wait_until(lambda: len(served.server.connections) == 0)


def test_a_sender_that_never_pauses_learns_that_its_client_has_gone(served: Served) -> None:
    with leaving_nothing(served), accept(open_socket(served, "/tireless")) as client:
        (connection,) = served.server.server_state.connections
        tireless_sends.clear()
        breaks.append(connection.transport.abort)
        client.send(write_frame(TEXT, b"begin"))
    assert len(tireless_sends) < 10


def test_of_the_pings_of_a_client_that_takes_nothing_the_last_one_alone_is_answered(
    served: Served,
) -> None:
    heard.clear()
    with leaving_nothing(served), accept(open_socket(served, "/flood")) as client:
        (connection,) = served.server.server_state.connections
        wait_until(lambda: connection.transport.get_write_buffer_size() > 0)
        before = connection.transport.get_write_buffer_size()
        client.send(write_frame(PING, b"p" * 100) * 5_000)
        client.send(write_frame(PING, b"last") + write_frame(TEXT, b"done"))
        assert heard.wait(20)
        assert connection.transport.get_write_buffer_size() == before
        frames = (read_frame(client) for _ in range(100))
        assert next(data for opcode, data in frames if opcode == PONG) == b"last"


@pytest.mark.parametrize(
    "headers", [[f"X-{number}: a" for number in range(200)], ["X: " + "a" * 10_000]]
)
def test_headers_that_the_library_does_not_take_are_answered_with_431(
    served: Served, headers: list[str]
) -> None:
    with leaving_nothing(served), open_socket(served, "/echo", *headers) as client:
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (431, "headers_too_large")
        assert client.ends()


@pytest.mark.parametrize("header", ["Content-Length: 5", "Transfer-Encoding: chunked"])
def test_a_handshake_with_a_body_is_answered_with_400(served: Served, header: str) -> None:
    with leaving_nothing(served), open_socket(served, "/echo", header) as client:
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (400, "malformed_request")
        assert client.ends()


def test_nothing_is_compressed_since_a_small_frame_could_hold_a_large_message(
    served: Served,
) -> None:
    offer = "Sec-WebSocket-Extensions: permessage-deflate"
    with leaving_nothing(served), open_socket(served, "/echo", offer) as client:
        assert client.begin_answer().headers["sec-websocket-extensions"] is None
