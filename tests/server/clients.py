"""Clients that send what they please, and what to look at afterwards."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, Self

import pytest
from litestar import Litestar

from app.main import create_app
from app.server import http
from app.settings import Settings
from tests.serving import Served
from tests.voices import ToneEngine

WAIT_SECONDS = 20.0
RECEIVE_BUFFER_BYTES = 16_384
WORD_BYTES = 4_800
"""What ToneEngine speaks a word with, in PCM."""


def build(engine: ToneEngine | None = None, **changes: Any) -> Litestar:  # noqa: ANN401 - settings
    """Make the app with a signal for a voice."""
    chosen = [engine or ToneEngine()]
    return create_app(Settings(**changes), load=lambda _settings: chosen)


@contextmanager
def outlasting_farewells() -> Iterator[None]:
    """Have a client that was turned away all the time it wants, so that no timer ends a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http, "FAREWELL_SECONDS", 3 * WAIT_SECONDS)
        yield


class Client(AbstractContextManager["Client"]):
    """One connection, with a small receive buffer, so that what is not read is not sent."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        self.socket.settimeout(WAIT_SECONDS)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise

    def __exit__(self, *_: object) -> None:  # noqa: D105 - closes the connection
        self.socket.close()

    def send(self, data: bytes) -> Self:
        self.socket.sendall(data)
        return self

    def begin_answer(self) -> HTTPResponse:
        """Read a response's head; its body is read by the caller."""
        response = HTTPResponse(self.socket)
        response.begin()
        return response

    def answer(self) -> "Answer":
        """Read a whole response."""
        return Answer(self.begin_answer())

    def ends(self) -> bool:
        """Read on until the server closes, in whichever way; tells whether nothing came."""
        try:
            return not self.socket.recv(65_536)
        except ConnectionResetError:
            return True

    def reset(self) -> None:
        """Go as a killed machine's kernel would: with a reset, and nothing said."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Answer:
    """A whole response."""

    def __init__(self, response: HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def error(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/json"
        assert "default-src 'none'" in self.headers["content-security-policy"]
        error: dict[str, Any] = json.loads(self.body)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error


def write_request(path: str, body: bytes = b"", *headers: str, method: str = "POST") -> bytes:
    """Write a request with a body."""
    lines = [f"{method} {path} HTTP/1.1", "Host: legato", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def write_speech(words: int = 1, **fields: object) -> bytes:
    """Ask for so many words, in PCM, and for no more on this connection."""
    body = {"input": " ".join(["word"] * words), "response_format": "pcm", **fields}
    return write_request("/v1/audio/speech", json.dumps(body).encode(), "Connection: close")


class Listener(threading.Thread):
    """Someone who listens to a long speech, a word at a time, while other things happen."""

    def __init__(self, port: int, words: int = 800) -> None:
        super().__init__(name="listener")
        with Client(port).send(write_speech(words)) as reference:
            self.expected = reference.answer().body
        assert len(self.expected) >= words * WORD_BYTES
        self._client = Client(port).send(write_speech(words))
        self._response = self._client.begin_answer()
        self._heard = bytearray()
        self._in_haste = threading.Event()

    @property
    def heard_bytes(self) -> int:
        return len(self._heard)

    def run(self) -> None:
        with self._client:
            while piece := self._response.read(WORD_BYTES):
                self._heard += piece
                self._in_haste.wait(0.01)

    def hear_more(self) -> None:
        """Wait until more came than there was."""
        before = self.heard_bytes
        wait_until(lambda: self.heard_bytes > before)

    def hear_the_end(self) -> None:
        self._in_haste.set()
        self.join()
        assert self._heard == self.expected


@contextmanager
def playing_on(served: Served) -> Iterator[Listener]:
    """Another stream plays on, before, during and after what is done; then nothing is left."""
    with leaving_nothing(served):
        listener = Listener(served.port)
        listener.start()
        try:
            listener.hear_more()
            yield listener
            assert served.app.state.studio.worker.jobs >= 1, "it was over before"
            listener.hear_more()
        finally:
            listener.hear_the_end()


@contextmanager
def leaving_nothing(served: Served) -> Iterator[None]:
    """Wait until there is as much of everything as there was before; fail if that is never so."""
    with Client(served.port).send(write_speech()) as first:
        assert first.answer().status == 200
    wait_until(lambda: count(served)["open"] == 0)
    before = count(served)
    yield
    deadline = time.monotonic() + WAIT_SECONDS
    while (after := count(served)) != before:
        assert time.monotonic() < deadline, f"{after}, and not {before}"
        time.sleep(0.005)


def count(served: Served) -> dict[str, int]:
    """Count what a connection could leave behind."""

    async def count_tasks() -> int:
        return len(asyncio.all_tasks())

    return {
        "open": len(served.server.connections),
        "in uvicorn": len(served.server.server_state.connections),
        "requests": len(served.server.server_state.tasks),
        "tasks": served.run(count_tasks()),
        "jobs": served.app.state.studio.worker.jobs,
        "descriptors": len(list(Path("/dev/fd").iterdir())),
    }


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what has no event, in another thread."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.005)
