"""WS /v1/audio/speech/stream: a text that is still being written in, one container out."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import ObjectReceiveStream
from litestar import WebSocket, websocket
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect

from app.errors import (
    InvalidRequestError,
    LegatoError,
    NotReadyError,
    OverloadedError,
    ShuttingDownError,
)
from app.speech.arriving_text import ArrivingText
from app.speech.order import Order
from app.web.access import choose_subprotocol, identify
from app.web.event_log import count_total, time_words
from app.web.message_rate import MessageRate
from app.web.operations import Readiness
from app.web.problems import describe_error
from app.web.race import race
from app.web.studio import Performance, Studio, find_studio
from app.web.text_messages import Cancel, End, Flush, Message, Start, Text, read_message

Socket = WebSocket[Any, Any, Any]

CLOSE_CODES: Final[Mapping[type[LegatoError], int]] = {
    InvalidRequestError: 1008,
    OverloadedError: 1013,
    NotReadyError: 1013,
    ShuttingDownError: 1001,
}
"""Policy violation, try again later, going away (RFC 6455, 7.4, and IANA's registry of codes)."""

INTERNAL_ERROR: Final = 1011


@websocket("/v1/audio/speech/stream")
async def speak_arriving_text(
    socket: Socket, state: State, readiness: NamedDependency[Readiness]
) -> None:
    """Speak a text as it is written; what goes wrong is said in a message before the close."""
    await socket.accept(subprotocols=choose_subprotocol(socket))
    try:
        await _Dialogue(socket, find_studio(state, readiness)).hold()
        await socket.close()
    except WebSocketDisconnect:
        """There is nobody left to tell."""
    except Exception as error:
        await _send(socket, "error", error=describe_error(error))
        await socket.close(_find_close_code(error))
        if not isinstance(error, LegatoError):
            raise


def _find_close_code(error: Exception) -> int:
    codes = (code for kind, code in CLOSE_CODES.items() if isinstance(error, kind))
    return next(codes, INTERNAL_ERROR)


async def _send(socket: Socket, kind: str, **fields: object) -> None:
    await socket.send_text(msgspec.json.encode({"type": kind, **fields}).decode())


class _Dialogue:
    """One connection: messages in, sound and messages out, both at the same time."""

    def __init__(self, socket: Socket, studio: Studio) -> None:
        self._socket: Final = socket
        self._studio: Final = studio
        self._client: Final = identify(socket)
        self._rate: Final = MessageRate(studio.settings.max_messages_per_second)
        self._begun: Final = anyio.Event()
        self._is_complete = False
        self._is_cancelled = False

    async def hold(self) -> None:
        """Listen and speak until all is said, the client cancels or leaves, or something fails."""
        first = await self._receive()
        if isinstance(first, Cancel):
            return await _send(self._socket, "cancelled")
        start = first if isinstance(first, Start) else Start()
        order, text = self._understand(start)
        tell_position, positions = anyio.create_memory_object_stream[int](inf)
        performance = self._studio.speak(
            self._socket,
            order,
            self._client,
            on_position=tell_position.send_nowait,
        )
        with tell_position, positions:
            if first is not start:
                self._pass_on(first, text)
            await race(
                partial(self._listen, text, performance),
                partial(self._speak, performance),
                partial(self._announce, positions, order, performance),
            )
        if self._is_cancelled:
            await _send(self._socket, "cancelled")
        return None

    def _understand(self, start: Start) -> tuple[Order, ArrivingText]:
        order = self._studio.understand(start.to_body(), self._client)
        text = ArrivingText(language=order.speech.voice.language)
        return replace(order, speech=replace(order.speech, script=text.script)), text

    async def _receive(self) -> Message:
        await anyio.sleep(self._rate.delay_seconds())
        return read_message(await self._socket.receive_text())

    # What is heard

    async def _listen(self, text: ArrivingText, performance: Performance) -> None:
        """Pass on what comes, until the client cancels."""
        while True:
            message = await self._receive_in_time(text)
            self._pass_on(message, text)
            if self._is_cancelled:
                return
            self._studio.worker.nudge(performance.job)

    async def _receive_in_time(self, text: ArrivingText) -> Message:
        """Wait for a message; raises InvalidRequestError once too long nothing came to be said."""
        seconds = self._studio.settings.stall_seconds
        while True:
            with anyio.move_on_after(seconds):
                return await self._receive()
            if not self._is_complete and text.is_waiting:
                raise InvalidRequestError(f"No text came for {seconds:g} seconds.")

    def _pass_on(self, message: Message, text: ArrivingText) -> None:
        if self._is_complete:
            raise InvalidRequestError("The text has ended; only `cancel` may follow.")
        match message:
            case Start():
                raise InvalidRequestError("`start` may only be the first message.")
            case Text():
                text.put(message.text)
                self._check_length(text)
            case Flush():
                text.flush()
            case End():
                text.end()
                self._is_complete = True
            case Cancel():
                self._is_cancelled = True

    def _check_length(self, text: ArrivingText) -> None:
        limit = self._studio.settings.max_page_characters
        if text.pending_characters > limit:
            raise InvalidRequestError(
                f"{text.pending_characters} characters wait to be spoken; at most {limit} may.",
                param="text",
            )

    # What is said

    async def _announce(
        self, positions: ObjectReceiveStream[int], order: Order, performance: Performance
    ) -> None:
        """Tell the position in the queue as it changes, and then that the speech begins."""
        while position := await positions.receive():
            await _send(self._socket, "queued", position=position)
        asked = performance.progress.asked
        await _send(
            self._socket,
            "started",
            id=asked.id,
            model=asked.model,
            voice=asked.voice,
            response_format=asked.format_name,
            media_type=order.audio_format.media_type,
            sample_rate=asked.coded_rate,
            priming_samples=order.audio_format.mse_lead_samples,
        )
        self._begun.set()
        await anyio.sleep_forever()

    async def _speak(self, performance: Performance) -> None:
        """Send the container in binary frames, each after the words that begin in it."""
        async with aclosing(performance.pieces) as pieces:
            async for piece in pieces:
                await self._begun.wait()
                if words := time_words(piece):
                    await _send(self._socket, "marks", marks=words)
                if piece.data:
                    await self._socket.send_bytes(piece.data)
        await _send(self._socket, "done", **count_total(performance.progress))
