"""The turns on the MLX thread: who gets one, and who rests."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from functools import partial
from itertools import chain, islice

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.turns import LEAST_COST
from app.worker import Job, Worker
from tests.jobs import (
    WAIT_SECONDS,
    Held,
    Reader,
    Source,
    collect,
    endless,
    raise_in_open,
    working,
)
from tests.turns import Parcel, settle

pytestmark = pytest.mark.anyio


async def test_pieces_arrive_whole_and_in_order() -> None:
    async with working() as worker:
        source = Source(iter([b"a", b"b", b"c"]))
        assert await collect(worker.stream(Job(source.open))) == b"abc"
        assert source.is_closed


async def test_a_piece_of_no_size_is_delivered_and_never_parks() -> None:
    async with working(lead_bytes=0) as worker:
        source = Source(iter([b""] * 50))
        async with aclosing(worker.stream(Job(source.open))) as pieces:
            assert await anext(pieces) == Parcel(b"")
            await settle(worker)
            assert source.made == 50
            assert [piece.data async for piece in pieces] == [b""] * 49


async def test_opening_advancing_and_closing_happen_on_the_one_thread() -> None:
    async with working() as worker:
        source = Source(endless())
        async with aclosing(worker.stream(Job(source.open))) as pieces:
            await anext(pieces)
        await worker.wait_until_idle()
        assert source.threads == {"mlx"}
        assert await worker.call(lambda: threading.current_thread().name) == "mlx"


async def test_nothing_starts_before_the_first_piece_is_asked_for() -> None:
    async with working() as worker:
        source = Source(iter([b"a"]))
        pieces = worker.stream(Job(source.open))
        await settle(worker)
        assert source.made == 0
        await pieces.aclose()
        assert worker.jobs == 0


async def test_jobs_take_turns_piece_by_piece() -> None:
    async with working() as worker:
        log: list[str] = []
        held = Held()
        async with asyncio.TaskGroup() as tasks:
            holder = worker.stream(Job(held.source.open))
            first = tasks.create_task(anext(holder))
            await held.wait_until_begun()
            for name in (b"a", b"b"):
                source = Source(iter([name] * 4), log)
                tasks.create_task(collect(worker.stream(Job(source.open))))
            while worker.jobs < 3:
                await anyio.lowlevel.checkpoint()
            held.release.set()
            await first
            await holder.aclose()
        assert "".join(log) == "abababab"


async def test_a_call_comes_before_the_jobs_turns_and_calls_keep_their_order() -> None:
    async with working() as worker:
        log: list[str] = []
        held = Held()
        reader = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        other = Reader(worker, Job(Source(iter([b"x"]), log).open), max_pieces=1)
        async with asyncio.TaskGroup() as tasks:
            for name in "abc":
                tasks.create_task(worker.call(partial(log.append, name)))
            await anyio.lowlevel.checkpoint()
            held.release.set()
        await asyncio.wait([other.task])
        assert "".join(log) == "abcx"
        await reader.cancel()


async def test_exclusive_jobs_run_one_after_the_other_in_order() -> None:
    async with working() as worker:
        log: list[str] = []
        async with anyio.create_task_group() as tasks:
            for name in (b"a", b"b", b"c"):
                source = Source(iter([name] * 3), log)
                tasks.start_soon(collect, worker.stream(Job(source.open, exclusive="model")))
                await anyio.lowlevel.checkpoint()
        assert "".join(log) == "aaabbbccc"


async def test_exclusive_jobs_of_different_models_do_not_wait_for_each_other() -> None:
    async with working() as worker:
        held = Source(endless())
        async with aclosing(worker.stream(Job(held.open, exclusive="one"))) as pieces:
            await anext(pieces)
            other = Source(iter([b"a"]))
            assert await collect(worker.stream(Job(other.open, exclusive="two"))) == b"a"


async def test_a_call_gives_its_result_or_raises_its_error() -> None:
    async with working() as worker:
        assert await worker.call(lambda: 6 * 7) == 42
        with pytest.raises(ZeroDivisionError):
            await worker.call(lambda: 1 // 0)


@pytest.mark.parametrize("kind", [SystemExit, StopIteration, asyncio.CancelledError])
async def test_a_call_that_raises_what_no_coroutine_may_raise_gives_a_runtime_error(
    kind: type[BaseException],
) -> None:
    async with working() as worker:
        with pytest.raises(RuntimeError, match=kind.__name__):
            await worker.call(raise_in_open(kind))


def test_a_call_whose_event_loop_has_ended_leaves_the_thread_alive() -> None:
    worker = Worker()
    begun, release = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        release.wait(WAIT_SECONDS)

    loop = asyncio.new_event_loop()
    call = loop.create_task(worker.call(block))
    loop.run_until_complete(asyncio.to_thread(begun.wait, WAIT_SECONDS))
    call.cancel()
    loop.run_until_complete(asyncio.wait([call]))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    release.set()
    assert asyncio.run(worker.call(lambda: "alive")) == "alive"
    asyncio.run(worker.close())


async def test_an_idle_job_gets_no_turn_until_it_is_nudged() -> None:
    async with working() as worker:
        source = Source(iter([b"a", None, b"b", None, None, b"c"]))
        job = Job(source.open)
        reader = Reader(worker, job)
        for made, data in [(2, b"a"), (4, b"ab"), (5, b"ab"), (6, b"abc")]:
            await settle(worker)
            assert (source.made, reader.data) == (made, data)
            worker.nudge(job)
        await asyncio.wait([reader.task])


async def test_a_nudge_while_the_job_finds_nothing_to_do_gives_one_turn_more_and_only_one() -> None:
    async with working() as worker:
        held = Held(piece=None)
        held.source.pieces = chain(islice(held.source.pieces, 1), [None, None, b"a"])
        job = Job(held.source.open)
        reader = Reader(worker, job)
        await held.wait_until_begun()
        worker.nudge(job)
        held.release.set()
        await settle(worker)
        assert held.source.made == 2
        await reader.cancel()


async def test_a_nudge_before_a_turn_gives_no_turn_more_than_that() -> None:
    async with working() as worker:
        held = Held()
        holder = Reader(worker, Job(held.source.open))
        await held.wait_until_begun()
        source = Source(iter([None, b"a"]))
        job = Job(source.open)
        reader = Reader(worker, job)
        await anyio.lowlevel.checkpoint()
        worker.nudge(job)
        await holder.cancel()
        held.release.set()
        await settle(worker)
        assert source.made == 1
        await reader.cancel()


async def test_a_nudge_is_harmless_for_a_job_that_is_parked_waiting_or_over() -> None:
    async with working(lead_bytes=1, max_running=1) as worker:
        parked = Source(endless())
        waiting = Source(iter([b"a"]))
        jobs = Job(parked.open), Job(waiting.open)
        holder = worker.stream(jobs[0])
        await anext(holder)
        reader = Reader(worker, jobs[1])
        await settle(worker)
        made = parked.made
        for job in jobs:
            worker.nudge(job)
        await settle(worker)
        assert (parked.made, waiting.made) == (made, 0)
        await holder.aclose()
        await worker.wait_until_idle()
        for job in jobs:
            worker.nudge(job)
        await settle(worker)
        assert (reader.data, worker.jobs) == (b"a", 0)


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.lists(st.floats(0.1, 5.0), min_size=4, max_size=8),
)
@settings(max_examples=25, deadline=None)
def test_two_clients_with_any_numbers_of_jobs_hear_equal_shares_of_any_pieces(
    n: int, m: int, costs: list[float]
) -> None:
    made: list[tuple[str, float]] = []

    def speak(client: str) -> Iterator[Parcel]:
        for cost in costs:
            made.append((client, cost))
            yield Parcel(b"", cost)

    async def hear() -> None:
        async with working() as worker:
            held = Held()
            holder = Reader(worker, Job(held.source.open, client="holder"))
            await held.wait_until_begun()
            async with asyncio.TaskGroup() as tasks:
                for client in "a" * n + "b" * m:
                    job = Job(partial(speak, client), client=client)
                    tasks.create_task(collect(worker.stream(job)))
                await anyio.lowlevel.checkpoint()
                await holder.cancel()
                held.release.set()

    asyncio.run(hear())
    assert len(made) == (n + m) * len(costs)
    shares = {"a": 0.0, "b": 0.0}
    counts = Counter[str]()
    for client, cost in made:
        shares[client] += cost
        counts[client] += 1
        if counts["a"] == n * len(costs) or counts["b"] == m * len(costs):
            break
        assert abs(shares["a"] - shares["b"]) <= max(costs) + LEAST_COST + 1e-9
