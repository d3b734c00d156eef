"""Every failure as OpenAI's clients know it: {"error": {message, type, param, code}}."""

import logging
from math import ceil
from typing import Any, Final

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap

from app.errors import LegatoError
from app.schemas import ErrorBody, ErrorDetail

_LOG: Final = logging.getLogger(__name__)


def _respond(
    status: int, detail: ErrorDetail, headers: dict[str, str] | None = None
) -> Response[ErrorBody]:
    return Response(
        ErrorBody(detail), status_code=status, headers=headers, media_type="application/json"
    )


def describe_error(error: BaseException | None) -> ErrorDetail:
    """Put into words what a client may know of a failure: nothing of a bug but that it is one."""
    if isinstance(error, LegatoError):
        return ErrorDetail(error.message, error.type, error.param, error.code)
    return ErrorDetail("The server failed; its log says how.", "server_error")


def tell_retry(error: LegatoError) -> dict[str, str]:
    """Give the Retry-After header, in whole seconds, where the error knows when to come again."""
    seconds = error.retry_after_seconds
    return {} if seconds is None else {"Retry-After": str(max(1, ceil(seconds)))}


def tell_headers(error: LegatoError) -> dict[str, str]:
    """Give the headers that go with the error: when to come again, and what is asked for."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return tell_retry(error) | challenge


def _tell_domain_error(_: Request[Any, Any, Any], error: LegatoError) -> Response[ErrorBody]:
    return _respond(error.status, describe_error(error), tell_headers(error))


def _tell_http_error(_: Request[Any, Any, Any], error: HTTPException) -> Response[ErrorBody]:
    kind = "invalid_request_error" if error.status_code < 500 else "server_error"
    return _respond(error.status_code, ErrorDetail(error.detail, kind), error.headers)


def _tell_invalid(_: Request[Any, Any, Any], error: ValidationException) -> Response[ErrorBody]:
    """Name the first field at fault; Litestar lists them all in `extra`."""
    faults = error.extra if isinstance(error.extra, list) else []
    fault = faults[0] if faults else {}
    param = fault.get("key")
    message = fault.get("message", error.detail)
    return _respond(
        error.status_code,
        ErrorDetail(f"{param}: {message}" if param else message, "invalid_request_error", param),
    )


def _tell_bug(request: Request[Any, Any, Any], error: Exception) -> Response[ErrorBody]:
    """Log what happened and tell the client no more than that it did."""
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _respond(500, describe_error(error))


EXCEPTION_HANDLERS: Final[ExceptionHandlersMap] = {
    LegatoError: _tell_domain_error,
    ValidationException: _tell_invalid,
    HTTPException: _tell_http_error,
    Exception: _tell_bug,
}
