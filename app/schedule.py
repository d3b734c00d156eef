"""What the thread does next: each job's way from admission through its turns to its end.

Nothing here locks, waits or runs a job: `app.worker` does, and holds its lock for every call.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from app.admission import Lanes, Pace
from app.errors import OverloadedError
from app.jobs import Ended, Job, Made, State, Task
from app.turns import FairTurns


class Schedule:
    """The tasks that are admitted, and where each of them is."""

    def __init__(self, lanes: Lanes[Task[Any]], *, lead_bytes: int) -> None:
        """Start with no task; one that holds `lead_bytes` for its reader is parked."""
        self.pace: Final = Pace()
        self.lanes: Final = lanes
        self._lead_bytes: Final = max(1, lead_bytes)
        self._turns: Final = FairTurns[Task[Any]]()
        self._cancelled: Final[deque[Task[Any]]] = deque()
        self._when_idle: Final[list[Callable[[], object]]] = []

    @property
    def is_due(self) -> bool:
        """Whether there is anything for the thread to do."""
        return bool(self._cancelled or self._turns)

    def admit(self, task: Task[Any]) -> None:
        """Let a new `task` run or wait; raises OverloadedError when it can do neither."""
        if (fault := self.lanes.explain_refusal(task)) is not None:
            raise OverloadedError(fault, retry_after_seconds=self.pace.retry_after_seconds)
        if self.lanes.enter(task):
            self._begin(task)
        else:
            self._tell_positions()

    def take_cancelled(self) -> Task[Any] | None:
        """Give a task that is to be closed; `closed` must follow."""
        return self._cancelled.popleft() if self._cancelled else None

    def take_ready(self) -> Task[Any] | None:
        """Give the task whose turn it is; `turn_over` must follow."""
        task = self._turns.take()
        if task is not None:
            task.state, task.is_nudged = State.ACTIVE, False
        return task

    def turn_over(
        self, task: Task[Any], news: Made[Any] | Ended | None, *, busy_seconds: float
    ) -> None:
        """Account for a turn, hand over what was made, and say what becomes of the task.

        One that ended is only accounted for: it is to be closed, and `closed` must follow.
        """
        cost = news.cost if isinstance(news, Made) else 0.0
        task.cost += cost
        self.pace.note_turn(busy_seconds, cost)
        task.state = self._judge(task, news)
        self._turns.charge(task, cost, again=task.state is State.READY)
        if task.cancelled_by is not None and task.state is not State.ACTIVE:
            self._let_go(task)

    def piece_taken(self, task: Task[Any], size: int) -> None:
        """Note that the reader took a piece of `size` bytes."""
        task.held_bytes -= size
        if task.state is State.PARKED and task.held_bytes < self._lead_bytes:
            self._wake(task)

    def nudge(self, job: Job[Any]) -> None:
        """Wake the tasks of `job` that are idle, or may be about to be."""
        for task in self.lanes.running:
            if task.job is job:
                # If the thread is at it, it may have looked already: then it gets one turn more.
                task.is_nudged = True
                if task.state is State.IDLE:
                    self._wake(task)

    def cancel(self, task: Task[Any], reason: Exception) -> None:
        """End a waiting task, and let the thread close one that runs; harmless for others."""
        if task.state is State.OVER:
            return
        task.cancelled_by = reason
        if task.state is State.WAITING:
            self._end(task, Ended(reason))
        elif task.state is not State.ACTIVE:  # else it is seen when the turn is over
            self._let_go(task)

    def closed(self, task: Task[Any], news: Ended) -> None:
        """Account for a task that ran and is closed, tell its reader, and let the next begin."""
        self.pace.note_end(task.cost)
        self._turns.forget(task)
        self._end(task, news)

    def tell_when_idle(self, tell: Callable[[], object]) -> None:
        """Call `tell` as soon as no task is admitted; at once, if that is so."""
        self._when_idle.append(tell)
        if not self.lanes:
            self._tell_idle()

    def _judge(self, task: Task[Any], news: Made[Any] | Ended | None) -> State:
        """Hand over what a turn gave, and say what `task` is after it."""
        if news is None:
            return State.READY if task.is_nudged else State.IDLE
        if isinstance(news, Ended):
            return State.ACTIVE
        if task.cancelled_by is None:
            # Else an error follows, and who waits for a first piece is better told that alone.
            task.tell(news)
        task.held_bytes += news.size
        return State.PARKED if task.held_bytes >= self._lead_bytes else State.READY

    def _end(self, task: Task[Any], news: Ended) -> None:
        task.state = State.OVER
        task.tell(news)
        if (successor := self.lanes.leave(task)) is not None:
            self._begin(successor)
        self._tell_positions()
        if not self.lanes:
            self._tell_idle()

    def _begin(self, task: Task[Any]) -> None:
        task.move(0)
        self._wake(task)

    def _wake(self, task: Task[Any]) -> None:
        task.state = State.READY
        self._turns.add(task)

    def _let_go(self, task: Task[Any]) -> None:
        """Let the thread close a task that is cancelled, before it takes any turn."""
        task.state = State.OVER
        self._cancelled.append(task)

    def _tell_positions(self) -> None:
        for position, task in enumerate(self.lanes.waiting, start=1):
            task.move(position)

    def _tell_idle(self) -> None:
        for tell in self._when_idle:
            with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
                tell()
        self._when_idle.clear()
