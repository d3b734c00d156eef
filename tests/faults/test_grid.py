"""Close x cancel x fail x slow reader: whatever happens at whichever moment ends as documented."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

import anyio
import pytest

from tests.faults.scene import CALM_WHOLE, STAGED_WHOLE, Listener, Scene, staged, wait_for
from tests.faults.stage import Hold
from tests.web.asgi import Reply

pytestmark = pytest.mark.anyio

End = Literal["completed", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a speech stands: in which step it is held, and which step is next for whom.

    `most_pieces` is what its listener has taken by then, where it takes no more.
    """

    name: str
    hold: str | None
    model_step: str
    encoder_step: str
    most_pieces: int | None = None
    has_begun: bool = True
    max_streams: int = 2
    is_draining: bool = False


MOMENTS: Final = (
    Moment("queued", None, "next 0", "open", has_begun=False, max_streams=1),
    Moment("priming", "next 0", "next 0", "feed 0", has_begun=False),
    Moment("between chunks", "next 3", "next 3", "feed 3"),
    Moment("socket full", None, "next 3", "feed 3", most_pieces=1),
    Moment("finishing", "end", "end", "finish"),
    Moment("shutdown", "next 3", "next 3", "feed 3", is_draining=True),
)


class Cell:
    """A staged speech at a moment, and what can happen to it there."""

    def __init__(self, scene: Scene, moment: Moment, listener: Listener) -> None:
        self.scene, self.moment, self.listener = scene, moment, listener

    def go_on(self) -> None:
        """Let the voice speak, the bystander end, and whoever listens take what there is."""
        for hold in self.scene.stage.holds.values():
            hold.release.set()
        if self.moment.max_streams == 1:
            self.scene.bystander.resume()

    async def lose_the_client(self) -> None:
        self.listener.hang_up.set()
        await self.listener.ended.wait()
        self.go_on()

    async def slow_the_client_down(self) -> None:
        self.listener.pause()
        self.go_on()
        await self.scene.rest()
        self.listener.resume()

    async def break_the_model(self) -> None:
        await self._break(self.moment.model_step)

    async def break_the_encoder(self) -> None:
        await self._break(self.moment.encoder_step)

    async def drain_the_server(self) -> None:
        self.scene.drain()
        self.go_on()
        self.listener.resume()

    async def end_the_server(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.scene.worker.close)
            await anyio.wait_all_tasks_blocked()
            self.go_on()
        self.listener.resume()
        self.scene.bystander.resume()

    async def _break(self, step: str) -> None:
        self.scene.stage.faults[step] = ValueError
        self.go_on()
        self.listener.resume()


@asynccontextmanager
async def reach(moment: Moment) -> AsyncGenerator[Cell]:
    """Bring a staged speech to that moment, with a bystander in the middle of its own."""
    async with staged(max_streams=moment.max_streams) as scene:
        hold = Hold()
        if moment.hold is not None:
            scene.stage.holds[moment.hold] = hold
        listener = scene.start(most_pieces=moment.most_pieces)
        if moment.hold is not None:
            await wait_for(hold)
        else:
            await scene.rest()
        if moment.is_draining:
            scene.drain()
        assert not scene.bystander.ended.is_set()
        yield Cell(scene, moment, listener)


@dataclass(frozen=True, slots=True)
class Cause:
    """What happens, how a speech ends by it, and the status where no byte was sent yet."""

    name: str
    strike: Callable[[Cell], Awaitable[None]]
    end: End
    early_status: int = 200


CAUSES: Final = (
    Cause("client gone", Cell.lose_the_client, "cancelled", 499),
    Cause("client slow", Cell.slow_the_client_down, "completed"),
    Cause("model raises", Cell.break_the_model, "failed", 500),
    Cause("encoder raises", Cell.break_the_encoder, "failed", 500),
    Cause("server drains", Cell.drain_the_server, "completed"),
    Cause("server ends", Cell.end_the_server, "failed", 503),
)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.name)
async def test_the_speech_ends_as_documented_and_the_bystander_hears_all(
    moment: Moment, cause: Cause
) -> None:
    async with reach(moment) as cell:
        scene, reply = cell.scene, cell.listener.reply
        await cause.strike(cell)
        await cell.listener.ended.wait()
        check_reply(moment, cause, reply)
        if cause.strike is Cell.end_the_server:
            await scene.bystander.ended.wait()
            assert not scene.bystander.reply.complete
            assert CALM_WHOLE.startswith(scene.bystander.reply.body)
        else:
            await scene.end()
        assert scene.worker.jobs == 0
        scene.expect_all_closed()
        assert scene.count_ends() == {cause.end: 1}


def check_reply(moment: Moment, cause: Cause, reply: Reply) -> None:
    """Expect a status for what happens before the first byte, and a broken body after it."""
    if cause.end == "completed":
        assert (reply.status, reply.complete) == (200, True)
        assert reply.body == STAGED_WHOLE
    elif moment.has_begun:
        assert (reply.status, reply.complete) == (200, False)
        assert STAGED_WHOLE.startswith(reply.body)
        assert (reply.failure is None) == (cause.end == "cancelled")
    else:
        assert reply.status == cause.early_status
