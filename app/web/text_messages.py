"""What crosses the WebSocket of a text that is still being written."""

from typing import Annotated

import msgspec
from msgspec import Meta

from app.schemas import Instructions, Seed, SpeechBody, VoiceReference
from app.web.json_body import read_json


class Start(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="start"):
    """How to speak; the first message, or none where the defaults will do."""

    model: str | None = None
    voice: str | VoiceReference | None = None
    response_format: str = "mp3"
    speed: Annotated[float, Meta(ge=0.25, le=4)] = 1.0
    instructions: Instructions | None = None
    streaming_interval: Annotated[float, Meta(ge=0.05, le=10)] = 1.0
    seed: Seed | None = None

    def to_body(self) -> SpeechBody:
        """Give the same wishes as the body of a request whose text is yet to come."""
        return SpeechBody(input="", **msgspec.structs.asdict(self))


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="text"):
    """More of the text, cut anywhere."""

    text: str


class Flush(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="flush"):
    """Speak what is there, as if the text ended here."""


class Cancel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="cancel"):
    """Stop at once, and say no more."""


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="end"):
    """The text is complete: say the rest, and end the container."""


Message = Start | Text | Flush | Cancel | End


def read_message(data: str | bytes) -> Message:
    """Read one message; raises InvalidRequestError, which says what is wrong with it."""
    message: Message = read_json(data, Message)
    return message
