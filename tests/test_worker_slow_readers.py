"""A reader that takes its time costs nobody else theirs."""

from contextlib import aclosing
from itertools import chain

import pytest

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


async def test_a_slow_reader_parks_its_own_job_only() -> None:
    async with working(lead_bytes=20) as worker:
        slow = Source(endless())
        async with aclosing(worker.stream(Job(slow.open))) as pieces:
            await anext(pieces)
            await settle(worker)
            assert slow.made == 1 + 20 // len(b"piece")
            quick = Source(iter([b"x"] * 100))
            assert len(await collect(worker.stream(Job(quick.open)))) == 100


async def test_a_parked_job_goes_on_where_it_stopped_once_it_is_read() -> None:
    async with working(lead_bytes=3) as worker:
        letters = [bytes([letter]) for letter in range(97, 123)]
        pieces = worker.stream(Job(Source(iter(letters)).open))
        received = b""
        async for piece in pieces:
            await settle(worker)
            received += piece.data
        assert received == b"".join(letters)


async def test_a_slow_reader_while_draining_gets_all_that_was_promised() -> None:
    async with working(lead_bytes=1) as worker:
        pieces = worker.stream(Job(Source(iter([b"a"] * 20)).open))
        received = await anext(pieces)
        worker.refuse_new()
        await settle(worker)
        assert received.data + await collect(pieces) == b"a" * 20
        await worker.wait_until_idle()


async def test_a_slow_reader_of_an_exclusive_job_keeps_the_others_of_that_key_waiting() -> None:
    async with working(lead_bytes=1) as worker:
        slow = worker.stream(Job(Source(iter([b"a"] * 2)).open, exclusive="model"))
        await anext(slow)
        waiting = Source(iter([b"x"]))
        reader = Reader(worker, Job(waiting.open, exclusive="model"), max_pieces=1)
        await settle(worker)
        assert waiting.made == 0
        await collect(slow)
        await reader.task
        assert reader.data == b"x"


async def test_a_slow_reader_that_is_idle_keeps_what_it_has_not_taken() -> None:
    async with working() as worker:
        source = Source(iter([b"a", b"b", None, b"c"]))
        job = Job(source.open)
        pieces = worker.stream(job)
        first = await anext(pieces)
        await settle(worker)
        worker.nudge(job)
        await settle(worker)
        assert first.data + await collect(pieces) == b"abc"


async def test_a_job_is_parked_as_soon_as_its_lead_is_full() -> None:
    async with working(lead_bytes=20) as worker:
        source = Source(chain([b"first", None], endless()))
        job = Job(source.open)
        async with aclosing(worker.stream(job)) as pieces:
            await anext(pieces)
            await settle(worker)
            worker.nudge(job)
            await settle(worker)
            assert source.made == 2 + 20 // len(b"piece")
