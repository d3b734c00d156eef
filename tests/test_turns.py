"""Fair turns: shares between clients, then between a client's jobs, whatever their pieces cost."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turns import LEAST_COST, FairTurns

costs = st.floats(LEAST_COST, 10.0)
TURNS = 60
SLACK = LEAST_COST + 1e-9
"""What the order of arrival may make of a difference, and rounding."""


@dataclass(frozen=True, eq=False)
class Runner:
    """A job, by name."""

    client: Hashable
    name: str = ""


class Track:
    """Turns as the worker takes them: each runner is ready again after its own, unless it rests."""

    def __init__(self, *runners: Runner) -> None:
        self.turns = FairTurns[Runner]()
        self.costs: defaultdict[Hashable, float] = defaultdict(float)
        for runner in runners:
            self.turns.add(runner)

    def serve(self, cost: float, *, resting: bool = False) -> Runner:
        runner = self.turns.take()
        assert runner is not None
        self.turns.charge(runner, cost, again=not resting)
        self.costs[runner] += cost
        self.costs[runner.client] += cost
        return runner


def name_runners(client: str, count: int) -> list[Runner]:
    return [Runner(client, f"{client}{index}") for index in range(count)]


@given(st.integers(1, 5), st.integers(1, 5), st.lists(costs, min_size=1, max_size=TURNS))
def test_two_clients_with_any_numbers_of_jobs_get_equal_cost_within_one_piece(
    n: int, m: int, pieces: list[float]
) -> None:
    track = Track(*name_runners("a", n), *name_runners("b", m))
    for cost in pieces:
        track.serve(cost)
        assert abs(track.costs["a"] - track.costs["b"]) <= max(pieces) + SLACK


@given(st.integers(2, 5), st.lists(costs, min_size=1, max_size=TURNS))
def test_the_jobs_of_one_client_get_equal_cost_within_one_piece(
    n: int, pieces: list[float]
) -> None:
    runners = name_runners("a", n)
    track = Track(*runners, Runner("b"))
    for cost in pieces:
        track.serve(cost)
        shares = [track.costs[runner] for runner in runners]
        assert max(shares) - min(shares) <= max(pieces) + SLACK


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
    st.lists(costs, max_size=TURNS),
    st.lists(costs, min_size=4, max_size=4),
    st.sampled_from("abz"),
)
def test_a_newcomer_is_served_within_one_turn_of_each_client(
    clients: list[str], before: list[float], after: list[float], client: str
) -> None:
    track = Track(*map(Runner, clients))
    for cost in before:
        track.serve(cost)
    if client in clients:
        client = "newcomer"
    newcomer = Runner(client)
    track.turns.add(newcomer)
    others: list[Hashable] = []
    for cost in after:
        runner = track.serve(cost)
        if runner is newcomer:
            break
        others.append(runner.client)
    else:
        pytest.fail("the newcomer got no turn")
    assert len(others) == len(set(others))


@given(st.integers(2, 5), st.lists(costs, max_size=TURNS), st.lists(costs, min_size=6, max_size=6))
def test_a_new_job_is_served_within_one_turn_of_each_job_of_its_client(
    n: int, before: list[float], after: list[float]
) -> None:
    track = Track(*name_runners("a", n))
    for cost in before:
        track.serve(cost)
    newcomer = Runner("a", "new")
    track.turns.add(newcomer)
    others = []
    for cost in after:
        if (runner := track.serve(cost)) is newcomer:
            break
        others.append(runner)
    else:
        pytest.fail("the newcomer got no turn")
    assert len(others) == len(set(others))


@given(st.lists(costs, min_size=1, max_size=TURNS), st.lists(costs, min_size=1, max_size=TURNS))
def test_one_that_rested_gets_no_more_than_its_share_from_then_on(
    before: list[float], after: list[float]
) -> None:
    """Start-time fair queueing bounds the difference by one piece of each, in any interval."""
    rested, steady = Runner("a"), Runner("b")
    track = Track(rested, steady)
    for cost in before:
        track.serve(cost)
    for _ in range(round(sum(before) / before[0]) + 2):
        if track.serve(before[0], resting=True) is rested:
            break
        track.turns.add(steady)
    else:
        pytest.fail("the one that is to rest got no turn")
    for cost in before:
        assert track.serve(cost) is steady
    track.turns.add(rested)
    track.costs.clear()
    for cost in after:
        track.serve(cost)
        bound = 2 * max(before + after)
        assert abs(track.costs["a"] - track.costs["b"]) <= bound + SLACK


@given(st.lists(costs, min_size=2, max_size=TURNS))
def test_those_that_rest_after_each_turn_keep_their_share(pieces: list[float]) -> None:
    track = Track(Runner("a"), Runner("b"))
    for cost in pieces:
        track.turns.add(track.serve(cost, resting=True))
        assert abs(track.costs["a"] - track.costs["b"]) <= max(pieces) + SLACK


@given(st.lists(costs, min_size=2, max_size=TURNS))
def test_ever_new_clients_do_not_keep_an_old_one_waiting_forever(pieces: list[float]) -> None:
    old = Runner("old")
    track = Track(Runner("first"), old)
    turns_of_others = 0
    for number, cost in enumerate(pieces):
        runner = track.serve(cost, resting=True)
        turns_of_others = 0 if runner is old else turns_of_others + 1
        assert turns_of_others <= 1 + max(pieces) / LEAST_COST
        track.turns.add(old if runner is old else Runner(number))


@given(st.lists(costs, min_size=2, max_size=TURNS))
def test_a_client_gains_nothing_by_making_a_job_of_each_piece(pieces: list[float]) -> None:
    track = Track(Runner("a"), Runner("b"))
    for cost in pieces:
        runner = track.serve(cost, resting=True)
        if runner.client == "a":
            track.turns.forget(runner)
            track.turns.add(Runner("a"))
        else:
            track.turns.add(runner)
        assert abs(track.costs["a"] - track.costs["b"]) <= max(pieces) + SLACK


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6, unique=True), costs)
def test_equal_costs_are_a_round_robin_in_order_of_arrival(clients: list[str], cost: float) -> None:
    track = Track(*map(Runner, clients))
    order = [track.serve(cost).client for _ in range(3 * len(clients))]
    assert order == clients * 3


@given(st.lists(costs, max_size=9))
def test_turns_that_cost_nothing_do_not_keep_the_others_waiting_forever(
    pieces: list[float],
) -> None:
    free, paying = Runner("a"), Runner("b")
    track = Track(free, paying)
    for cost in pieces:
        track.serve(cost)
    for _ in range(round(10 / LEAST_COST) + 2):
        if track.serve(0.0) is paying:
            return
    pytest.fail("the other got no turn")


def test_what_was_used_while_nobody_waited_is_not_held_against_anyone() -> None:
    early, late = Runner("a"), Runner("b")
    track = Track(early)
    track.serve(10.0, resting=True)
    assert track.turns.take() is None
    track.turns.add(late)
    track.turns.add(early)
    assert [track.serve(1.0) for _ in range(4)] == [late, early, late, early]


def test_one_that_is_over_gets_no_turn_and_its_client_none_without_it() -> None:
    over, other = Runner("a"), Runner("b")
    track = Track(over, other)
    track.turns.forget(over)
    assert [track.serve(1.0) for _ in range(3)] == [other] * 3
    track.turns.forget(other)
    assert not track.turns
    assert track.turns.take() is None


def test_a_newcomer_during_a_turn_comes_before_the_next_turn_of_the_same_client() -> None:
    far, near, newcomer = Runner("far"), Runner("near"), Runner("new")
    turns = Track(far, near).turns
    assert turns.take() is far
    turns.charge(far, 9.0, again=True)
    assert turns.take() is near
    turns.add(newcomer)
    turns.charge(near, 1.0, again=True)
    assert turns.take() is newcomer


def test_a_job_that_becomes_ready_during_its_clients_turn_waits_for_the_cost_of_that() -> None:
    first, second, other = Runner("a", "1"), Runner("a", "2"), Runner("b")
    turns = FairTurns[Runner]()
    turns.add(first)
    turns.add(other)
    assert turns.take() is first
    turns.add(second)
    turns.charge(first, 1.0, again=False)
    assert turns.take() is other


def test_nothing_is_kept_of_jobs_and_clients_that_are_over() -> None:
    turns = FairTurns[Runner]()
    steady = Runner("steady")
    turns.add(steady)
    for number in range(1_000):
        passing = Runner(number)
        turns.add(passing)
        while (runner := turns.take()) is steady:
            turns.charge(steady, 1.0, again=True)
        assert runner is passing
        turns.charge(passing, 1.0, again=False)
        turns.forget(passing)
    assert len(turns._members) == 1  # noqa: SLF001 - a leak shows nowhere else
    assert len(turns._clients._finish) <= 1 + 1 / LEAST_COST  # noqa: SLF001
