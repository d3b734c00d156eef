"""`stream_format: "sse"`: the sound in base64, event by event, as OpenAI sends it."""

import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import msgspec
from litestar.response import ServerSentEventMessage

from app.speech.stream import EncodedChunk
from app.web.problems import describe_error

MEDIA_TYPE: Final = "text/event-stream"

OUTPUT_TOKENS_PER_SECOND: Final = 20
"""OpenAI counts one token for 50 ms of sound that is made (its realtime guide, on costs)."""


async def write_audio_events(
    pieces: AsyncGenerator[EncodedChunk], *, characters: int
) -> AsyncGenerator[bytes]:
    """Write `speech.audio.delta` for each piece and `speech.audio.done` at the end.

    A failure after the first one is an event `error`, and one before it is raised. `usage` counts
    the `characters` of the text, and the sound at one token for 50 ms.
    """
    begun, seconds = False, 0.0
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                seconds += piece.cost
                if piece.data:
                    yield _write(_delta(piece.data))
                    begun = True
        except Exception as error:
            if not begun:
                raise
            yield _write({"type": "error", "error": describe_error(error)})
            return
    yield _write(_done(characters, round(seconds * OUTPUT_TOKENS_PER_SECOND)))


def _delta(data: bytes) -> dict[str, Any]:
    return {"type": "speech.audio.delta", "audio": base64.b64encode(data).decode("ascii")}


def _done(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    usage = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    return {"type": "speech.audio.done", "usage": usage}


def _write(fields: dict[str, Any]) -> bytes:
    return ServerSentEventMessage(msgspec.json.encode(fields)).encode()
