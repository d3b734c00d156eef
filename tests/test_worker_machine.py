"""Whatever happens in whatever order, the worker keeps its promises: a machine looks for a way.

The rules act on the real worker. After each the thread is let come to rest, where all that it owes
is known; between `hold` and `release` it stops within a turn instead, and the rules race with it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from app.errors import OverloadedError, ShuttingDownError
from app.worker import Job, Worker
from tests.turns import Parcel, settle
from tests.worker_minutes import (
    LEAD_BYTES,
    WAIT_SECONDS,
    Floor,
    Limits,
    Listener,
    Script,
    Step,
    order_waiting,
    steps,
)

T = TypeVar("T")


class WorkerMachine(RuleBasedStateMachine):
    listeners = Bundle("listeners")

    @initialize(
        max_running=st.integers(1, 3),
        max_waiting=st.integers(0, 4),
        max_per_client=st.sampled_from([None, 3]),
    )
    def start(self, max_running: int, max_waiting: int, max_per_client: int | None) -> None:
        self.limits = Limits(max_running, max_waiting, max_per_client)
        self.floor = Floor(max_running)
        self.all: list[Listener] = []
        self.streams: dict[Listener, Any] = {}
        self.is_held = self.is_refusing = self.is_closed = False
        self.runner = asyncio.Runner()
        logging.getLogger("app.worker").setLevel(logging.CRITICAL)  # spite is what it logs
        self.worker = Worker(
            lead_bytes=LEAD_BYTES,
            max_running=max_running,
            max_waiting=max_waiting,
            max_per_client=max_per_client,
        )

    # What can happen

    @rule(
        target=listeners,
        client=st.sampled_from("ab"),
        key=st.sampled_from([None, None, "model"]),
        steps=steps(),
        is_spiteful=st.booleans(),
    )
    def submit(
        self, client: str, key: str | None, steps: list[Step], *, is_spiteful: bool
    ) -> Listener:
        script = Script(self.floor, client, key, steps, is_spiteful)
        listener = Listener(script, Job(script.open, exclusive=key, client=client))
        expected: type[Exception] | None = ShuttingDownError
        if not self.is_refusing:
            expected = OverloadedError if self.limits.are_exceeded_by(script, self.all) else None
        self.streams[listener] = self.worker.stream(
            listener.job, on_position=listener.positions.append
        )
        self.all.append(listener)
        self._take(listener)
        self._rest()
        refused = isinstance(listener.error, OverloadedError | ShuttingDownError)
        # While the thread is held, what is cancelled may or may not be closed yet.
        if not self.is_held:
            assert refused == (expected is not None)
        if refused:
            assert isinstance(listener.error, expected or OverloadedError)
            assert script.openings == 0
            assert listener.positions == []
        return listener

    @rule(listener=listeners)
    def take_a_piece(self, listener: Listener) -> None:
        if not listener.is_over and listener.taking is None:
            self._take(listener)
            self._rest()

    @rule(listener=listeners)
    def cancel(self, listener: Listener) -> None:
        was_waiting = listener.is_waiting
        self._run(self._cancel(listener))
        assert listener.is_over
        assert self.is_held or not (was_waiting and listener.script.openings)
        self._rest()

    @rule(listener=listeners)
    def nudge(self, listener: Listener) -> None:
        script = listener.script
        # Where the thread is held within the step that finds nothing, it must go beyond that one.
        at = script.begun_steps - 1
        if self.is_held and script.done_steps == at and script.steps[at] is None:
            listener.must_pass = at + 1
        listener.nudges += 1
        was_idle = listener.is_idle
        done_steps, is_open = script.done_steps, script.is_open
        self.worker.nudge(listener.job)
        if not self.is_held:
            self._rest()
            assert (script.done_steps > done_steps or not script.is_open) == (
                was_idle or not is_open
            )

    @precondition(lambda self: not self.is_held)
    @rule()
    def hold(self) -> None:
        self.floor.gate.clear()
        self.is_held = True

    @precondition(lambda self: self.is_held)
    @rule()
    def release(self) -> None:
        self.floor.gate.set()
        self.is_held = False
        self._rest()
        for listener in self.all:
            script = listener.script
            assert script.done_steps > listener.must_pass or not (
                listener.must_pass and script.is_open
            )

    @precondition(lambda self: len(self.all) > 3)
    @rule()
    def refuse_new(self) -> None:
        self.worker.refuse_new()
        self.is_refusing = True

    @precondition(lambda self: len(self.all) > 5 and not self.is_closed)
    @rule()
    def close(self) -> None:
        self.floor.gate.set()
        self.is_held = False
        self._run(self.worker.close())
        self.is_refusing = self.is_closed = True
        self._rest()
        for listener in self.all:
            if listener.taking is None and not listener.is_over:
                self._run(self._drain(listener))
            assert listener.is_over

    # What always holds

    @invariant()
    def the_thread_lives_until_the_worker_is_closed(self) -> None:
        assert self._is_alive() != self.is_closed

    @invariant()
    def nothing_happened_on_the_thread_that_must_not(self) -> None:
        assert self.floor.faults == []
        for listener in self.all:
            assert listener.script.openings <= 1
            assert listener.script.closings <= listener.script.openings

    @invariant()
    def what_waits_and_runs_is_bounded(self) -> None:
        assert self.worker.running <= self.limits.max_running
        assert self.worker.waiting <= self.limits.max_waiting
        if self.limits.max_per_client is not None:
            waiting = Counter(x.script.client for x in self.all if x.is_waiting)
            assert max(waiting.values(), default=0) <= self.limits.max_per_client

    @invariant()
    def pieces_arrive_whole_and_in_order(self) -> None:
        for listener in self.all:
            script = listener.script
            promised = [step for step in script.steps if isinstance(step, Parcel)]
            assert listener.received == promised[: len(listener.received)]
            passed = script.steps[: max(0, script.done_steps - 1)]
            assert passed.count(None) <= listener.nudges

    @precondition(lambda self: not self.is_held)
    @invariant()
    def at_rest_positions_have_no_holes_and_tell_the_order(self) -> None:
        for place, listener in enumerate(order_waiting(self.all), start=1):
            assert listener.positions[-1] == place

    @invariant()
    def a_position_is_told_when_it_changes_and_never_after_the_end(self) -> None:
        for listener in self.all:
            told = listener.positions
            assert all(before != after for before, after in pairwise(told))
            assert 0 not in told[:-1]
            assert listener.positions_at_end in {None, len(told)}

    @precondition(lambda self: not self.is_held)
    @invariant()
    def at_rest_nothing_is_left_that_could_be_done(self) -> None:
        running = [listener for listener in self.all if listener.script.is_open]
        waiting = order_waiting(self.all)
        assert (self.worker.running, self.worker.waiting) == (len(running), len(waiting))
        assert self.worker.jobs == len(running) + len(waiting)
        held_keys = {listener.script.key for listener in running} - {None}
        for listener in waiting:
            assert len(running) == self.limits.max_running or listener.script.key in held_keys
        for listener in running:
            assert not listener.is_over
            assert listener.is_idle or listener.is_parked

    @precondition(lambda self: not self.is_held)
    @invariant()
    def at_rest_a_reader_has_all_that_was_made_for_it_and_the_error(self) -> None:
        for listener in self.all:
            if listener.taking is not None:
                assert listener.received == listener.made
                assert listener.is_waiting or listener.script.is_open
            if isinstance(listener.error, ValueError | RuntimeError):
                kind = SystemExit if listener.script.is_spiteful else listener.script.last_step
                assert kind in {type(listener.error), type(listener.error.__cause__)}

    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        self.floor.gate.set()
        for listener in self.all:
            self._run(self._cancel(listener))
        self._run(self.worker.wait_until_idle())
        assert (self.worker.running, self.worker.waiting, self.worker.jobs) == (0, 0, 0)
        assert self.floor.open == []
        assert all(x.script.closings == x.script.openings for x in self.all)
        self._run(self.worker.close())
        assert not self._is_alive()
        self.runner.close()
        logging.getLogger("app.worker").setLevel(logging.NOTSET)

    # How

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(asyncio.wait_for(work, WAIT_SECONDS))

    def _rest(self) -> None:
        async def rest() -> None:
            if not (self.is_held or self.is_closed):
                await settle(self.worker)
            for _ in range(5):
                await asyncio.sleep(0)

        self._run(rest())
        for listener in self.all:
            listener.note()

    def _take(self, listener: Listener) -> None:
        async def ask() -> None:
            stream = self.streams[listener]
            listener.taking = asyncio.ensure_future(anext(stream, None))

        self._run(ask())

    async def _cancel(self, listener: Listener) -> None:
        if listener.taking is not None:
            listener.taking.cancel()
            await asyncio.wait([listener.taking])
            listener.note()
        await self.streams[listener].aclose()
        if not listener.is_over:
            listener.end()

    async def _drain(self, listener: Listener) -> None:
        """Take what was made before the worker closed, up to the error that says so."""
        try:
            async for piece in self.streams[listener]:
                listener.received.append(piece)
        except (ShuttingDownError, ValueError, RuntimeError) as error:
            listener.error = error
        listener.end()

    def _is_alive(self) -> bool:
        return self.worker._thread.is_alive()  # noqa: SLF001 - nothing else tells


TestWorker = WorkerMachine.TestCase
TestWorker.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
