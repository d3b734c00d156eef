"""What the worker is given in tests: jobs that keep minutes, and readers that can be cancelled."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, asynccontextmanager

import anyio

from app.worker import Job, Worker
from tests.turns import Parcel

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


def raise_in_open(kind: type[BaseException]) -> Callable[[], Iterator[Parcel]]:
    def open_() -> Iterator[Parcel]:
        raise kind

    return open_
