"""The structures that cross HTTP."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

LARGEST_SEED: Final = 2**32 - 1
LONGEST_INSTRUCTIONS: Final = 4_096
"""Characters; OpenAI's own limit."""

StreamFormat = Literal["audio", "sse"]
Instructions = Annotated[str, Meta(max_length=LONGEST_INSTRUCTIONS)]
# JSON has one kind of number, in which 5.0 is as whole as 5; msgspec's int takes only the latter.
Seed = Annotated[float, Meta(ge=0, le=LARGEST_SEED, multiple_of=1)]


class VoiceReference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """OpenAI's other way of naming a voice."""

    id: str


class SpeechBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /v1/audio/speech: OpenAI's fields, then ours."""

    input: Annotated[str, Meta(description="the text to speak")]
    model: Annotated[str | None, Meta(description="a name from /v1/models")] = None
    voice: Annotated[
        str | VoiceReference | None, Meta(description="a name from /v1/audio/voices")
    ] = None
    response_format: Annotated[str, Meta(description="a name from /v1/audio/formats")] = "mp3"
    speed: Annotated[float, Meta(ge=0.25, le=4, description="1 is the voice's own pace")] = 1.0
    stream_format: Annotated[
        StreamFormat, Meta(description="the sound itself, or events with the sound in base64")
    ] = "audio"
    instructions: Annotated[
        Instructions | None,
        Meta(description="accepted for OpenAI's sake; the embedded voice takes none"),
    ] = None
    stream: Annotated[
        bool,
        Meta(
            description="send while it is made, or once it is whole, with complete headers;"
            " events are always sent while it is made"
        ),
    ] = True
    streaming_interval: Annotated[
        float, Meta(ge=0.05, le=10, description="longest chunk that is made at once, in seconds")
    ] = 1.0
    seed: Annotated[Seed | None, Meta(description="makes the speech repeatable")] = None

    @property
    def voice_name(self) -> str | None:
        """The voice asked for, however it was named."""
        return self.voice.id if isinstance(self.voice, VoiceReference) else self.voice


class Playback(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a speech was heard: how often the sound ran out, and for how long in all."""

    underruns: Annotated[float, Meta(ge=0, le=1_000, multiple_of=1)]
    stalled_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 0.0


class ErrorDetail(msgspec.Struct, frozen=True):
    """What went wrong, in OpenAI's words."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error."""

    error: ErrorDetail


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A model, as OpenAI lists one."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "legato"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    """The body of GET /v1/models."""

    data: list[ModelEntry]
    object: Literal["list"] = "list"


class VoiceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A voice and the model that it belongs to; `language` is a BCP 47 tag."""

    id: str
    name: str
    language: str
    model: str


class VoiceList(msgspec.Struct, frozen=True, kw_only=True):
    """The body of GET /v1/audio/voices."""

    data: list[VoiceEntry]
    object: Literal["list"] = "list"


class FormatEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A response format: its MIME type, and its type for `addSourceBuffer`, if it has one."""

    id: str
    label: str
    media_type: str
    mse_type: str | None
    extension: str


class FormatList(msgspec.Struct, frozen=True, kw_only=True):
    """The body of GET /v1/audio/formats."""

    data: list[FormatEntry]
    object: Literal["list"] = "list"
