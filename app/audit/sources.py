"""Where a body comes from: a file, standard input, or a server; always in pieces."""

import http.client
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from app.errors import UnreadableAudioError

_PIECE_BYTES: Final = 1 << 16
_QUOTED_BYTES: Final = 200
_HANDLERS: Final = (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
)
"""What urllib would open by itself, less files and FTP, so that no redirect leads there."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to read: a path, a URL or "-"; the rest is for URLs.

    With `data` it is a POST of JSON. `timeout_seconds` is the longest wait for the next bytes.
    """

    where: str
    data: bytes | None = None
    headers: Sequence[tuple[str, str]] = ()
    timeout_seconds: float = 60.0

    @property
    def is_url(self) -> bool:
        """Whether it names a server."""
        return "://" in self.where


@dataclass(slots=True)
class Body:
    """A body in pieces, and what it is called; `broken` says why it ended early, if it did."""

    names: Sequence[str]
    pieces: Iterator[bytes] = field(default_factory=lambda: iter(()))
    broken: str | None = None

    def peek(self, size: int) -> bytes:
        """Return the first bytes, up to `size` and more, without taking them away."""
        first: list[bytes] = []
        while sum(map(len, first)) < size and (piece := next(self.pieces, None)) is not None:
            first.append(piece)
        self.pieces = chain(first, self.pieces)
        return b"".join(first)

    def tell_why_it_ended(self) -> str:
        """Return why it ended early, to be added to a sentence; nothing if it did not."""
        return "" if self.broken is None else f" ({self.broken})"


@contextmanager
def open_body(order: Order) -> Generator[Body]:
    """Open a body, and close it; raises UnreadableAudioError for what cannot be opened."""
    if order.where == "-":
        body = Body(())
        body.pieces = _read_pieces(body, partial(sys.stdin.buffer.read, _PIECE_BYTES))
        yield body
    elif order.is_url:
        with _request(order) as response:
            path = urlsplit(order.where).path
            body = Body((response.headers.get("Content-Type") or "", path))
            body.pieces = _read_response(body, response)
            yield body
    else:
        with _open_file(order.where) as file:
            body = Body((order.where,))
            body.pieces = _read_pieces(body, partial(file.read, _PIECE_BYTES))
            yield body


def _open_file(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise UnreadableAudioError(f"{path} cannot be read: {_say(error)}.") from error


def _read_pieces(body: Body, read: Callable[[], bytes]) -> Generator[bytes]:
    try:
        while piece := read():
            yield piece
    except (OSError, ValueError, http.client.HTTPException) as error:
        body.broken = _say(error)


def _read_response(body: Body, response: http.client.HTTPResponse) -> Generator[bytes]:
    yield from _read_pieces(body, partial(response.read1, _PIECE_BYTES))
    if response.length and body.broken is None:
        body.broken = f"{response.length} bytes of the promised length are missing"


@contextmanager
def _request(order: Order) -> Generator[http.client.HTTPResponse]:
    if urlsplit(order.where).scheme not in {"http", "https"}:
        raise UnreadableAudioError(f"{order.where} is neither http nor https.")
    opener = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    headers = {"Content-Type": "application/json"} if order.data is not None else {}
    try:
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            order.where, order.data, {**headers, **dict(order.headers)}
        )
        response = opener.open(request, timeout=order.timeout_seconds)
    except urllib.error.HTTPError as error:
        raise UnreadableAudioError(_quote_refusal(error)) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise UnreadableAudioError(f"{order.where} does not answer: {_say(error)}.") from error
    with response:
        yield response


def _quote_refusal(error: urllib.error.HTTPError) -> str:
    with error:
        try:
            said = error.read(_QUOTED_BYTES).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            said = ""
    return " ".join(f"The server answers {error.code} {error.reason}: {said}".split())


def _say(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return "no bytes came in time"
    said = reason.strerror if isinstance(reason, OSError) else str(reason)
    return " ".join((said or type(reason).__name__).split())
