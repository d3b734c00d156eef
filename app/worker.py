"""The one thread that owns MLX, and the turns that jobs take on it.

The worker knows no audio: a job is an iterator of pieces that is opened, advanced and closed on the
thread, one piece a turn. `app.admission` says which jobs run and which wait, `app.turns` whose turn
it is, and `app.schedule` what becomes of each. A job whose reader is slow is parked once it has run
`lead_bytes` ahead, one that has nothing to do yet is idle until it is nudged, and the thread goes
on with the others.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeVar

from app.admission import Lanes
from app.errors import ShuttingDownError
from app.jobs import Ended, Job, Made, P, Piece, Task, tame
from app.schedule import Schedule

__all__ = ["Job", "Piece", "Worker"]

T = TypeVar("T")

_LOG: Final = logging.getLogger(__name__)
_SHUTTING_DOWN: Final = "The server is shutting down."


class Worker:
    """Runs jobs on one thread, fairly, and hands their pieces to asyncio readers."""

    def __init__(
        self,
        *,
        lead_bytes: int = 262_144,
        max_running: int = 64,
        max_waiting: int = 64,
        max_per_client: int | None = None,
    ) -> None:
        """Start the thread.

        `lead_bytes` bounds what one job may hold for its reader, but for the piece that exceeds it;
        `max_per_client` counts the jobs of one client that run or wait.
        """
        lanes = Lanes[Task[Any]](
            max_running=max_running, max_waiting=max_waiting, max_per_client=max_per_client
        )
        self._changed: Final = threading.Condition()
        self._schedule: Final = Schedule(lanes, lead_bytes=lead_bytes)
        self._calls: Final[deque[Callable[[], None]]] = deque()
        self._refusal: str | None = None
        self._closing = False
        self._thread: Final = threading.Thread(target=self._run, name="mlx", daemon=True)
        self._thread.start()

    @property
    def jobs(self) -> int:
        """How many jobs are admitted and not yet closed."""
        with self._changed:
            return len(self._schedule.lanes)

    @property
    def running(self) -> int:
        """How many of them have a lane: they take turns, are parked or idle."""
        with self._changed:
            return len(self._schedule.lanes.running)

    @property
    def waiting(self) -> int:
        """How many of them wait for a lane."""
        with self._changed:
            return len(self._schedule.lanes.waiting)

    @property
    def cost_seconds(self) -> float:
        """Busy seconds of the thread per unit of cost: the real-time factor. 0.0: not known yet.

        A smoothed ratio (see `app.admission.Pace`); the thread is busy while a job makes a piece.
        """
        with self._changed:
            return self._schedule.pace.cost_seconds

    async def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the thread between two turns and give its result or raise its error.

        Calls come before the jobs' turns, in order. Raises ShuttingDownError once the worker
        closes, and RuntimeError in the place of what must not be raised in a coroutine.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def answer_with(settle: Callable[[], None]) -> None:
            with suppress(RuntimeError):  # the loop has ended, and whoever asked with it
                loop.call_soon_threadsafe(lambda: None if answer.done() else settle())

        def turn() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                answer_with(partial(answer.set_exception, tame(error)))
            else:
                answer_with(partial(answer.set_result, result))

        with self._changed:
            if self._closing:
                raise ShuttingDownError(_SHUTTING_DOWN)
            self._calls.append(turn)
            self._changed.notify()
        return await answer

    async def stream(
        self, job: Job[P], *, on_position: Callable[[int], None] | None = None
    ) -> AsyncGenerator[P]:
        """Run `job` and yield its pieces as they are made.

        Nothing starts before the first piece is asked for. While the job waits, `on_position` is
        called on the event loop with 1 plus the number of those before it, each time that changes,
        and with 0 when it begins. Closing the generator cancels the job within one piece. Raises
        OverloadedError when too many jobs are admitted, ShuttingDownError when none is taken any
        more, and whatever the job raises (RuntimeError for what no coroutine must raise).
        """
        task = self._admit(job)
        try:
            while not isinstance(news := await task.outbox.get(), Ended):
                if isinstance(news, Made):
                    with self._change() as schedule:
                        schedule.piece_taken(task, news.size)
                    yield news.piece
                elif on_position is not None:
                    on_position(news.position)
            if news.error is not None:
                raise news.error
        finally:
            with self._change() as schedule:
                schedule.cancel(task, ShuttingDownError("The reader is gone."))

    def nudge(self, job: Job[Any]) -> None:
        """Wake `job` where it is idle, or about to be; from any thread, harmless otherwise."""
        with self._change() as schedule:
            schedule.nudge(job)

    def refuse_new(self, reason: str = _SHUTTING_DOWN) -> None:
        """Raise ShuttingDownError for any job that is not admitted yet; the others go on."""
        with self._changed:
            self._refusal = reason

    async def wait_until_idle(self) -> None:
        """Wait until no job is admitted, be it for a moment."""
        idle = asyncio.Event()
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, idle.set)
        with self._changed:
            self._schedule.tell_when_idle(tell)
        await idle.wait()

    async def close(self) -> None:
        """Cancel all jobs, close each iterator on the thread, and end the thread."""
        with self._changed:
            self._closing = True
            self._refusal = _SHUTTING_DOWN
            lanes = self._schedule.lanes
            # Those that wait go first, so that none begins, and from behind, so that none moves up.
            for task in (*reversed(lanes.waiting), *lanes.running):
                self._schedule.cancel(task, ShuttingDownError(_SHUTTING_DOWN))
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    @contextmanager
    def _change(self) -> Iterator[Schedule]:
        """Hold the lock, and wake the thread if there is something for it to do."""
        with self._changed:
            yield self._schedule
            if self._schedule.is_due:
                self._changed.notify()

    def _admit(self, job: Job[P]) -> Task[P]:
        task = Task(job, asyncio.get_running_loop())
        with self._change() as schedule:
            if self._refusal is not None:
                raise ShuttingDownError(self._refusal)
            schedule.admit(task)
        return task

    # On the thread

    def _run(self) -> None:
        while (turn := self._next_turn()) is not None:
            turn()
            del turn  # it holds its task, and the next turn may be long in coming

    def _next_turn(self) -> Callable[[], None] | None:
        with self._changed:
            while True:
                if (task := self._schedule.take_cancelled()) is not None:
                    return partial(self._finish, task, Ended(task.cancelled_by))
                if self._calls:
                    return self._calls.popleft()
                if (task := self._schedule.take_ready()) is not None:
                    return partial(self._step, task)
                if self._closing:
                    return None
                self._changed.wait()

    def _step(self, task: Task[Any]) -> None:
        started = perf_counter()
        news = task.advance()
        busy_seconds = perf_counter() - started
        with self._changed:
            self._schedule.turn_over(task, news, busy_seconds=busy_seconds)
        if isinstance(news, Ended):
            self._finish(task, news)

    def _finish(self, task: Task[Any], news: Ended) -> None:
        try:
            task.close()
        except BaseException:  # noqa: BLE001 - one job's fault never ends the thread
            _LOG.exception("A job failed while it was being closed.")
        with self._changed:
            self._schedule.closed(task, news)
