"""A reader that leaves, whatever its job is at, stops that job within one piece."""

import asyncio
from itertools import islice

import anyio
import pytest

from app.worker import Job
from tests.jobs import (
    Held,
    Reader,
    Source,
    endless,
    idling,
    working,
)
from tests.turns import settle

pytestmark = pytest.mark.anyio


async def test_cancel_while_waiting_leaves_the_queue_at_once_and_never_opens_the_job() -> None:
    async with working() as worker:
        holder = worker.stream(Job(Source(endless()).open, exclusive="model"))
        await anext(holder)
        cancelled = Source(endless())
        reader = Reader(worker, Job(cancelled.open, exclusive="model"))
        await anyio.lowlevel.checkpoint()
        assert (worker.running, worker.waiting) == (1, 1)
        await reader.cancel()
        assert (worker.running, worker.waiting) == (1, 0)
        await holder.aclose()
        await worker.wait_until_idle()
        assert cancelled.made == 0


async def test_cancel_while_waiting_does_not_let_others_overtake_the_holder() -> None:
    async with working() as worker:
        holder = worker.stream(Job(Source(endless()).open, exclusive="model"))
        await anext(holder)
        cancelled = Reader(worker, Job(Source(endless()).open, exclusive="model"))
        waiting = Source(endless())
        other = Reader(worker, Job(waiting.open, exclusive="model"))
        await anyio.lowlevel.checkpoint()
        await cancelled.cancel()
        await settle(worker)
        assert waiting.made == 0
        await other.cancel()
        await holder.aclose()


async def test_cancel_while_priming_closes_the_job_after_that_piece() -> None:
    async with working() as worker:
        held = Held()
        reader = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        await reader.cancel()
        held.release.set()
        await worker.wait_until_idle()
        assert (held.source.made, held.source.closings) == (1, 1)


async def test_cancel_while_the_piece_that_fills_the_lead_is_made() -> None:
    async with working(lead_bytes=1) as worker:
        held = Held(b"fills the lead")
        reader = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        await reader.cancel()
        held.release.set()
        await worker.wait_until_idle()
        assert held.source.is_closed


async def test_cancel_while_the_job_finds_nothing_to_do() -> None:
    async with working() as worker:
        held = Held(piece=None)
        reader = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        await reader.cancel()
        held.release.set()
        await worker.wait_until_idle()
        assert held.source.is_closed


async def test_cancel_while_the_job_comes_to_its_end() -> None:
    async with working() as worker:
        held = Held()
        # The first piece is passed over, so that the end follows in the same turn.
        held.source.pieces = islice(held.source.pieces, 1, 1)
        reader = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        await reader.cancel()
        held.release.set()
        await worker.wait_until_idle()
        assert held.source.is_closed
        assert await worker.call(lambda: "alive") == "alive"


async def test_cancel_before_the_first_turn_never_opens_the_job() -> None:
    async with working() as worker:
        held = Held()
        holder = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        ready = Source(endless())
        reader = Reader(worker, Job(ready.open))
        await anyio.lowlevel.checkpoint()
        await reader.cancel()
        await holder.cancel()
        held.release.set()
        await worker.wait_until_idle()
        assert (ready.made, ready.closings) == (0, 0)


async def test_cancel_between_pieces_stops_the_job_within_one() -> None:
    async with working(lead_bytes=1_000_000_000) as worker:
        source = Source(endless())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        await pieces.aclose()
        await worker.wait_until_idle()
        made = source.made
        await settle(worker)
        assert (source.made, source.closings) == (made, 1)


async def test_cancel_while_parked_closes_the_job_at_once() -> None:
    async with working(lead_bytes=20) as worker:
        source = Source(endless())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        await settle(worker)
        made = source.made
        await pieces.aclose()
        await worker.wait_until_idle()
        assert (source.made, source.closings) == (made, 1)


async def test_cancel_while_idle_closes_the_job_at_once() -> None:
    async with working() as worker:
        source = Source(idling())
        reader = Reader(worker, Job(source.open))
        await settle(worker)
        await reader.cancel()
        await worker.wait_until_idle()
        assert (source.made, source.closings) == (2, 1)


async def test_cancel_while_draining_lets_the_worker_become_idle() -> None:
    async with working(lead_bytes=1) as worker:
        source = Source(endless())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        worker.refuse_new()
        await pieces.aclose()
        await worker.wait_until_idle()
        assert source.is_closed


async def test_a_cancelled_job_is_closed_before_the_others_take_their_turns() -> None:
    async with working() as worker:
        held = Held()
        holder = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        log: list[str] = []
        readers = [Reader(worker, Job(Source(iter([b"x"]), log).open)) for _ in range(3)]
        await anyio.lowlevel.checkpoint()
        await holder.cancel()
        seen = asyncio.create_task(worker.call(lambda: log.append("call")))
        await anyio.lowlevel.checkpoint()
        held.release.set()
        await seen
        await asyncio.wait([reader.task for reader in readers])
        assert "".join(log) == "callxxx"
        assert held.source.is_closed


async def test_an_error_of_on_position_ends_its_own_stream() -> None:
    def refuse(_position: int) -> None:
        raise ValueError("not listening")

    async with working() as worker:
        source = Source(endless())
        with pytest.raises(ValueError, match="not listening"):
            await anext(worker.stream(Job(source.open), on_position=refuse))
        await worker.wait_until_idle()
