"""A job that fails, wherever and with whatever, is its own reader's trouble alone."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from functools import partial

import pytest

from app.worker import Job
from tests.jobs import (
    Reader,
    Source,
    collect,
    endless,
    failing,
    raise_in_open,
    working,
)
from tests.turns import Parcel, settle

pytestmark = pytest.mark.anyio


async def test_a_failure_reaches_its_own_reader_and_no_other() -> None:
    async with working() as worker:
        steady = Source(endless())
        async with aclosing(worker.stream(Job(steady.open))) as pieces:
            await anext(pieces)
            with pytest.raises(ValueError, match="the model broke"):
                await collect(worker.stream(Job(Source(failing()).open)))
            assert await anext(pieces) == Parcel(b"piece")


async def test_a_failure_while_priming_is_raised_at_the_first_piece() -> None:
    def open_broken() -> Iterator[Parcel]:
        raise ValueError("no such voice")

    async with working() as worker:
        with pytest.raises(ValueError, match="no such voice"):
            await anext(worker.stream(Job(open_broken)))
        assert worker.jobs == 0


async def test_a_failure_between_pieces_comes_after_the_pieces_before_it() -> None:
    async with working() as worker:
        source = Source(failing())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        await settle(worker)
        assert source.is_closed
        with pytest.raises(ValueError, match="the model broke"):
            await anext(pieces)


async def test_a_failure_of_an_exclusive_job_lets_the_waiting_one_run() -> None:
    async with working() as worker:
        first = worker.stream(Job(Source(failing()).open, exclusive="model"))
        await anext(first)
        second = Reader(worker, Job(Source(iter([b"x"])).open, exclusive="model"), max_pieces=1)
        with pytest.raises(ValueError, match="the model broke"):
            await collect(first)
        await second.task
        assert second.data == b"x"


async def test_a_failure_after_parking_is_raised_once_the_reader_gets_there() -> None:
    async with working(lead_bytes=1) as worker:
        pieces = worker.stream(Job(Source(failing()).open))
        assert await anext(pieces) == Parcel(b"one")
        with pytest.raises(ValueError, match="the model broke"):
            await anext(pieces)


async def test_a_failure_after_idling_is_raised_at_once() -> None:
    def find_nothing_then_fail() -> Iterator[bytes | None]:
        yield None
        raise ValueError("the model broke")

    async with working() as worker:
        job = Job(Source(find_nothing_then_fail()).open)
        reader = Reader(worker, job)
        await settle(worker)
        worker.nudge(job)
        with pytest.raises(ValueError, match="the model broke"):
            await reader.task


async def test_a_failure_while_draining_lets_the_worker_become_idle() -> None:
    async with working(lead_bytes=1) as worker:
        pieces = worker.stream(Job(Source(failing()).open))
        await anext(pieces)
        worker.refuse_new()
        with pytest.raises(ValueError, match="the model broke"):
            await anext(pieces)
        await worker.wait_until_idle()


class Absurd:
    """A piece that cannot even say what it is."""

    size = 1

    @property
    def cost(self) -> float:
        raise SystemExit


def raise_in_next(kind: type[BaseException]) -> Iterator[Parcel]:
    raise kind
    yield


def raise_in_close(kind: type[BaseException]) -> Iterator[Parcel]:
    try:
        while True:
            yield Parcel(b"a" * 100)
    finally:
        raise kind


KINDS = [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["open", "next"])
async def test_whatever_a_job_raises_is_an_error_for_its_reader_and_leaves_the_thread_alive(
    kind: type[BaseException], step: str
) -> None:
    async with working() as worker:
        open_ = raise_in_open(kind) if step == "open" else partial(raise_in_next, kind)
        with pytest.raises(ValueError if kind is ValueError else RuntimeError) as failure:
            await anext(worker.stream(Job(open_)))
        assert kind in {type(failure.value), type(failure.value.__cause__)}
        await worker.wait_until_idle()
        assert await worker.call(lambda: "alive") == "alive"


@pytest.mark.parametrize("kind", KINDS)
async def test_whatever_a_job_raises_while_it_is_closed_leaves_the_thread_alive(
    kind: type[BaseException],
) -> None:
    async with working() as worker:
        pieces = worker.stream(Job(partial(raise_in_close, kind), exclusive="model"))
        await anext(pieces)
        await pieces.aclose()
        await worker.wait_until_idle()
        after = Source(iter([b"x"]))
        assert await collect(worker.stream(Job(after.open, exclusive="model"))) == b"x"


async def test_a_job_whose_opening_raises_stop_iteration_has_failed() -> None:
    async with working() as worker:
        with pytest.raises(RuntimeError, match="StopIteration"):
            await anext(worker.stream(Job(raise_in_open(StopIteration))))


async def test_a_piece_that_cannot_tell_its_cost_fails_its_own_job() -> None:
    async with working() as worker:
        with pytest.raises(RuntimeError, match="SystemExit"):
            await anext(worker.stream(Job(lambda: iter([Absurd()]))))


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
async def test_a_piece_of_absurd_cost_fails_its_own_job(cost: float) -> None:
    async with working() as worker:
        with pytest.raises(ValueError, match="cost of"):
            await anext(worker.stream(Job(lambda: iter([Parcel(b"a", cost)]))))
