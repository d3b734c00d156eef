"""Two speeches at once: one that things happen to, and a bystander that must not notice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup
from litestar import Litestar
from litestar.types import Message

from app.main import create_app
from app.schemas import SpeechBody
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import StreamEncoder
from app.speech.order import understand
from app.speech.stream import encoded
from app.worker import Worker
from tests.faults.stage import (
    STAGED_FORMAT,
    WAIT_SECONDS,
    Hold,
    Stage,
    StagedEncoders,
    StagedEngine,
)
from tests.turns import settle
from tests.web.asgi import Client, living

URL: Final = "/v1/audio/speech"
CALM: Final = {"input": "one two three " * 4, "voice": "calm", "response_format": "mp3"}
STAGED: Final = {"input": "Whatever.", "voice": "staged", "response_format": STAGED_FORMAT}


def speak_alone(body: dict[str, Any]) -> bytes:
    """Give what the body asks for, made with neither worker nor server."""
    order = understand(SpeechBody(**body), Catalogue([StagedEngine(Stage())], voice_aliases={}))
    pieces = encoded(order.engine, order.speech, partial(StreamEncoder, order.audio_format))
    return b"".join(piece.data for piece in pieces if piece is not None)


CALM_WHOLE: Final = speak_alone(CALM)
STAGED_WHOLE: Final = speak_alone(STAGED)


class Listener(Client):
    """A client that can stop taking what it is sent."""

    def __init__(self, app: Litestar, *, most_pieces: int | None = None) -> None:
        """Take `most_pieces` and no more before `resume`; None: take all."""
        super().__init__(app)
        self._may_take = anyio.Event()
        self._most_pieces = most_pieces
        self.ended = anyio.Event()

    def pause(self) -> None:
        """Take nothing more."""
        self._most_pieces = 0

    def resume(self) -> None:
        """Take whatever comes."""
        self._may_take.set()

    async def listen(self, body: dict[str, Any]) -> None:
        await self.post(URL, body)
        self.ended.set()

    async def _send(self, message: Message) -> None:
        most = self._most_pieces
        is_body = message["type"] == "http.response.body"
        if is_body and most is not None and len(self.reply.pieces) >= most:
            await self._may_take.wait()
        await super()._send(message)


class Scene:
    """The server with both speeches under way."""

    def __init__(self, app: Litestar, worker: Worker, stage: Stage, tasks: TaskGroup) -> None:
        self.app: Final = app
        self.stage: Final = stage
        self.worker: Final = worker
        self.bystander: Final = Listener(app, most_pieces=1)
        self._tasks: Final = tasks

    def start(self, *, most_pieces: int | None = None) -> Listener:
        """Ask for a staged speech."""
        listener = Listener(self.app, most_pieces=most_pieces)
        self.listen(listener, STAGED)
        return listener

    def listen(self, listener: Listener, body: dict[str, Any]) -> None:
        """Let the listener ask while other things go on."""
        self._tasks.start_soon(listener.listen, body)

    async def begin(self) -> None:
        """Let the bystander hear a first piece, and then take a rest."""
        self._tasks.start_soon(self.bystander.listen, CALM)
        await self.rest()
        assert len(self.bystander.reply.pieces) == 1

    async def rest(self) -> None:
        """Wait until nothing goes on but what waits for a client, or is held."""
        await settle(self.worker)

    async def end(self) -> None:
        """Let the bystander hear the rest, which must be all there is; then no job is left."""
        self.bystander.resume()
        await self.bystander.ended.wait()
        assert self.bystander.reply.complete
        assert self.bystander.reply.body == CALM_WHOLE
        await self.worker.wait_until_idle()

    def drain(self) -> None:
        """Take no new speeches, as a server does that was told to stop."""
        self.app.state.readiness.drain()
        self.worker.refuse_new()

    def expect_all_closed(self) -> None:
        """Voice and encoder were closed as often as they were opened, on the thread that may."""
        stage = self.stage
        assert stage.minutes["close"] == stage.succeeded("generate")
        assert stage.minutes["encoder close"] == stage.succeeded("open")
        assert stage.threads <= {"mlx"}

    def count_ends(self) -> dict[str, int]:
        """Count how the staged speeches ended, as the metrics do."""
        return {
            sample.labels["outcome"]: int(sample.value)
            for metric in self.app.state.registry.collect()
            for sample in metric.samples
            if sample.name == "legato_streams_total" and sample.labels["format"] == STAGED_FORMAT
        }


@asynccontextmanager
async def staged(**changes: Any) -> AsyncGenerator[Scene]:  # noqa: ANN401 - settings of any type
    """Open a scene, in which the bystander has begun."""
    stage = Stage()
    app = create_app(
        Settings(lead_bytes=4_096, **changes),
        load=lambda _: [StagedEngine(stage)],
        make_encoder=StagedEncoders(stage),
    )
    async with living(app), anyio.create_task_group() as tasks:
        scene = Scene(app, app.state.studio.worker, stage, tasks)
        await scene.begin()
        yield scene


async def wait_for(hold: Hold) -> None:
    """Wait until the thread is in the middle of that step."""
    assert await anyio.to_thread.run_sync(hold.begun.wait, WAIT_SECONDS)
