"""JSON that is read to the letter, and what is wrong with it in words that name the field.

Litestar's own reading is lenient: it takes 0 for false and "1" for 1.
"""

import re
from typing import Any, Final, TypeVar

import msgspec
from litestar import Request

from app.errors import InvalidRequestError, UnsupportedTypeError

T = TypeVar("T")

_PATH: Final = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_UNKNOWN_FIELD: Final = re.compile(r"unknown field `(?P<name>[^`]*)`")
"""msgspec's words for where a fault is, and for a field that is not there; it names the first."""


async def read_body(request: Request[Any, Any, Any], kind: type[T]) -> T:
    """Read a request's body as a `kind`.

    Raises UnsupportedTypeError where it is said to be something else than JSON, which also keeps
    other sites' forms out, and InvalidRequestError where it is no `kind`.
    """
    media_type, _ = request.content_type
    if media_type and media_type != "application/json":
        raise UnsupportedTypeError(f"The body must be application/json, not {media_type}.")
    body: T = read_json(await request.body(), kind)
    return body


def read_json(data: str | bytes, kind: Any) -> Any:  # noqa: ANN401 - msgspec takes unions too
    """Read a `kind`; raises InvalidRequestError, which names the field at fault."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as fault:
        raise _explain(fault) from fault


def _explain(fault: msgspec.MsgspecError) -> InvalidRequestError:
    message = str(fault)
    if not isinstance(fault, msgspec.ValidationError):
        return InvalidRequestError(f"This is not valid JSON: {message}.")
    place = _PATH.search(message)
    param = place["path"] if place else ""
    message = _PATH.sub("", message)
    if unknown := _UNKNOWN_FIELD.search(message):
        param = ".".join(filter(None, [param, unknown["name"]]))
    return InvalidRequestError(f"{param}: {message}" if param else message, param=param or None)
