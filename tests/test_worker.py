"""The turns on the MLX thread: who gets one, who waits, and what each kind of end leaves."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, asynccontextmanager

import anyio
import pytest

from app.errors import OverloadedError, ShuttingDownError
from app.worker import Job, Worker
from tests.turns import settle

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 10


@asynccontextmanager
async def working(*, lead_bytes: int = 1_000_000, max_jobs: int = 8) -> AsyncGenerator[Worker]:
    worker = Worker(lead_bytes=lead_bytes, max_jobs=max_jobs)
    try:
        with anyio.fail_after(WAIT_SECONDS):
            yield worker
    finally:
        await worker.close()


class Source:
    """A job that records what happens to it, and on which thread."""

    def __init__(self, pieces: Iterator[bytes], log: list[str] | None = None) -> None:
        self.pieces = pieces
        self.log = [] if log is None else log
        self.made = 0
        self.threads: set[str] = set()
        self.closed = threading.Event()

    def open(self) -> Generator[bytes]:
        self.threads.add(threading.current_thread().name)
        try:
            for piece in self.pieces:
                self.made += 1
                self.log.append(piece.decode())
                yield piece
        finally:
            self.threads.add(threading.current_thread().name)
            self.closed.set()

    async def wait_until_closed(self) -> None:
        assert await anyio.to_thread.run_sync(self.closed.wait, WAIT_SECONDS)


def endless() -> Iterator[bytes]:
    while True:
        yield b"piece"


def failing() -> Iterator[bytes]:
    yield b"one"
    raise ValueError("the model broke")


async def collect(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def test_pieces_arrive_whole_and_in_order() -> None:
    async with working() as worker:
        source = Source(iter([b"a", b"b", b"", b"c"]))
        assert await collect(worker.stream(Job(source.open))) == b"abc"
        assert source.closed.is_set()


async def test_opening_advancing_and_closing_happen_on_the_one_thread() -> None:
    async with working() as worker:
        source = Source(endless())
        async with aclosing(worker.stream(Job(source.open))) as pieces:
            await anext(pieces)
        await source.wait_until_closed()
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
        gate = threading.Event()

        def gated(name: bytes) -> Iterator[bytes]:
            gate.wait(WAIT_SECONDS)
            yield from [name] * 4

        async with anyio.create_task_group() as tasks:
            for name in (b"a", b"b"):
                tasks.start_soon(collect, worker.stream(Job(Source(gated(name), log).open)))
            while worker.jobs < 2:
                await anyio.lowlevel.checkpoint()
            gate.set()
        assert "".join(log) == "abababab"


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


async def test_a_failure_reaches_its_own_reader_and_no_other() -> None:
    async with working() as worker:
        steady = Source(endless())
        async with aclosing(worker.stream(Job(steady.open))) as pieces:
            await anext(pieces)
            with pytest.raises(ValueError, match="the model broke"):
                await collect(worker.stream(Job(Source(failing()).open)))
            assert await anext(pieces) == b"piece"


async def test_a_failure_while_opening_is_raised_at_the_first_piece() -> None:
    def open_broken() -> Iterator[bytes]:
        raise ValueError("no such voice")

    async with working() as worker:
        with pytest.raises(ValueError, match="no such voice"):
            await anext(worker.stream(Job(open_broken)))
        assert worker.jobs == 0


async def test_a_failure_of_an_exclusive_job_lets_the_next_one_run() -> None:
    async with working() as worker:
        first = worker.stream(Job(Source(failing()).open, exclusive="model"))
        second = worker.stream(Job(Source(iter([b"x"])).open, exclusive="model"))
        with pytest.raises(ValueError, match="the model broke"):
            await collect(first)
        assert await collect(second) == b"x"


async def test_closing_a_stream_stops_its_job_within_a_piece() -> None:
    async with working() as worker:
        source = Source(endless())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        await pieces.aclose()
        await source.wait_until_closed()
        made = source.made
        await settle(worker)
        assert source.made == made
        assert worker.jobs == 0


class Held:
    """A job in the middle of its first piece until it is released."""

    def __init__(self, piece: bytes) -> None:
        self.begun, self.release = threading.Event(), threading.Event()
        self.source = Source(self._make(piece))

    def _make(self, piece: bytes) -> Iterator[bytes]:
        self.begun.set()
        self.release.wait(WAIT_SECONDS)
        yield piece

    async def cancel_reader(self, worker: Worker) -> None:
        """Read, and give up while the first piece is being made."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, worker.stream(Job(self.source.open)))
            await anyio.to_thread.run_sync(self.begun.wait, WAIT_SECONDS)
            tasks.cancel_scope.cancel()
        self.release.set()


async def test_cancel_while_waiting_for_a_piece() -> None:
    async with working() as worker:
        held = Held(b"late")
        await held.cancel_reader(worker)
        await held.source.wait_until_closed()
        await settle(worker)
        assert worker.jobs == 0


async def test_cancel_while_queued_never_opens_the_job() -> None:
    async with working() as worker:
        holder = Source(endless())
        async with aclosing(worker.stream(Job(holder.open, exclusive="model"))) as pieces:
            await anext(pieces)
            queued = Source(iter([b"x"]))
            with anyio.move_on_after(0.05):
                await anext(worker.stream(Job(queued.open, exclusive="model")))
            await settle(worker)
            assert worker.jobs == 1
        after = Source(iter([b"y"]))
        assert await collect(worker.stream(Job(after.open, exclusive="model"))) == b"y"
        assert queued.made == 0


async def test_cancel_while_queued_does_not_let_others_overtake_the_holder() -> None:
    async with working(lead_bytes=20) as worker:
        holder = Source(endless())
        async with aclosing(worker.stream(Job(holder.open, exclusive="model"))) as pieces:
            await anext(pieces)
            cancelled = worker.stream(Job(Source(endless()).open, exclusive="model"))
            with anyio.move_on_after(0.05):
                await anext(cancelled)
            waiting = Source(endless())
            with anyio.move_on_after(0.05):
                await anext(worker.stream(Job(waiting.open, exclusive="model")))
            assert waiting.made == 0


async def test_cancel_while_the_piece_that_fills_the_lead_is_made() -> None:
    async with working(lead_bytes=1) as worker:
        held = Held(b"fills the lead")
        await held.cancel_reader(worker)
        await held.source.wait_until_closed()


async def test_cancel_while_parked() -> None:
    async with working(lead_bytes=20) as worker:
        source = Source(endless())
        pieces = worker.stream(Job(source.open))
        await anext(pieces)
        await settle(worker)
        await pieces.aclose()
        await source.wait_until_closed()


async def test_a_slow_reader_parks_its_own_job_only() -> None:
    async with working(lead_bytes=20) as worker:
        slow = Source(endless())
        async with aclosing(worker.stream(Job(slow.open))) as pieces:
            await anext(pieces)
            await settle(worker)
            assert slow.made <= 1 + 20 // len(b"piece") + 1
            quick = Source(iter([b"x"] * 100))
            assert len(await collect(worker.stream(Job(quick.open)))) == 100


async def test_a_parked_job_goes_on_where_it_stopped_once_it_is_read() -> None:
    async with working(lead_bytes=3) as worker:
        letters = [bytes([letter]) for letter in range(97, 123)]
        pieces = worker.stream(Job(Source(iter(letters)).open))
        received = b""
        async for piece in pieces:
            await settle(worker)
            received += piece
        assert received == b"".join(letters)


async def test_one_job_too_many_is_refused_and_room_comes_back() -> None:
    async with working(max_jobs=1) as worker:
        source = Source(endless())
        async with aclosing(worker.stream(Job(source.open))) as pieces:
            await anext(pieces)
            with pytest.raises(OverloadedError):
                await anext(worker.stream(Job(Source(endless()).open)))
        await source.wait_until_closed()
        await settle(worker)
        assert await collect(worker.stream(Job(Source(iter([b"a"])).open))) == b"a"


async def test_close_ends_running_parked_and_queued_jobs_with_an_error() -> None:
    worker = Worker(lead_bytes=20, max_jobs=8)
    running = Source(endless())
    streams = [
        worker.stream(Job(running.open)),
        worker.stream(Job(Source(endless()).open, exclusive="model")),
    ]
    for pieces in streams:
        await anext(pieces)
    await settle(worker)
    await worker.close()
    for pieces in streams:
        with pytest.raises(ShuttingDownError):
            await collect(pieces)
    assert running.closed.is_set()
    assert worker.jobs == 0


async def test_nothing_is_taken_after_close() -> None:
    worker = Worker()
    await worker.close()
    with pytest.raises(ShuttingDownError):
        await anext(worker.stream(Job(Source(endless()).open)))
    with pytest.raises(ShuttingDownError):
        await worker.call(lambda: None)


async def test_a_call_gives_its_result_or_raises_its_error() -> None:
    async with working() as worker:
        assert await worker.call(lambda: 6 * 7) == 42
        with pytest.raises(ZeroDivisionError):
            await worker.call(lambda: 1 // 0)


async def test_a_job_that_fails_while_it_is_closed_leaves_the_thread_alive() -> None:
    def spiteful() -> Iterator[bytes]:
        try:
            yield b"a"
            yield b"b"
        finally:
            raise RuntimeError("not even closing works")

    async with working(lead_bytes=1) as worker:
        pieces = worker.stream(Job(spiteful))
        await anext(pieces)
        await pieces.aclose()
        await settle(worker)
        assert await worker.call(lambda: "alive") == "alive"
        assert worker.jobs == 0


def test_a_job_whose_reader_lost_its_event_loop_is_closed() -> None:
    worker = Worker()
    source = Source(endless())
    loop = asyncio.new_event_loop()
    pieces = worker.stream(Job(source.open))
    loop.run_until_complete(anext(pieces))
    loop.close()
    assert source.closed.wait(WAIT_SECONDS)
    asyncio.run(worker.close())
