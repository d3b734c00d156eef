"""What can go wrong, in the domain's words.

Each error knows the HTTP status that it deserves, and OpenAI's `type` and `code` for it, as class
attributes; nothing here knows HTTP itself.
"""

from typing import ClassVar


class LegatoError(Exception):
    """Any failure that a client is told about in words."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "server_error"
    code: ClassVar[str | None] = None
    retry_after_seconds: float | None = None

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        """Keep `message` for the person, and `param`, the request field at fault, if one is.

        `retry_after_seconds` tells when the same request may succeed, where that is known better
        than for all errors of the kind.
        """
        super().__init__(message)
        self.message = message
        self.param = param
        if retry_after_seconds is not None:
            self.retry_after_seconds = retry_after_seconds


class InvalidRequestError(LegatoError):
    """The request itself is at fault."""

    status = 400
    type = "invalid_request_error"


class UnsupportedTypeError(InvalidRequestError):
    """The body is not of a type that the server reads."""

    status = 415


class NothingToSpeakError(InvalidRequestError):
    """The text holds no character that a voice could speak."""

    code = "nothing_to_speak"


class UnknownModelError(InvalidRequestError):
    """No such model here."""

    status = 404
    code = "model_not_found"


class UnknownVoiceError(InvalidRequestError):
    """The model has no such voice."""

    status = 404
    code = "voice_not_found"


class UnknownStreamError(InvalidRequestError):
    """No such speech here, or no longer."""

    status = 404
    code = "speech_not_found"


class StreamInUseError(InvalidRequestError):
    """The name that the client gave its speech belongs to one that is still being made."""

    status = 409
    code = "speech_in_use"


class InvalidKeyError(InvalidRequestError):
    """A bearer key is asked for, and none came that is known."""

    status = 401
    code = "invalid_api_key"


class ForeignOriginError(InvalidRequestError):
    """A page of another origin asks, and the operator lists it nowhere."""

    status = 403
    code = "origin_not_allowed"


class RateLimitedError(LegatoError):
    """The client asked for too many speeches in a minute."""

    status = 429
    type = "rate_limit_error"
    code = "rate_limit_exceeded"


class OverloadedError(LegatoError):
    """The queue is full."""

    status = 429
    type = "rate_limit_error"
    code = "overloaded"


class NotReadyError(LegatoError):
    """The voices are still being loaded."""

    status = 503
    code = "loading"


class ShuttingDownError(LegatoError):
    """The server takes no new work; its successor may, which is up within seconds as a rule."""

    status = 503
    code = "shutting_down"
    retry_after_seconds = 5.0


class MalformedRequestError(InvalidRequestError):
    """What came is not HTTP."""

    code = "malformed_request"


class HeadTooLargeError(InvalidRequestError):
    """The request's line and headers are longer than the server reads."""

    status = 431
    code = "headers_too_large"


class SlowRequestError(InvalidRequestError):
    """The client took too long to send its request."""

    status = 408
    code = "request_timeout"


class TooManyConnectionsError(LegatoError):
    """The client has as many connections open as one may have."""

    status = 429
    type = "rate_limit_error"
    code = "too_many_connections"
    retry_after_seconds = 1.0


class ServerFullError(LegatoError):
    """The server has as many connections open as it serves."""

    status = 503
    code = "server_full"
    retry_after_seconds = 1.0


class EncoderClosedError(LegatoError):
    """Samples were fed to an encoder that is already closed."""


class VoiceFileError(LegatoError):
    """A voice's files are missing, damaged or of a kind that is not understood."""


class UnreadableAudioError(LegatoError):
    """What should be audited cannot be had, or is no audio that can be read."""


class InvalidSettingError(LegatoError):
    """The operator chose something that cannot be; the message names it."""


class ClientGoneError(LegatoError):
    """The client hung up before there was anything to send; the status is for the log only."""

    status = 499
    type = "client_gone"
