"""Jobs that follow a script and readers that obey, with minutes of all that the worker did."""

import asyncio
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from app.worker import Job
from tests.turns import Parcel

LEAD_BYTES: Final = 8
WAIT_SECONDS: Final = 10

Step = Parcel | None | type[BaseException]
"""What a job does in one turn: make a piece, find nothing to do, or fail."""


class Floor:
    """What is open on the thread, and what should never have been."""

    def __init__(self, max_running: int) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.open: list[Script] = []
        self.faults: list[str] = []
        self._max_running = max_running

    def enter(self, script: "Script") -> None:
        self._expect_thread()
        keys = {other.key for other in self.open} - {None}
        if script.key in keys:
            self.faults.append(f"two hold {script.key}")
        self.open.append(script)
        if len(self.open) > self._max_running:
            self.faults.append("too many run")

    def leave(self, script: "Script") -> None:
        self._expect_thread()
        self.open.remove(script)

    def _expect_thread(self) -> None:
        if threading.current_thread().name != "mlx":
            self.faults.append("on another thread")


@dataclass(eq=False)
class Script:
    """A job that does its steps one by one, and minutes of it."""

    floor: Floor
    client: str
    key: str | None
    steps: list[Step]
    is_spiteful: bool
    begun_steps: int = 0
    done_steps: int = 0
    openings: int = 0
    closings: int = 0

    def open(self) -> Generator[Parcel | None]:
        self.openings += 1
        self.floor.enter(self)
        try:
            for step in self.steps:
                yield self._do(step)
        finally:
            self.floor.leave(self)
            self.closings += 1
            if self.is_spiteful:
                raise SystemExit

    def _do(self, step: Step) -> Parcel | None:
        self.begun_steps += 1
        self.floor.gate.wait(WAIT_SECONDS)
        self.done_steps += 1
        if isinstance(step, type):
            raise step
        return step

    @property
    def is_open(self) -> bool:
        return self.openings > self.closings

    @property
    def last_step(self) -> Step:
        return self.steps[self.done_steps - 1]


@dataclass(eq=False)
class Listener:
    """A reader that takes a piece when it is told to, and minutes of what it got."""

    script: Script
    job: Job[Parcel]
    positions: list[int] = field(default_factory=list)
    received: list[Parcel] = field(default_factory=list)
    taking: asyncio.Task[Parcel | None] | None = None
    is_over: bool = False
    error: BaseException | None = None
    nudges: int = 0
    must_pass: int = 0
    positions_at_end: int | None = None

    def note(self) -> None:
        """Look at what the last request for a piece gave."""
        if self.taking is None or not self.taking.done():
            return
        taking, self.taking = self.taking, None
        if taking.cancelled():
            self.end()
        elif (error := taking.exception()) is not None:
            self.error = error
            self.end()
        elif (piece := taking.result()) is None:
            self.end()
        else:
            self.received.append(piece)

    def end(self) -> None:
        self.is_over = True
        self.positions_at_end = len(self.positions)

    @property
    def is_waiting(self) -> bool:
        return not self.is_over and 0 not in self.positions

    @property
    def made(self) -> list[Parcel]:
        done = self.script.steps[: self.script.done_steps]
        return [step for step in done if isinstance(step, Parcel)]

    @property
    def held_bytes(self) -> int:
        return sum(piece.size for piece in self.made[len(self.received) :])

    @property
    def is_idle(self) -> bool:
        script = self.script
        return script.is_open and script.done_steps > 0 and script.last_step is None

    @property
    def is_parked(self) -> bool:
        made, held_bytes = self.made, self.held_bytes
        return bool(made) and held_bytes >= LEAD_BYTES > held_bytes - made[-1].size


def order_waiting(listeners: list[Listener]) -> list[Listener]:
    """Go round by client, the oldest first: the rule, said in another way."""
    queues: dict[str, list[Listener]] = {}
    waiting = [listener for listener in listeners if listener.is_waiting]
    for listener in waiting:
        queues.setdefault(listener.script.client, []).append(listener)
    order: list[Listener] = []
    while any(queues.values()):
        heads = [queue.pop(0) for queue in queues.values() if queue]
        order += sorted(heads, key=waiting.index)
    return order


@dataclass(frozen=True, slots=True)
class Limits:
    """What the worker was told to admit."""

    max_running: int
    max_waiting: int
    max_per_client: int | None

    def are_exceeded_by(self, script: Script, listeners: list[Listener]) -> bool:
        """Tell whether `script` is too much, with these before it and the thread at rest."""
        running = [listener.script for listener in listeners if listener.script.is_open]
        waiting = [listener.script for listener in listeners if listener.is_waiting]
        mine = sum(other.client == script.client for other in running + waiting)
        if self.max_per_client is not None and mine >= self.max_per_client:
            return True
        keys = {other.key for other in running} - {None}
        must_wait = len(running) >= self.max_running or script.key in keys
        return must_wait and len(waiting) >= self.max_waiting


def steps() -> st.SearchStrategy[list[Step]]:
    """Draw what a job does: mostly pieces, of which one or two fill the lead."""
    pieces = st.builds(
        Parcel, st.integers(0, 2 * LEAD_BYTES).map(bytes), st.sampled_from([0.0, 0.1, 1.0, 5.0])
    )
    failures = st.sampled_from([ValueError, SystemExit])
    return st.lists(st.one_of(pieces, pieces, st.none(), failures), max_size=6)
