"""The turns on the MLX thread: who gets one, who waits, and what each kind of end leaves."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, asynccontextmanager
from functools import partial

import anyio
import pytest

from app.errors import OverloadedError, ShuttingDownError
from app.worker import Job, Worker
from tests.turns import Parcel, settle

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 10


@asynccontextmanager
async def working(
    *,
    lead_bytes: int = 100,
    max_running: int = 8,
    max_waiting: int = 8,
    max_per_client: int | None = None,
) -> AsyncGenerator[Worker]:
    worker = Worker(
        lead_bytes=lead_bytes,
        max_running=max_running,
        max_waiting=max_waiting,
        max_per_client=max_per_client,
    )
    try:
        with anyio.fail_after(WAIT_SECONDS):
            yield worker
    finally:
        await worker.close()


class Source:
    """A job that records what happens to it, and on which thread."""

    def __init__(self, pieces: Iterator[bytes | None], log: list[str] | None = None) -> None:
        self.pieces = pieces
        self.log = [] if log is None else log
        self.made = 0
        self.closings = 0
        self.threads: set[str] = set()

    def open(self) -> Generator[Parcel | None]:
        self.threads.add(threading.current_thread().name)
        try:
            for piece in self.pieces:
                self.made += 1
                self.log.append("-" if piece is None else piece.decode())
                yield None if piece is None else Parcel(piece)
        finally:
            self.threads.add(threading.current_thread().name)
            self.closings += 1

    @property
    def is_closed(self) -> bool:
        return self.closings == 1


def endless() -> Iterator[bytes]:
    while True:
        yield b"piece"


def failing() -> Iterator[bytes]:
    yield b"one"
    raise ValueError("the model broke")


def idling() -> Iterator[bytes | None]:
    yield b"one"
    while True:
        yield None


async def collect(pieces: AsyncIterator[Parcel]) -> bytes:
    return b"".join([piece.data async for piece in pieces])


class Held:
    """A job in the middle of its first piece until it is released."""

    def __init__(self, piece: bytes | None = b"late") -> None:
        self.begun, self.release = threading.Event(), threading.Event()
        self.source = Source(self._make(piece))

    def _make(self, piece: bytes | None) -> Iterator[bytes | None]:
        self.begun.set()
        self.release.wait(WAIT_SECONDS)
        yield piece
        yield from endless()

    async def wait_until_begun(self) -> None:
        assert await anyio.to_thread.run_sync(self.begun.wait, WAIT_SECONDS)


class Reader:
    """A reader in a task of its own, which can be cancelled while it waits."""

    def __init__(self, worker: Worker, job: Job[Parcel], *, max_pieces: int = 1_000) -> None:
        self.job = job
        self.positions: list[int] = []
        self.data = b""
        self._max_pieces = max_pieces
        self.task = asyncio.create_task(self._read(worker))

    async def _read(self, worker: Worker) -> None:
        async with aclosing(worker.stream(self.job, on_position=self.positions.append)) as pieces:
            for _ in range(self._max_pieces):
                self.data += (await anext(pieces)).data

    async def cancel(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


# The turns


async def test_pieces_arrive_whole_and_in_order() -> None:
    async with working() as worker:
        source = Source(iter([b"a", b"b", b"c"]))
        assert await collect(worker.stream(Job(source.open))) == b"abc"
        assert source.is_closed


async def test_a_piece_of_no_size_is_delivered_and_never_parks() -> None:
    async with working(lead_bytes=1) as worker:
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


# Idle jobs


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


async def test_a_nudge_that_comes_while_the_job_finds_nothing_to_do_is_not_lost() -> None:
    async with working() as worker:
        held = Held(piece=None)
        job = Job(held.source.open)
        pieces = worker.stream(job)
        first = asyncio.create_task(anext(pieces))
        await held.wait_until_begun()
        worker.nudge(job)
        held.release.set()
        assert await first == Parcel(b"piece")
        await pieces.aclose()


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


# Failures


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


def raise_in_open(kind: type[BaseException]) -> Callable[[], Iterator[Parcel]]:
    def open_() -> Iterator[Parcel]:
        raise kind

    return open_


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


# Cancelling


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


# Slow readers


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


# Admission


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


# The end


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


async def test_close_ends_running_parked_idle_and_waiting_jobs_with_an_error() -> None:
    worker = Worker(lead_bytes=20)
    parked, idle, waiting, held = Source(endless()), Source(idling()), Source(endless()), Held()
    parked_stream = worker.stream(Job(parked.open, exclusive="model"))
    await anext(parked_stream)
    jobs = Job(idle.open), Job(waiting.open, exclusive="model")
    readers = [Reader(worker, job) for job in jobs]
    await settle(worker)
    readers.append(Reader(worker, Job(held.source.open)))
    await held.wait_until_begun()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.close())
        await anyio.lowlevel.checkpoint()
        held.release.set()
    for reader in readers:
        with pytest.raises(ShuttingDownError):
            await reader.task
    with pytest.raises(ShuttingDownError):
        await collect(parked_stream)
    assert [source.closings for source in (parked, idle, held.source)] == [1, 1, 1]
    assert (waiting.made, worker.jobs) == (0, 0)
    await worker.wait_until_idle()


async def test_close_while_priming_and_while_draining() -> None:
    worker = Worker()
    held = Held()
    reader = Reader(worker, Job(held.source.open))
    await held.wait_until_begun()
    worker.refuse_new()
    closing = asyncio.create_task(worker.close())
    await anyio.lowlevel.checkpoint()
    held.release.set()
    await closing
    with pytest.raises(ShuttingDownError):
        await reader.task
    assert held.source.is_closed


async def test_nothing_is_taken_after_close() -> None:
    worker = Worker()
    await worker.close()
    with pytest.raises(ShuttingDownError):
        await anext(worker.stream(Job(Source(endless()).open)))
    with pytest.raises(ShuttingDownError):
        await worker.call(lambda: None)


def leave_loop(worker: Worker, job: Job[Parcel]) -> None:
    """Read one piece on an event loop that then ends without closing anything."""
    loop = asyncio.new_event_loop()
    pieces = worker.stream(job)
    loop.run_until_complete(anext(pieces))
    loop.close()


def test_a_job_whose_reader_lost_its_event_loop_is_closed() -> None:
    worker = Worker(lead_bytes=1_000_000_000)
    source = Source(endless())
    leave_loop(worker, Job(source.open))
    asyncio.run(worker.wait_until_idle())
    assert source.is_closed
    asyncio.run(worker.close())


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
