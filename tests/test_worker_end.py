"""Draining, idleness and closing: what each leaves of the jobs that there are."""

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import chain

import anyio
import pytest

from app.errors import ShuttingDownError
from app.worker import Job, Worker
from tests.jobs import (
    Held,
    Reader,
    Source,
    collect,
    endless,
    idling,
    working,
)
from tests.turns import Parcel

pytestmark = pytest.mark.anyio


async def test_refusing_new_jobs_lets_the_running_and_the_waiting_ones_finish() -> None:
    async with working(max_running=1) as worker:
        readers = [
            Reader(worker, Job(Source(iter([b"a"] * 3)).open), max_pieces=3) for _ in range(3)
        ]
        await anyio.lowlevel.checkpoint()
        worker.refuse_new("We are closing.")
        with pytest.raises(ShuttingDownError, match="We are closing"):
            await anext(worker.stream(Job(Source(endless()).open)))
        assert await worker.call(lambda: "still") == "still"
        await worker.wait_until_idle()
        await asyncio.wait([reader.task for reader in readers])
        assert [reader.data for reader in readers] == [b"aaa"] * 3


async def test_waiting_for_idleness_ends_at_once_when_there_is_no_job() -> None:
    async with working() as worker:
        await worker.wait_until_idle()


class Scene:
    """A worker with a job in some situation, and a reader that got no further than that."""

    def __init__(self) -> None:
        self.worker = Worker(lead_bytes=20)
        self.held = Held()
        self.source = self.held.source
        self._others: list[AsyncGenerator[Parcel]] = []

    async def wait(self) -> AsyncGenerator[Parcel]:
        self._others.append(self.worker.stream(Job(Source(endless()).open, exclusive="model")))
        await anext(self._others[0])
        return self.worker.stream(Job(self.source.open, exclusive="model"))

    async def prime(self) -> AsyncGenerator[Parcel]:
        return self.worker.stream(Job(self.source.open))

    async def go_on(self) -> AsyncGenerator[Parcel]:
        self.source.pieces = chain([b"first"], self.source.pieces)
        return await self._begin()

    async def park(self) -> AsyncGenerator[Parcel]:
        self.source.pieces = endless()
        return await self._begin()

    async def idle(self) -> AsyncGenerator[Parcel]:
        self.source.pieces = idling()
        return await self._begin()

    async def drain(self) -> AsyncGenerator[Parcel]:
        pieces = await self.park()
        self.worker.refuse_new()
        return pieces

    async def _begin(self) -> AsyncGenerator[Parcel]:
        pieces = self.worker.stream(Job(self.source.open))
        await anext(pieces)
        return pieces


@pytest.mark.parametrize(
    ("bring", "closings"),
    [
        pytest.param(Scene.wait, 0, id="waiting"),
        pytest.param(Scene.prime, 1, id="priming"),
        pytest.param(Scene.go_on, 1, id="between pieces"),
        pytest.param(Scene.park, 1, id="parked"),
        pytest.param(Scene.idle, 1, id="idle"),
        pytest.param(Scene.drain, 1, id="draining"),
    ],
)
async def test_close_ends_a_job_with_an_error_while_it_is(
    bring: Callable[[Scene], Awaitable[AsyncGenerator[Parcel]]], closings: int
) -> None:
    scene = Scene()
    pieces = await bring(scene)
    reading = asyncio.create_task(collect(pieces))
    if bring in {Scene.prime, Scene.go_on}:
        await scene.held.wait_until_begun()
    else:
        await anyio.lowlevel.checkpoint()
    closing = asyncio.create_task(scene.worker.close())
    await anyio.lowlevel.checkpoint()
    scene.held.release.set()
    await closing
    with pytest.raises(ShuttingDownError):
        await reading
    assert scene.source.closings == closings
    assert (scene.worker.running, scene.worker.waiting, scene.worker.jobs) == (0, 0, 0)
    await scene.worker.wait_until_idle()


async def test_nothing_is_taken_after_close() -> None:
    worker = Worker()
    await worker.close()
    with pytest.raises(ShuttingDownError):
        await anext(worker.stream(Job(Source(endless()).open)))
    with pytest.raises(ShuttingDownError):
        await worker.call(lambda: None)


def leave_loop(worker: Worker, job: Job[Parcel]) -> AsyncGenerator[Parcel]:
    """Read one piece on an event loop that then ends without closing anything."""
    loop = asyncio.new_event_loop()
    pieces = worker.stream(job)
    loop.run_until_complete(anext(pieces))
    loop.close()
    return pieces


def test_a_job_whose_reader_lost_its_event_loop_is_closed() -> None:
    worker = Worker(lead_bytes=1_000_000_000)
    source = Source(endless())
    pieces = leave_loop(worker, Job(source.open))
    asyncio.run(worker.wait_until_idle())
    assert source.is_closed
    asyncio.run(worker.close())
    del pieces


class Plain:
    """An iterator that is no generator, so that it does not close itself."""

    def __init__(self) -> None:
        self.closings: list[str] = []

    def __iter__(self) -> "Plain":
        """Be its own iterator."""
        return self

    def __next__(self) -> Parcel:
        """End at once."""
        raise StopIteration

    def close(self) -> None:
        self.closings.append(threading.current_thread().name)


async def test_an_iterator_that_is_no_generator_is_closed_too_when_it_ends() -> None:
    async with working() as worker:
        plain = Plain()
        assert await collect(worker.stream(Job(lambda: plain))) == b""
        assert plain.closings == ["mlx"]


async def test_nothing_is_kept_of_a_job_that_is_over() -> None:
    async with working() as worker:
        source = Source(iter([b"a"]))
        trace = weakref.ref(source)
        assert await collect(worker.stream(Job(source.open))) == b"a"
        del source
        while trace() is not None:
            gc.collect()
            await anyio.lowlevel.checkpoint()


async def test_nothing_is_kept_of_a_job_that_is_over_while_its_client_has_others() -> None:
    async with working() as worker:
        held = Held()
        source = Source(chain([b"a"], held.source.pieces))
        trace = weakref.ref(source)
        first = worker.stream(Job(source.open))
        await anext(first)
        await held.wait_until_begun()
        other = Held()
        reader = Reader(worker, Job(other.source.open))
        await anyio.lowlevel.checkpoint()
        await first.aclose()
        del source, first
        held.release.set()
        await other.wait_until_begun()
        held.source.pieces = iter(())
        gc.collect()
        assert trace() is None
        await reader.cancel()
        other.release.set()
