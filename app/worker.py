"""The one thread that owns MLX, and the turns that jobs take on it.

The worker knows no audio: a job is an iterator of bytes that is opened, advanced and closed on the
thread, one item a turn. A job whose reader is slow is parked once it has run `lead_bytes` ahead,
and the thread goes on with the others.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeVar

from app.errors import OverloadedError, ShuttingDownError

T = TypeVar("T")


class _End(Enum):
    END = auto()


_END: Final = _End.END
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Work for the thread.

    `open` is called on the thread and gives the pieces; an empty piece is a turn with nothing to
    deliver. Jobs that name the same `exclusive` key run one after the other, in order; jobs without
    one take turns.
    """

    open: Callable[[], Iterator[bytes]]
    exclusive: Hashable | None = None


class _Task:
    """A job under way: its iterator belongs to the thread, its outbox to the event loop."""

    def __init__(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        self.job: Final = job
        self.outbox: Final[asyncio.Queue[bytes | BaseException | _End]] = asyncio.Queue()
        self.undelivered_bytes = 0
        self.parked = False
        self.cancelled_by: BaseException | None = None
        self._loop: Final = loop
        self._pieces: Iterator[bytes] | None = None

    def advance(self) -> bytes | _End:
        """Make the next piece, on the thread."""
        if self._pieces is None:
            self._pieces = self.job.open()
        return next(self._pieces, _END)

    def close(self) -> None:
        """Close the iterator, on the thread, so that its `finally` runs there."""
        pieces, self._pieces = self._pieces, None
        if (close := getattr(pieces, "close", None)) is not None:
            close()

    def deliver(self, item: bytes | BaseException | _End) -> None:
        """Hand `item` to the event loop; a loop that has ended has no reader left to tell."""
        try:
            self._loop.call_soon_threadsafe(self.outbox.put_nowait, item)
        except RuntimeError:
            self.cancelled_by = ShuttingDownError("The reader is gone.")


class Worker:
    """Runs jobs on one thread, fairly, and hands their pieces to asyncio readers."""

    def __init__(self, *, lead_bytes: int = 262_144, max_jobs: int = 64) -> None:
        """Start the thread; `lead_bytes` and `max_jobs` bound what may be held."""
        self._lead_bytes: Final = lead_bytes
        self._max_jobs: Final = max_jobs
        self._changed: Final = threading.Condition()
        self._turns: Final[deque[Callable[[], None]]] = deque()
        self._tasks: Final[set[_Task]] = set()
        # Per exclusive key: the job that holds it, then those that wait for it.
        self._queues: Final[dict[Hashable, deque[_Task]]] = {}
        self._closing = False
        self._thread: Final = threading.Thread(target=self._run, name="mlx", daemon=True)
        self._thread.start()

    @property
    def jobs(self) -> int:
        """How many jobs are admitted and not yet closed."""
        return len(self._tasks)

    async def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the thread between two turns and give its result or raise its error."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def answer_with(settle: Callable[[], None]) -> None:
            loop.call_soon_threadsafe(lambda: None if answer.done() else settle())

        def turn() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                failure = error
                answer_with(lambda: answer.set_exception(failure))
            else:
                answer_with(lambda: answer.set_result(result))

        with self._changed:
            self._refuse_if_closing()
            self._add_turn(turn)
        return await answer

    async def stream(self, job: Job) -> AsyncGenerator[bytes]:
        """Run `job` and yield its pieces as they are made.

        Nothing starts before the first piece is asked for. Closing the generator cancels the job
        within one piece. Raises OverloadedError when too many jobs are admitted already,
        ShuttingDownError once the worker closes, and whatever the job raises.
        """
        task = self._admit(job)
        try:
            while not isinstance(item := await task.outbox.get(), _End):
                if isinstance(item, BaseException):
                    raise item
                self._take(task, len(item))
                yield item
        finally:
            self._cancel(task, ShuttingDownError("The reader is gone."))

    async def close(self) -> None:
        """Cancel what runs, close each iterator on the thread, and end the thread."""
        with self._changed:
            self._closing = True
            for task in self._tasks:
                self._cancel(task, ShuttingDownError("The server is shutting down."))
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    # On the event loop's side

    def _admit(self, job: Job) -> _Task:
        with self._changed:
            self._refuse_if_closing()
            if len(self._tasks) >= self._max_jobs:
                raise OverloadedError("Too many speeches are being made; try again in a moment.")
            task = _Task(job, asyncio.get_running_loop())
            self._tasks.add(task)
            if job.exclusive is None:
                self._add_step(task)
            elif job.exclusive in self._queues:
                self._queues[job.exclusive].append(task)
            else:
                self._queues[job.exclusive] = deque([task])
                self._add_step(task)
            return task

    def _refuse_if_closing(self) -> None:
        if self._closing:
            raise ShuttingDownError("The server is shutting down.")

    def _take(self, task: _Task, size: int) -> None:
        with self._changed:
            task.undelivered_bytes -= size
            if task.undelivered_bytes < self._lead_bytes:
                self._unpark(task)

    def _cancel(self, task: _Task, reason: BaseException) -> None:
        with self._changed:
            if task not in self._tasks or task.cancelled_by is not None:
                return
            task.cancelled_by = reason
            if self._leave_queue(task):
                self._add_step(task)
            else:
                self._unpark(task)

    def _leave_queue(self, task: _Task) -> bool:
        """Take a job that waits for its exclusive key out of the queue; False if it waits not."""
        queue = self._queues.get(task.job.exclusive)
        waits = queue is not None and task in queue and queue[0] is not task
        if queue is not None and waits:
            queue.remove(task)
        return waits

    def _unpark(self, task: _Task) -> None:
        if task.parked:
            task.parked = False
            self._add_step(task)

    def _add_step(self, task: _Task) -> None:
        self._add_turn(lambda: self._step(task))

    def _add_turn(self, turn: Callable[[], None]) -> None:
        self._turns.append(turn)
        self._changed.notify()

    # On the thread

    def _run(self) -> None:
        while (turn := self._next_turn()) is not None:
            turn()

    def _next_turn(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._turns:
                if self._closing:
                    return None
                self._changed.wait()
            return self._turns.popleft()

    def _step(self, task: _Task) -> None:
        item = self._advance(task)
        if isinstance(item, bytes):
            self._hand_over(task, item)
        else:
            self._finish(task, item)

    def _advance(self, task: _Task) -> bytes | BaseException | _End:
        if task.cancelled_by is not None:
            return task.cancelled_by
        try:
            return task.advance()
        except BaseException as error:  # noqa: BLE001 - raised again where the reader awaits
            return error

    def _hand_over(self, task: _Task, piece: bytes) -> None:
        if piece:
            task.deliver(piece)
        with self._changed:
            task.undelivered_bytes += len(piece)
            task.parked = task.undelivered_bytes >= self._lead_bytes and task.cancelled_by is None
            if not task.parked:
                self._add_step(task)

    def _finish(self, task: _Task, item: BaseException | _End) -> None:
        try:
            task.close()
        except Exception:  # noqa: BLE001 - one job's fault never ends the thread
            _LOG.exception("A job failed while it was being closed.")
        with self._changed:
            self._tasks.discard(task)
            self._release(task)
        task.deliver(item)

    def _release(self, task: _Task) -> None:
        """Let the next job of the same exclusive key begin, if this one was its holder."""
        queue = self._queues.get(task.job.exclusive)
        if queue is None or queue[0] is not task:
            return
        queue.popleft()
        if queue:
            self._add_step(queue[0])
        else:
            del self._queues[task.job.exclusive]
