"""Where a request becomes a response: the engine, the worker and the encoder, put together."""

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from os import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from anyio import to_thread
from litestar import Request
from litestar.background_tasks import BackgroundTask
from litestar.response import Stream

from app.errors import InvalidRequestError
from app.formats import AudioFormat, find_format
from app.schemas import SpeechBody
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import FileEncoder
from app.speech.engine import Engine
from app.speech.stream import Encoder, EncoderFactory, Speech, encoded
from app.web.body import prime, stream_body
from app.worker import Job, Worker

FILE_MEMORY_BYTES: Final = 8 * 2**20
"""A response that is sent whole lies in memory up to this size, then on disk."""
READ_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Order:
    """A request that was understood: who speaks what, into which container."""

    engine: Engine
    speech: Speech
    audio_format: AudioFormat

    def job(self, make_encoder: Callable[[int], Encoder]) -> Job:
        """Make the worker's job; engines that are not re-entrant speak one at a time."""
        return Job(
            partial(encoded, self.engine, self.speech, make_encoder),
            exclusive=None if self.engine.re_entrant else self.engine.id,
        )

    @property
    def headers(self) -> dict[str, str]:
        """What a player must know before the first byte."""
        rate = self.audio_format.coded_rate(self.engine.sample_rate)
        return {
            "X-Audio-Sample-Rate": str(rate),
            "X-Audio-Priming-Samples": str(self.audio_format.mse_lead_samples(rate)),
            "Content-Disposition": f'inline; filename="speech.{self.audio_format.extension}"',
            "Cache-Control": "no-store",
            # nginx and its kin would hold the stream back otherwise.
            "X-Accel-Buffering": "no",
        }


@dataclass(frozen=True, slots=True)
class Studio:
    """What every speech needs, put together once when the server starts."""

    settings: Settings
    catalogue: Catalogue
    worker: Worker
    make_encoder: EncoderFactory

    async def respond(self, request: Request[Any, Any, Any], body: SpeechBody) -> Stream:
        """Speak as it is made, or send it whole where `stream` is false.

        Raises the InvalidRequestError that names what is wrong with the request.
        """
        order = self._understand(body)
        return await (self._stream if body.stream else self._send_whole)(request, order)

    def _understand(self, body: SpeechBody) -> Order:
        if len(body.input) > self.settings.max_input_characters:
            raise InvalidRequestError(
                f"The text has {len(body.input)} characters;"
                f" at most {self.settings.max_input_characters} are taken at once.",
                param="input",
            )
        audio_format = find_format(body.response_format)
        engine, voice = self.catalogue.find(body.model, body.voice_name)
        speech = Speech(
            text=body.input,
            voice=voice,
            speed=body.speed,
            seed=body.seed,
            interval_seconds=body.streaming_interval,
        )
        return Order(engine, speech, audio_format)

    async def _stream(self, request: Request[Any, Any, Any], order: Order) -> Stream:
        pieces = self.worker.stream(order.job(partial(self.make_encoder, order.audio_format)))
        return await stream_body(
            request, pieces, media_type=order.audio_format.media_type, headers=order.headers
        )

    async def _send_whole(self, request: Request[Any, Any, Any], order: Order) -> Stream:
        """Write the container to a file first, since its header tells the length."""
        with ExitStack() as unless_sent:
            file = unless_sent.enter_context(SpooledTemporaryFile(max_size=FILE_MEMORY_BYTES))
            job = order.job(lambda rate: FileEncoder(order.audio_format, rate, file))
            # All of it goes into the file: what is awaited here is the end.
            await prime(request, self.worker.stream(job))
            size = file.seek(0, SEEK_END)
            file.seek(0)
            close = unless_sent.pop_all().close
        return Stream(
            _read(file),
            media_type=order.audio_format.media_type,
            headers={**order.headers, "Content-Length": str(size)},
            background=BackgroundTask(close),
        )


async def _read(file: IO[bytes]) -> AsyncGenerator[bytes]:
    while piece := await to_thread.run_sync(file.read, READ_BYTES):
        yield piece
