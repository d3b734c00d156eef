"""What the OpenAPI document can't be told by the handlers' types: sound, events, limits, errors."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

import msgspec
from litestar.openapi.spec import (
    OpenAPI,
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    Reference,
    RequestBody,
    Schema,
)

from app.formats import FORMATS
from app.schemas import ErrorBody, Playback, SpeechBody
from app.settings import Settings

SPEECH: Final = "/v1/audio/speech"
EVENTS: Final = "/v1/audio/speech/{stream_id}/events"
PLAYBACK: Final = "/v1/audio/speech/{stream_id}/playback"

_BODIES: Final = {SPEECH: SpeechBody, PLAYBACK: Playback}
_SNAKE: Final = re.compile("([A-Z])")

_ERRORS: Final[Mapping[int, str]] = {
    400: "The request itself is at fault; the message says how.",
    401: "The server asks for a key, and this is none of those that it knows.",
    403: "A page of another site asks, and the operator does not list it.",
    404: "There is no such model, voice or speech.",
    409: "The X-Request-Id belongs to a speech that is still being made.",
    415: "The body is not said to be JSON.",
    413: "The body is larger than the server reads.",
    431: "The query or the headers are too long.",
    429: "Too much is asked for at once; Retry-After says when to come again.",
    500: "The server failed; its log says how.",
    503: "The voices are being loaded, or the server is shutting down.",
}

_SPEECH_HEADERS: Final[Mapping[str, str]] = {
    "X-Request-Id": "the speech's name, for its events",
    "X-Audio-Sample-Rate": "the coded rate, in Hz",
    "X-Audio-Priming-Samples": "coded silence that MediaSource plays before sample 0",
}

_SPEECH_ERRORS: Final = (400, 404, 409, 413, 415, 429, 431, 500, 503)
_EVENTS: Final = "text/event-stream"
_ERROR: Final = Reference("#/components/schemas/ErrorBody")
_SOUND: Final = Schema(type=OpenAPIType.STRING, format="binary")  # type: ignore[arg-type] # any is
_TEXT: Final = Schema(type=OpenAPIType.STRING)
# OpenAPI 3.2 describes a stream of events by one of them, as its fields are parsed.
_EVENT: Final = Schema(
    type=OpenAPIType.OBJECT,
    properties={
        "id": _TEXT,
        "event": _TEXT,
        "data": Schema(type=OpenAPIType.STRING, content_media_type="application/json"),
    },
)


def complete_document(document: OpenAPI, settings: Settings) -> None:
    """Add to `document` what is true of the running server."""
    paths = document.paths or {}
    for path, item in paths.items():
        for operation in filter(None, (item.get, item.post)):
            _add_errors(operation, _list_errors(path, settings))
    for operation in filter(None, (paths[SPEECH].get, paths[SPEECH].post)):
        _describe_speech(operation)
    events = paths[EVENTS].get
    if events is not None and events.responses is not None:
        events.responses["200"] = OpenAPIResponse(
            "The events, as they happen.", content={_EVENTS: OpenAPIMediaType(schema=_EVENT)}
        )
        events.responses["204"] = OpenAPIResponse("There is nothing after the event last seen.")
    readiness = paths["/readyz"].get
    if readiness is not None and readiness.responses is not None:
        readiness.responses["503"] = replace(
            cast("OpenAPIResponse", readiness.responses["200"]), description=_ERRORS[503]
        )
    _describe_bodies(document, settings)


def _list_errors(path: str, settings: Settings) -> Iterable[int]:
    if path == SPEECH:
        yield from _SPEECH_ERRORS
    elif path in {EVENTS, PLAYBACK}:
        yield from (400, 404, 413, 415)
    if path.startswith("/v1/"):
        yield from (403, 503)
        if settings.keys:
            yield 401


def _add_errors(operation: Operation, statuses: Iterable[int]) -> None:
    operation.responses = operation.responses or {}
    for status in statuses:
        operation.responses[str(status)] = OpenAPIResponse(
            _ERRORS[status], content={"application/json": OpenAPIMediaType(schema=_ERROR)}
        )


def _describe_speech(operation: Operation) -> None:
    """List every type of sound that may come, and how a client names and finds its speech."""
    kinds = dict.fromkeys([*(known.media_type for known in FORMATS.values()), _EVENTS])
    operation.responses = (operation.responses or {}) | {
        "200": OpenAPIResponse(
            "One container in the format that was asked for, or events with it in base64.",
            content={
                kind: OpenAPIMediaType(schema=_EVENT if kind == _EVENTS else _SOUND)
                for kind in kinds
            },
            headers={
                name: OpenAPIHeader(description=text, schema=_TEXT)
                for name, text in _SPEECH_HEADERS.items()
            },
        )
    }
    operation.parameters = [
        *(operation.parameters or []),
        Parameter(
            name="X-Request-Id",
            param_in="header",
            schema=_TEXT,
            description="a UUID to name the speech by; the server makes one where this is none",
        ),
    ]


def _describe_bodies(document: OpenAPI, settings: Settings) -> None:
    """Let msgspec, which reads the bodies, say what it takes."""
    components = document.components.schemas
    _, made = msgspec.json.schema_components(
        (*_BODIES.values(), ErrorBody), ref_template="#/components/schemas/{name}"
    )
    components |= {name: _to_struct(fields) for name, fields in made.items()}
    for path, body in _BODIES.items():
        operation = document.paths[path].post if document.paths else None
        if operation is not None:
            reference = Reference(f"#/components/schemas/{body.__name__}")
            content = {"application/json": OpenAPIMediaType(schema=reference)}
            operation.request_body = RequestBody(content, required=True)
    speech = components["SpeechBody"]
    fields = speech.properties or {}
    _bound(fields["input"], min_length=1, max_length=settings.max_input_characters)
    _bound(fields["response_format"], enum=list(FORMATS))
    _describe_query(document.paths[SPEECH].get if document.paths else None, speech)


def _bound(field: Schema | Reference, **bounds: object) -> None:
    """State what depends on the settings or the formats."""
    for name, bound in bounds.items():
        setattr(field, name, bound)


def _to_schema(fields: Mapping[str, Any]) -> Schema | Reference:
    return Reference(fields["$ref"]) if "$ref" in fields else _to_struct(fields)


def _to_struct(fields: Mapping[str, Any]) -> Schema:
    """Turn a JSON schema into Litestar's own form of it."""
    known: dict[str, Any] = {_SNAKE.sub(r"_\1", name).lower(): v for name, v in fields.items()}
    if "properties" in known:
        known["properties"] = {name: _to_schema(v) for name, v in known["properties"].items()}
    if "any_of" in known:
        known["any_of"] = [_to_schema(choice) for choice in known["any_of"]]
    return Schema(**known)


def _describe_query(operation: Operation | None, body: Schema) -> None:
    """Let a query's field be what the body's field of that name is; only a voice is never more."""
    for known in (operation and operation.parameters) or []:
        field = (body.properties or {}).get(known.name) if isinstance(known, Parameter) else None
        if isinstance(known, Parameter) and field is not None and known.name != "voice":
            known.schema = field
