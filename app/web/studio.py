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
from app.schemas import SpeechBody
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import FileEncoder
from app.speech.order import Order, understand
from app.speech.stream import Encoder, EncoderFactory, encoded
from app.web.body import prime, stream_body
from app.worker import Job, Worker

FILE_MEMORY_BYTES: Final = 8 * 2**20
"""A response that is sent whole lies in memory up to this size, then on disk."""
READ_BYTES: Final = 65_536


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
        return understand(body, self.catalogue)

    async def _stream(self, request: Request[Any, Any, Any], order: Order) -> Stream:
        pieces = self.worker.stream(_plan(order, partial(self.make_encoder, order.audio_format)))
        return await stream_body(
            request, pieces, media_type=order.audio_format.media_type, headers=_describe(order)
        )

    async def _send_whole(self, request: Request[Any, Any, Any], order: Order) -> Stream:
        """Write the container to a file first, since its header tells the length."""
        with ExitStack() as unless_sent:
            file = unless_sent.enter_context(SpooledTemporaryFile(max_size=FILE_MEMORY_BYTES))
            job = _plan(order, partial(FileEncoder, order.audio_format, file=file))
            # All of it goes into the file: what is awaited here is the end.
            await prime(request, self.worker.stream(job))
            size = file.seek(0, SEEK_END)
            file.seek(0)
            close = unless_sent.pop_all().close
        return Stream(
            _read(file),
            media_type=order.audio_format.media_type,
            headers={**_describe(order), "Content-Length": str(size)},
            background=BackgroundTask(close),
        )


def _plan(order: Order, make_encoder: Callable[[int], Encoder]) -> Job:
    """Make the worker's job; engines that are not re-entrant speak one at a time."""
    return Job(
        partial(encoded, order.engine, order.speech, make_encoder),
        exclusive=None if order.engine.re_entrant else order.engine.id,
    )


def _describe(order: Order) -> dict[str, str]:
    """Tell a player what it must know before the first byte."""
    rate = order.engine.sample_rate
    return {
        "X-Audio-Sample-Rate": str(order.audio_format.coded_rate(rate)),
        "X-Audio-Priming-Samples": str(order.audio_format.mse_lead_samples),
        "Content-Disposition": f'inline; filename="speech.{order.audio_format.extension}"',
        "Cache-Control": "no-store",
        # nginx and its kin would hold the stream back otherwise.
        "X-Accel-Buffering": "no",
    }


async def _read(file: IO[bytes]) -> AsyncGenerator[bytes]:
    while piece := await to_thread.run_sync(file.read, READ_BYTES):
        yield piece
