"""The log: one line for each stream that ended, and never what it said."""

import json
import logging
from logging import Formatter, LogRecord
from typing import Any, Final, Literal

from app.errors import LegatoError
from app.speech.stream import EncodedChunk
from app.web.progress import Progress

LogFormat = Literal["text", "json"]

_LOG: Final = logging.getLogger(__name__)
_FIELDS: Final = "fields"
"""The attribute of a log record that holds what it tells beside its message."""


class StreamLog:
    """Writes a line when a stream ends; an observer of each."""

    def opened(self, progress: Progress) -> None:
        """Write nothing yet."""

    def queued(self, progress: Progress, position: int) -> None:
        """Write nothing yet."""

    def made(self, progress: Progress, piece: EncodedChunk) -> None:
        """Write nothing yet."""

    def ended(self, progress: Progress) -> None:
        """Write the line."""
        _LOG.info("stream", extra={_FIELDS: describe_stream(progress)})


def describe_stream(progress: Progress) -> dict[str, Any]:
    """Tell what a stream was, with times in seconds from its request; None: it never came to be."""
    asked = progress.asked
    return {
        "id": asked.id,
        "client": asked.client,
        "model": asked.model,
        "voice": asked.voice,
        "format": asked.format_name,
        "outcome": progress.outcome,
        "queued_s": _measure(progress, progress.begun_at),
        "first_byte_s": _measure(progress, progress.first_byte_at),
        "audio_s": round(progress.audio_seconds, 3),
        "bytes": progress.sent_bytes,
        "wall_s": _measure(progress, progress.ended_at),
        "error": _name_error(progress.error),
    }


def _measure(progress: Progress, moment: float | None) -> float | None:
    return None if moment is None else round(moment - progress.opened_at, 3)


def _name_error(error: BaseException | None) -> str | None:
    """Name a failure; a bug's own words may quote the text that was spoken."""
    if error is None:
        return None
    name = type(error).__name__
    return f"{name}: {error.message}" if isinstance(error, LegatoError) else name


class TextFormatter(Formatter):
    """Writes `INFO  message key=value ...`, one line a record but for tracebacks."""

    def formatMessage(self, record: LogRecord) -> str:  # noqa: N802 - logging's name
        """Put the fields behind the message."""
        fields: dict[str, Any] = getattr(record, _FIELDS, {})
        pairs = (f"{key}={_write_value(value)}" for key, value in fields.items())
        return " ".join((f"{record.levelname}  {record.message}", *pairs))


def _write_value(value: object) -> str:
    """Quote what would not be one word."""
    text = "-" if value is None else str(value)
    plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if plain else json.dumps(text)


class JsonFormatter(Formatter):
    """Writes one JSON object a line."""

    def format(self, record: LogRecord) -> str:
        """Put time, level, logger and message first, then the fields, then a traceback."""
        told = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


def cut_queries(record: LogRecord) -> bool:
    """Cut the query off any path that uvicorn logs, for it may hold the text; a logging filter."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            arg.partition("?")[0] if isinstance(arg, str) and arg.startswith("/") else arg
            for arg in record.args
        )
    return True


def configure_logging(log_format: LogFormat) -> None:
    """Send all log lines from INFO on to standard error, as `log_format` says."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in ("uvicorn.access", "uvicorn.error"):
        logging.getLogger(name).addFilter(cut_queries)
