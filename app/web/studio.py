"""Where a request becomes a response: the engine, the worker and the encoder, put together."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from os import SEEK_END
from typing import Any
from uuid import UUID, uuid4

from litestar import Request
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.response import Stream

from app.errors import InvalidRequestError
from app.schemas import SpeechBody
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import FileEncoder
from app.speech.order import Order, understand
from app.speech.stream import EncodedChunk, Encoder, EncoderFactory, encoded
from app.web.access import Client, Connection, identify
from app.web.audio_events import MEDIA_TYPE, write_audio_events
from app.web.body import prime, stream_body
from app.web.operations import Readiness
from app.web.progress import Asked, Follower, Observer, Progress
from app.web.spool import open_spool, read_spool
from app.worker import Job, Worker


@dataclass(frozen=True, slots=True)
class Studio:
    """What every speech needs, put together once when the server starts."""

    settings: Settings
    catalogue: Catalogue
    worker: Worker
    make_encoder: EncoderFactory
    observers: Sequence[Observer] = ()

    async def respond(self, request: Request[Any, Any, Any], body: SpeechBody) -> Stream:
        """Speak as it is made; the sound itself, not its events, whole where `stream` is false.

        Raises the InvalidRequestError that names what is wrong with the request.
        """
        client = identify(request)
        order = self.understand(body, client)
        if body.stream_format == "sse":
            return await self._send_events(request, order, client, body)
        return await (self._stream if body.stream else self._send_whole)(request, order, client)

    def understand(self, body: SpeechBody, client: Client) -> Order:
        """Find what the request names, within what the client may ask for."""
        limit = self.settings.max_input_characters
        if client.trusted:
            limit = max(limit, self.settings.max_page_characters)
        if len(body.input) > limit:
            raise InvalidRequestError(
                f"The text has {len(body.input)} characters; at most {limit} are taken at once.",
                param="input",
            )
        return understand(body, self.catalogue)

    def speak(
        self,
        connection: Connection,
        order: Order,
        client: Client,
        *,
        make_encoder: Callable[[int], Encoder] | None = None,
        on_position: Callable[[int], None] | None = None,
    ) -> "Performance":
        """Put the speech in the queue, to be made as its pieces are asked for.

        `on_position` is called as Worker.stream does it, after the observers were told.
        """
        make = make_encoder or partial(self.make_encoder, order.audio_format)
        job = Job(
            partial(encoded, order.engine, order.speech, make),
            exclusive=None if order.engine.re_entrant else order.engine.id,
            client=client.name,
        )
        follower = Follower(_describe(connection, order, client), self.observers)

        def tell(position: int) -> None:
            follower.queue(position)
            if on_position is not None:
                on_position(position)

        pieces = self.worker.stream(job, on_position=tell)
        return Performance(job, follower.progress, follower.follow(pieces))

    async def _stream(
        self, request: Request[Any, Any, Any], order: Order, client: Client
    ) -> Stream:
        performance = self.speak(request, order, client)
        return await stream_body(
            request,
            _take_sound(performance.pieces),
            media_type=order.audio_format.media_type,
            headers=_tell_player(order, performance.progress.asked),
        )

    async def _send_events(
        self, request: Request[Any, Any, Any], order: Order, client: Client, body: SpeechBody
    ) -> Stream:
        performance = self.speak(request, order, client)
        events = write_audio_events(performance.pieces, characters=len(body.input))
        headers = _tell_player(order, performance.progress.asked)
        del headers["Content-Disposition"]
        return await stream_body(request, events, media_type=MEDIA_TYPE, headers=headers)

    async def _send_whole(
        self, request: Request[Any, Any, Any], order: Order, client: Client
    ) -> Stream:
        """Write the container to a file first, since its header tells the length."""
        async with open_spool(self.worker) as file:
            make_encoder = partial(FileEncoder, order.audio_format, file=file)
            performance = self.speak(request, order, client, make_encoder=make_encoder)
            # All of it goes into the file: what is awaited here is the end.
            await prime(request, _take_sound(performance.pieces))
            size = file.seek(0, SEEK_END)
            file.seek(0)
        return Stream(
            read_spool(file),
            media_type=order.audio_format.media_type,
            headers={
                **_tell_player(order, performance.progress.asked),
                "Content-Length": str(size),
            },
            background=BackgroundTask(file.close),
        )


def find_studio(state: State, readiness: NamedDependency[Readiness]) -> Studio:
    """Find the studio; raises the error that says why there is none yet."""
    if "studio" not in state and (refusal := readiness.refusal()) is not None:
        raise refusal
    studio: Studio = state.studio
    return studio


@dataclass(frozen=True, slots=True)
class Performance:
    """A speech under way: its job, how far it is, and its pieces, which the taker closes."""

    job: Job[EncodedChunk]
    progress: Progress
    pieces: AsyncGenerator[EncodedChunk]


def _describe(connection: Connection, order: Order, client: Client) -> Asked:
    return Asked(
        id=_name_stream(connection),
        client=client.name,
        model=order.engine.id,
        voice=order.speech.voice.id,
        format_name=order.audio_format.name,
        sample_rate=order.engine.sample_rate,
        coded_rate=order.audio_format.coded_rate(order.engine.sample_rate),
    )


def _name_stream(connection: Connection) -> str:
    """Take the client's own name for its request, if it is a UUID, else make one."""
    try:
        return str(UUID(connection.headers.get("X-Request-Id", "")))
    except ValueError:
        return str(uuid4())


def _tell_player(order: Order, asked: Asked) -> dict[str, str]:
    """Tell a player what it must know before the first byte."""
    return {
        "X-Request-Id": asked.id,
        "X-Audio-Sample-Rate": str(asked.coded_rate),
        "X-Audio-Priming-Samples": str(order.audio_format.mse_lead_samples),
        "Content-Disposition": f'inline; filename="speech.{order.audio_format.extension}"',
        "Cache-Control": "no-store",
        # nginx and its kin would hold the stream back otherwise.
        "X-Accel-Buffering": "no",
    }


async def _take_sound(pieces: AsyncGenerator[EncodedChunk]) -> AsyncGenerator[bytes]:
    async with aclosing(pieces):
        async for piece in pieces:
            if piece.data:
                yield piece.data
