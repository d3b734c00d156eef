"""Clients that leave where there is no stream yet: a whole file in the making, events to come."""

import threading
from tempfile import SpooledTemporaryFile
from typing import Final
from uuid import uuid4

import anyio
import pytest

from app.web import events, spool
from tests.faults.scene import STAGED, URL, Listener, staged, wait_for
from tests.faults.stage import Hold
from tests.web.asgi import Client

pytestmark = pytest.mark.anyio

closings: Final[list[str]] = []


class WatchedFile(SpooledTemporaryFile[bytes]):
    """Notes on which thread it is closed."""

    def close(self) -> None:
        closings.append(threading.current_thread().name)
        super().close()


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    closings.clear()
    monkeypatch.setattr(spool, "SpooledTemporaryFile", WatchedFile)


async def test_a_whole_file_whose_client_leaves_is_closed_when_nobody_writes_to_it() -> None:
    async with staged() as scene:
        hold = scene.stage.holds["next 3"] = Hold()
        listener = Listener(scene.app)
        scene.listen(listener, {**STAGED, "stream": False})
        await wait_for(hold)
        listener.hang_up.set()
        await anyio.wait_all_tasks_blocked()
        assert closings == []
        hold.release.set()
        await listener.ended.wait()
        assert (listener.reply.status, closings) == (499, ["mlx"])
        assert scene.stage.minutes["close"] == 1
        assert scene.stage.minutes["next 4"] == 0
        await scene.end()


@pytest.mark.parametrize("step", ["generate", "next 0", "next 3", "end"])
async def test_a_whole_file_that_fails_is_a_500_and_closed_once(step: str) -> None:
    async with staged() as scene:
        scene.stage.faults[step] = ValueError
        reply = await Client(scene.app).post(URL, {**STAGED, "stream": False})
        assert (reply.status, closings) == (500, ["mlx"])
        await scene.end()


async def test_a_whole_file_is_closed_once_it_is_sent() -> None:
    async with staged() as scene:
        reply = await Client(scene.app).post(URL, {**STAGED, "stream": False})
        assert (reply.status, len(closings)) == (200, 1)
        await scene.end()


async def test_a_whole_file_in_the_making_when_the_server_ends_is_a_503_and_closed_once() -> None:
    async with staged() as scene:
        hold = scene.stage.holds["next 3"] = Hold()
        listener = Listener(scene.app)
        scene.listen(listener, {**STAGED, "stream": False})
        await wait_for(hold)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(scene.worker.close)
            await anyio.wait_all_tasks_blocked()
            hold.release.set()
        await listener.ended.wait()
        assert (listener.reply.status, len(closings)) == (503, 1)
        scene.bystander.resume()


async def test_who_waits_for_the_events_of_no_speech_and_leaves_is_waited_for_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "WAIT_SECONDS", float("inf"))
    async with staged() as scene, anyio.create_task_group() as tasks:
        client = Client(scene.app)
        tasks.start_soon(client.get, f"{URL}/{uuid4()}/events")
        await anyio.wait_all_tasks_blocked()
        client.hang_up.set()
        await scene.end()
    assert client.reply.status == 499
