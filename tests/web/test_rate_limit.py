"""How often a client may ask."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import RateLimitedError
from app.web.rate_limit import MOST_CLIENTS, RateLimit
from tests.web.asgi import Client, living
from tests.web.doors import (
    KEY,
    SECRET,
    SPEECH,
    TRUSTED_KEY,
    TRUSTED_SECRET,
    URL,
    bear,
    build,
    build_sockets,
    open_socket,
)

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@given(st.integers(1, 1_000), st.integers(0, 3))
def test_a_minutes_worth_is_free_at_once_and_then_as_much_as_time_gives(
    per_minute: int, minutes: int
) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError):
        limit.take("a")
    # Not more than a bucket is saved up.
    clock.seconds += 60.001 * (1 + minutes)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError):
        limit.take("a")


@given(st.integers(1, 1_000))
def test_who_comes_when_told_is_let_in_and_who_comes_sooner_is_not(per_minute: int) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError) as refused:
        limit.take("a")
    wait_seconds = refused.value.retry_after_seconds or 0.0
    assert wait_seconds == pytest.approx(60 / per_minute, rel=0.01)
    clock.seconds += wait_seconds * 0.9
    with pytest.raises(RateLimitedError):
        limit.take("a")
    clock.seconds += wait_seconds * 0.11
    limit.take("a")


def test_one_client_does_not_use_up_anothers() -> None:
    limit = RateLimit(1, Clock())
    limit.take("a")
    limit.take("b")


def test_clients_are_forgotten_once_it_makes_no_difference() -> None:
    clock = Clock()
    limit = RateLimit(60, clock)
    for index in range(100):
        limit.take(str(index))
    assert limit.clients == 100
    clock.seconds += 1.01
    limit.take("last")
    assert limit.clients == 1


def test_no_number_of_clients_takes_more_than_a_bounded_memory() -> None:
    limit = RateLimit(1, Clock())
    for index in range(MOST_CLIENTS + 500):
        limit.take(str(index))
    assert limit.clients == MOST_CLIENTS
    with pytest.raises(RateLimitedError):
        limit.take(str(MOST_CLIENTS + 499))


def test_who_was_silent_for_longest_is_forgotten_first() -> None:
    limit = RateLimit(2, Clock())
    for index in range(MOST_CLIENTS):
        limit.take(str(index))
    for client in ("0", "new", "newer"):
        limit.take(client)
    # Only this one is as if it had never come.
    limit.take("1")
    limit.take("1")
    with pytest.raises(RateLimitedError):
        limit.take("0")


async def test_too_many_speeches_are_refused_with_the_time_to_come_again() -> None:
    async with living(build(speeches_per_minute=2)) as app:
        assert (await Client(app).post(URL, SPEECH)).status == 200
        assert (await Client(app).get(f"{URL}?input=one")).status == 200
        reply = await Client(app).post(URL, SPEECH)
        assert reply.status == 429
        assert reply.error["code"] == "rate_limit_exceeded"
        assert 1 <= int(reply.headers["retry-after"]) <= 30
        # Nothing else is counted, and OPTIONS makes no speech.
        assert (await Client(app).get("/v1/models")).status == 200
        assert (await Client(app).request("OPTIONS", URL)).status == 204


async def test_each_key_has_a_rate_of_its_own_and_who_has_none_uses_up_none() -> None:
    async with living(build(speeches_per_minute=1, keys=(KEY, TRUSTED_KEY))) as app:
        for _ in range(3):
            assert (await Client(app).post(URL, SPEECH)).status == 401
        statuses = [
            (await Client(app, headers=bear(secret)).post(URL, SPEECH)).status
            for secret in (SECRET, SECRET, TRUSTED_SECRET)
        ]
    assert statuses == [200, 429, 200]


async def test_a_rate_of_zero_is_none() -> None:
    async with living(build(speeches_per_minute=0)) as app:
        for _ in range(3):
            assert (await Client(app).post(URL, SPEECH)).status == 200


async def test_a_socket_that_opens_for_a_speech_is_counted() -> None:
    app = build_sockets(speeches_per_minute=1)
    path = "/v1/audio/speech/stream"
    assert (await open_socket(app, path=path))[0]["type"] == "websocket.accept"
    start, body = await open_socket(app, path=path)
    assert start["status"] == 429
    assert dict(start["headers"])[b"retry-after"] == b"60"
    assert json.loads(body["body"])["error"]["code"] == "rate_limit_exceeded"
    assert (await open_socket(app))[0]["type"] == "websocket.accept"
