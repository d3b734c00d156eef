"""Who runs, who waits in which order, and what those turned away are told."""

from collections.abc import Hashable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.admission import HALF_LIFE_COST, Lanes, Pace


@dataclass(frozen=True, eq=False)
class Visitor:
    client: Hashable = None
    exclusive: Hashable | None = None


def open_lanes(
    *, max_running: int = 1, max_waiting: int = 99, max_per_client: int | None = None
) -> Lanes[Visitor]:
    return Lanes(max_running=max_running, max_waiting=max_waiting, max_per_client=max_per_client)


visitors = st.builds(Visitor, st.sampled_from("abc"), st.sampled_from([None, "model"]))


@given(st.lists(st.sampled_from("abc"), max_size=20))
def test_no_client_stands_before_another_with_more_of_its_jobs_ahead(clients: list[str]) -> None:
    lanes = open_lanes(max_running=0)
    for client in clients:
        lanes.enter(Visitor(client))
    ranks = []
    for place, visitor in enumerate(lanes.waiting):
        ahead = lanes.waiting[:place]
        ranks.append(sum(other.client == visitor.client for other in ahead))
    assert ranks == sorted(ranks)


@given(st.lists(st.sampled_from("abc"), max_size=20))
def test_each_client_keeps_its_own_order(clients: list[str]) -> None:
    lanes = open_lanes(max_running=0)
    arrived = [Visitor(client) for client in clients]
    for visitor in arrived:
        lanes.enter(visitor)
    for client in "abc":
        waiting = [visitor for visitor in lanes.waiting if visitor.client == client]
        assert waiting == [visitor for visitor in arrived if visitor.client == client]


@given(st.integers(0, 6), st.integers(1, 9))
def test_a_waiting_job_is_overtaken_by_few_though_new_clients_come_forever(
    mine: int, newcomers: int
) -> None:
    """Those that came before are passed by nobody's second: what is ahead only gets less."""
    lanes = open_lanes()
    holder = Visitor("holder")
    lanes.enter(holder)
    last = Visitor("a")
    for visitor in (*(Visitor("a") for _ in range(mine)), last):
        lanes.enter(visitor)
    turns = 0
    running = holder
    while running is not last:
        for _ in range(newcomers):
            lanes.enter(Visitor(object()))
        successor = lanes.leave(running)
        assert successor is not None
        running = successor
        turns += 1
        assert turns <= (mine + 1) * (mine + 1) * (newcomers + 1)


@given(st.lists(visitors, max_size=20), st.integers(1, 3), st.data())
def test_nobody_waits_who_could_run(
    arrived: list[Visitor], max_running: int, data: st.DataObject
) -> None:
    lanes = open_lanes(max_running=max_running)
    for visitor in arrived:
        lanes.enter(visitor)
    while lanes:
        keys = [visitor.exclusive for visitor in lanes.running if visitor.exclusive is not None]
        assert len(keys) == len(set(keys))
        assert len(lanes.running) <= max_running
        for visitor in lanes.waiting:
            assert len(lanes.running) == max_running or visitor.exclusive in keys
        lanes.leave(data.draw(st.sampled_from(lanes.running + lanes.waiting)))


@given(st.lists(visitors, max_size=20), st.integers(0, 3), st.integers(1, 3))
def test_the_bounds_hold_when_refusals_are_heeded(
    arrived: list[Visitor], max_waiting: int, max_per_client: int
) -> None:
    lanes = open_lanes(max_running=2, max_waiting=max_waiting, max_per_client=max_per_client)
    for visitor in arrived:
        if lanes.explain_refusal(visitor) is None:
            lanes.enter(visitor)
        clients = [other.client for other in lanes.running + lanes.waiting]
        assert len(lanes.waiting) <= max_waiting
        assert all(clients.count(client) <= max_per_client for client in clients)


def test_the_pace_is_unknown_at_first() -> None:
    pace = Pace()
    assert (pace.cost_seconds, pace.retry_after_seconds) == (0.0, 1)
    pace.note_turn(1.0, 0.0)
    assert pace.cost_seconds == 0.0


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=50), st.floats(0.01, 2.0))
def test_a_steady_pace_is_measured_exactly(costs: list[float], ratio: float) -> None:
    pace = Pace()
    for cost in costs:
        pace.note_turn(cost * ratio, cost)
    assert pace.cost_seconds == pytest.approx(ratio)


def test_an_old_pace_counts_for_half_after_the_half_life() -> None:
    pace = Pace()
    for ratio in (1.0, 0.0):
        for _ in range(1_000):
            pace.note_turn(ratio * HALF_LIFE_COST / 100, HALF_LIFE_COST / 100)
        if ratio:
            assert pace.cost_seconds == pytest.approx(1.0)
    for _ in range(1_000):
        pace.note_turn(HALF_LIFE_COST / 100, HALF_LIFE_COST / 100)
    before = pace.cost_seconds
    for _ in range(100):
        pace.note_turn(0.0, HALF_LIFE_COST / 100)
    assert pace.cost_seconds == pytest.approx(before / 2, rel=0.01)


@pytest.mark.parametrize(
    ("ratio", "cost", "seconds"), [(0.5, 9.0, 5), (0.1, 1.0, 1), (2.0, 500.0, 60)]
)
def test_the_time_to_come_again_is_what_a_job_takes_within_bounds(
    ratio: float, cost: float, seconds: int
) -> None:
    pace = Pace()
    pace.note_turn(ratio * cost, cost)
    pace.note_end(cost)
    assert pace.retry_after_seconds == seconds


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=30))
def test_the_mean_cost_of_the_first_jobs_is_their_mean(costs: list[float]) -> None:
    pace = Pace()
    pace.note_turn(1.0, 1.0)
    for cost in costs:
        pace.note_end(cost)
    mean = sum(costs) / len(costs)
    assert pace.retry_after_seconds - 1 - 1e-6 <= max(mean, 1) or pace.retry_after_seconds == 1
    assert pace.retry_after_seconds + 1e-6 >= min(60.0, mean)
