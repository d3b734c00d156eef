"""Answers that are given before there is a request that the app could answer."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import msgspec

from app.errors import LegatoError
from app.schemas import ErrorBody
from app.web.headers import add_security_headers
from app.web.problems import describe_error, tell_headers

if TYPE_CHECKING:
    from litestar.types import HTTPResponseStartEvent, Scope

Header = tuple[bytes, bytes]


async def read_security_headers() -> list[Header]:
    """Give the headers that the app puts on all of its responses."""
    message: HTTPResponseStartEvent = {
        "type": "http.response.start",
        "status": HTTPStatus.BAD_REQUEST,
        "headers": [],
    }
    await add_security_headers(message, cast("Scope", {}))
    return list(message["headers"])


def write_refusal(error: LegatoError, security_headers: Iterable[Header]) -> bytes:
    """Write a whole HTTP/1.1 response that tells the error as the app would, and that it closes."""
    body = msgspec.json.encode(ErrorBody(describe_error(error)))
    own = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **tell_headers(error),
    }
    headers = [(name.encode(), text.encode()) for name, text in own.items()]
    lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}".encode()]
    lines += [name + b": " + text for name, text in (*headers, *security_headers)]
    return b"\r\n".join([*lines, b"", body])
