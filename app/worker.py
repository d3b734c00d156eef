"""The one thread that owns MLX, and the turns that jobs take on it.

The worker knows no audio: a job is an iterator of pieces that is opened, advanced and closed on the
thread, one piece a turn. `app.admission` says which jobs run and which wait, `app.turns` whose turn
it is. A job whose reader is slow is parked once it has run `lead_bytes` ahead, one that has nothing
to do yet is idle until it is nudged, and the thread goes on with the others.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeVar

from app.admission import Lanes, Pace
from app.errors import OverloadedError, ShuttingDownError
from app.jobs import Ended, Job, Made, P, Piece, State, Task, tame
from app.turns import FairTurns

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
        self._lead_bytes: Final = max(1, lead_bytes)
        self._changed: Final = threading.Condition()
        self._lanes: Final = Lanes[Task[Any]](
            max_running=max_running, max_waiting=max_waiting, max_per_client=max_per_client
        )
        self._turns: Final = FairTurns[Task[Any]]()
        # Calls, and the closing of what is cancelled: they come before the jobs' turns.
        self._errands: Final[deque[Callable[[], None]]] = deque()
        self._pace: Final = Pace()
        self._when_idle: Final[list[Callable[[], object]]] = []
        self._refusal: str | None = None
        self._closing = False
        self._thread: Final = threading.Thread(target=self._run, name="mlx", daemon=True)
        self._thread.start()

    @property
    def jobs(self) -> int:
        """How many jobs are admitted and not yet closed."""
        with self._changed:
            return len(self._lanes)

    @property
    def running(self) -> int:
        """How many of them have a lane: they take turns, are parked or idle."""
        with self._changed:
            return len(self._lanes.running)

    @property
    def waiting(self) -> int:
        """How many of them wait for a lane."""
        with self._changed:
            return len(self._lanes.waiting)

    @property
    def cost_seconds(self) -> float:
        """Busy seconds of the thread per unit of cost: the real-time factor. 0.0: not known yet.

        A smoothed ratio (see `app.admission.Pace`); the thread is busy while a job makes a piece.
        """
        with self._changed:
            return self._pace.cost_seconds

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
            self._run_errand(turn)
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
                    self._take(task, news.size)
                    yield news.piece
                elif on_position is not None:
                    on_position(news.position)
            if news.error is not None:
                raise news.error
        finally:
            with self._changed:
                self._cancel(task, ShuttingDownError("The reader is gone."))

    def nudge(self, job: Job[Any]) -> None:
        """Wake `job` where it is idle, or about to be; from any thread, harmless otherwise."""
        with self._changed:
            for task in self._lanes.running:
                if task.job is job:
                    # A job that is at it may have looked already: then it gets one turn more.
                    task.is_nudged = task.state is State.ACTIVE
                    if task.state is State.IDLE:
                        self._move(task, State.READY)

    def refuse_new(self, reason: str = _SHUTTING_DOWN) -> None:
        """Raise ShuttingDownError for any job that is not admitted yet; the others go on."""
        with self._changed:
            self._refusal = reason

    async def wait_until_idle(self) -> None:
        """Wait until no job is admitted, be it for a moment."""
        loop = asyncio.get_running_loop()
        idle = asyncio.Event()
        with self._changed:
            if not self._lanes:
                return
            self._when_idle.append(partial(loop.call_soon_threadsafe, idle.set))
        await idle.wait()

    async def close(self) -> None:
        """Cancel all jobs, close each iterator on the thread, and end the thread."""
        with self._changed:
            self._closing = True
            self._refusal = _SHUTTING_DOWN
            # Those that wait go first, so that none begins, and from behind, so that none moves up.
            for task in (*reversed(self._lanes.waiting), *self._lanes.running):
                self._cancel(task, ShuttingDownError(_SHUTTING_DOWN))
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    # On the event loop's side

    def _admit(self, job: Job[P]) -> Task[P]:
        task = Task(job, asyncio.get_running_loop())
        with self._changed:
            if self._refusal is not None:
                raise ShuttingDownError(self._refusal)
            if (fault := self._lanes.explain_refusal(task)) is not None:
                raise OverloadedError(fault, retry_after_seconds=self._pace.retry_after_seconds)
            if self._lanes.enter(task):
                self._begin(task)
            else:
                self._tell_positions()
        return task

    def _take(self, task: Task[Any], size: int) -> None:
        with self._changed:
            task.held_bytes -= size
            if task.state is State.PARKED and task.held_bytes < self._lead_bytes:
                self._move(task, State.READY)

    # With the lock held, on either side

    def _begin(self, task: Task[Any]) -> None:
        task.move(0)
        self._move(task, State.READY)

    def _cancel(self, task: Task[Any], reason: Exception) -> None:
        if task.state is State.OVER or task.cancelled_by is not None:
            return
        task.cancelled_by = reason
        if task.state is State.WAITING:
            self._end(task, Ended(reason))
        elif task.state is not State.ACTIVE:  # else the thread sees it after this piece
            self._turns.remove(task)
            self._move(task, State.READY)

    def _move(self, task: Task[Any], state: State) -> None:
        """Bring a task that runs into `state`, or to its end if it is cancelled."""
        task.state = state
        if task.cancelled_by is not None:
            task.state = State.OVER
            self._run_errand(partial(self._finish, task, Ended(task.cancelled_by)))
        elif state is State.READY:
            self._turns.add(task)
            self._changed.notify()

    def _run_errand(self, errand: Callable[[], None]) -> None:
        self._errands.append(errand)
        self._changed.notify()

    def _end(self, task: Task[Any], news: Ended) -> None:
        task.state = State.OVER
        task.tell(news)
        if (successor := self._lanes.leave(task)) is not None:
            self._begin(successor)
        self._tell_positions()
        if not self._lanes:
            self._tell_idle()

    def _tell_positions(self) -> None:
        for position, task in enumerate(self._lanes.waiting, start=1):
            task.move(position)

    def _tell_idle(self) -> None:
        for tell in self._when_idle:
            with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
                tell()
        self._when_idle.clear()

    # On the thread

    def _run(self) -> None:
        while (turn := self._next_turn()) is not None:
            turn()
            del turn  # it holds its task, and the next turn may be long in coming

    def _next_turn(self) -> Callable[[], None] | None:
        with self._changed:
            while True:
                if self._errands:
                    return self._errands.popleft()
                if (task := self._turns.take()) is not None:
                    task.state, task.is_nudged = State.ACTIVE, False
                    return partial(self._step, task)
                if self._closing:
                    return None
                self._changed.wait()

    def _step(self, task: Task[Any]) -> None:
        started = perf_counter()
        news = task.advance()
        busy_seconds = perf_counter() - started
        cost = news.cost if isinstance(news, Made) else 0.0
        with self._changed:
            task.cost += cost
            self._pace.note_turn(busy_seconds, cost)
            self._turns.charge(cost)
            if news is None:
                self._move(task, State.READY if task.is_nudged else State.IDLE)
            elif isinstance(news, Made):
                self._hand_over(task, news)
        if isinstance(news, Ended):
            self._finish(task, news)

    def _hand_over(self, task: Task[Any], made: Made[Any]) -> None:
        task.tell(made)
        task.held_bytes += made.size
        is_ahead = task.held_bytes >= self._lead_bytes
        self._move(task, State.PARKED if is_ahead else State.READY)

    def _finish(self, task: Task[Any], news: Ended) -> None:
        try:
            task.close()
        except BaseException:  # noqa: BLE001 - one job's fault never ends the thread
            _LOG.exception("A job failed while it was being closed.")
        with self._changed:
            self._pace.note_end(task.cost)
            self._turns.forget(task)
            self._end(task, news)
