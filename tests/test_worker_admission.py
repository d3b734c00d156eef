"""Who runs at once, who waits, what those that wait are told, and who is turned away."""

import asyncio
from contextlib import aclosing
from itertools import count

import anyio
import pytest

from app.errors import OverloadedError
from app.worker import Job
from tests.jobs import (
    Reader,
    Source,
    collect,
    endless,
    working,
)
from tests.turns import settle

pytestmark = pytest.mark.anyio


async def test_one_job_too_many_is_refused_with_a_time_and_room_comes_back() -> None:
    async with working(max_running=1, max_waiting=0) as worker:
        source = Source(endless())
        async with aclosing(worker.stream(Job(source.open))) as pieces:
            await anext(pieces)
            with pytest.raises(OverloadedError) as refusal:
                await anext(worker.stream(Job(Source(endless()).open)))
            assert refusal.value.retry_after_seconds == 1
        await worker.wait_until_idle()
        assert await collect(worker.stream(Job(Source(iter([b"a"])).open))) == b"a"


async def test_a_client_with_too_many_jobs_is_refused_and_others_are_not() -> None:
    async with working(max_running=1, max_per_client=2) as worker:
        readers = [Reader(worker, Job(Source(endless()).open, client="a")) for _ in range(2)]
        await anyio.lowlevel.checkpoint()
        with pytest.raises(OverloadedError, match="2 speeches"):
            await anext(worker.stream(Job(Source(endless()).open, client="a")))
        other = Reader(worker, Job(Source(endless()).open, client="b"))
        await anyio.lowlevel.checkpoint()
        assert worker.jobs == 3
        for reader in (other, *readers):
            await reader.cancel()
        await worker.wait_until_idle()
        again = worker.stream(Job(Source(iter([b"x"])).open, client="a"))
        assert await collect(again) == b"x"


async def test_a_job_that_starts_at_once_is_told_0_and_nothing_else() -> None:
    async with working() as worker:
        reader = Reader(worker, Job(Source(iter([b"a"])).open), max_pieces=1)
        await reader.task
        assert reader.positions == [0]


async def test_waiting_jobs_are_told_their_positions_each_time_they_change() -> None:
    async with working(max_running=1) as worker:
        holder = worker.stream(Job(Source(endless()).open, client="x"))
        await anext(holder)
        jobs = [Job(Source(iter([b"p"])).open, client=name) for name in "aaba"]
        readers = [Reader(worker, job, max_pieces=1) for job in jobs]
        await settle(worker)
        # b's first overtakes a's second; then the first of all gives up.
        assert [reader.positions for reader in readers] == [[1], [2, 3], [2], [4]]
        await readers[0].cancel()
        await settle(worker)
        # With a's first gone its second, which came before b's first, is a's first.
        assert [reader.positions for reader in readers[1:]] == [[2, 3, 1], [2], [4, 3]]
        await holder.aclose()
        await asyncio.wait([reader.task for reader in readers])
        assert [reader.positions[-1] for reader in readers[1:]] == [0, 0, 0]
        assert readers[0].positions == [1]


async def test_a_waiting_job_whose_key_is_free_passes_those_whose_key_is_held() -> None:
    async with working(max_running=2) as worker:
        holders = [
            worker.stream(Job(Source(endless()).open, exclusive=key)) for key in ("one", "two")
        ]
        for holder in holders:
            await anext(holder)
        first = Reader(worker, Job(Source(endless()).open, exclusive="one"))
        second = Reader(worker, Job(Source(endless()).open, exclusive="two"))
        await settle(worker)
        await holders[1].aclose()
        await settle(worker)
        assert (first.positions, second.positions) == ([1], [2, 0])
        await first.cancel()
        await second.cancel()
        await holders[0].aclose()


async def test_the_measured_pace_is_known_once_something_was_made() -> None:
    async with working() as worker:
        assert worker.cost_seconds == 0.0
        await collect(worker.stream(Job(Source(iter([b"a"] * 3)).open)))
        assert worker.cost_seconds > 0.0


async def test_those_turned_away_are_told_how_long_a_job_takes_at_the_measured_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(0, 10)
    monkeypatch.setattr("app.worker.perf_counter", lambda: float(next(clock)))
    async with working(max_running=1, max_waiting=0) as worker:
        # Two pieces and the end take 10 seconds each, by that clock.
        await collect(worker.stream(Job(Source(iter([b"a", b"b"])).open)))
        assert worker.cost_seconds == pytest.approx(15, rel=0.01)
        async with aclosing(worker.stream(Job(Source(endless()).open))) as pieces:
            await anext(pieces)
            with pytest.raises(OverloadedError) as refusal:
                await anext(worker.stream(Job(Source(endless()).open)))
        assert refusal.value.retry_after_seconds in range(20, 35)
