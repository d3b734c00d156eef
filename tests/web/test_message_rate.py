"""Messages that come too fast are read later, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from app.web.message_rate import BURST_SECONDS, MessageRate


@given(st.integers(1, 500), st.lists(st.floats(0, 0.5), min_size=1, max_size=80))
def test_never_more_than_the_rate_and_one_burst_pass(per_second: int, pauses: list[float]) -> None:
    clock = [100.0]
    rate = MessageRate(per_second, now=lambda: clock[0])
    passed: list[float] = []
    for pause in pauses:
        clock[0] += pause
        clock[0] += rate.delay_seconds()
        passed.append(clock[0])
    for index, start in enumerate(passed):
        within = sum(start <= moment <= start + 1 for moment in passed[index:])
        assert within <= per_second * (1 + BURST_SECONDS) + 1


def test_who_keeps_to_the_rate_never_waits() -> None:
    clock = [0.0]
    rate = MessageRate(10, now=lambda: clock[0])
    for _ in range(100):
        assert rate.delay_seconds() == 0
        clock[0] += 0.1


def test_who_does_not_waits_for_each_message_over_the_burst() -> None:
    rate = MessageRate(10, now=lambda: 0.0)
    delays = [rate.delay_seconds() for _ in range(13)]
    assert delays[:10] == [0] * 10
    assert [round(delay, 6) for delay in delays[10:]] == [0.1, 0.2, 0.3]
