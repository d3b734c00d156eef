"""How long a client may take: for the headers, for the body, and between two requests."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from app.server.deadline import Deadline
from tests.server.clients import (
    Client,
    build,
    count,
    leaving_nothing,
    outlasting_farewells,
    playing_on,
    wait_until,
    write_request,
)
from tests.serving import Served, running

HALF_HEAD = b"GET /livez HTTP/1.1\r\nHost: le"
HALF_BODY = write_request("/v1/audio/speech", b'{"input": "Hello."}')[:-5]
WHOLE = write_request("/livez", method="GET")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with outlasting_farewells(), running(build(header_seconds=0.2, idle_seconds=0.2)) as served:
        yield served


def test_half_of_the_headers_is_answered_with_408_and_nothing_else_is_held_up(
    served: Served,
) -> None:
    with playing_on(served), Client(served.port).send(HALF_HEAD) as client:
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (408, "request_timeout")
        assert client.ends()


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(served: Served) -> None:
    with leaving_nothing(served), Client(served.port) as client:
        assert client.ends()


def test_headers_that_trickle_in_have_no_more_time_than_others(served: Served) -> None:
    with leaving_nothing(served), Client(served.port) as client:
        client.socket.settimeout(0.02)
        for byte in b"GET /livez HTTP/1.1\r\nX: " + b"a" * 100:
            client.send(bytes([byte]))
            with suppress(TimeoutError):
                assert client.answer().status == 408
                break
        else:
            pytest.fail("a byte now and then was enough")


def test_the_time_for_headers_begins_with_the_first_byte_of_each_request(served: Served) -> None:
    with leaving_nothing(served), Client(served.port) as client:
        for _ in range(2):
            assert client.send(WHOLE).answer().status == 200
        # With uvicorn's keep-alive running until then, this is the deadline of the new request.
        assert client.send(HALF_HEAD).answer().status == 408


def test_a_client_may_be_silent_between_two_requests(served: Served) -> None:
    with leaving_nothing(served), Client(served.port) as client:
        assert client.send(WHOLE).answer().status == 200
        with Client(served.port) as other:
            assert other.ends()
        assert client.send(WHOLE).answer().status == 200


def test_a_body_that_stops_coming_is_answered_with_408(served: Served) -> None:
    with playing_on(served), Client(served.port).send(HALF_BODY) as client:
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (408, "request_timeout")
        assert client.ends()


def test_a_body_may_come_slowly_as_long_as_it_comes(served: Served) -> None:
    body = b'{"input": "."}'
    with leaving_nothing(served), Client(served.port) as client:
        request = write_request("/v1/audio/speech", body)
        client.send(request[: -len(body)])
        client.socket.settimeout(0.02)
        for byte in body[:-1]:
            client.send(bytes([byte]))
            with pytest.raises(TimeoutError):
                client.begin_answer()
        assert client.send(body[-1:]).answer().error["code"] == "nothing_to_speak"


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY])
def test_half_a_request_that_came_with_the_one_before_has_no_more_time_than_others(
    served: Served, half: bytes
) -> None:
    with leaving_nothing(served), Client(served.port).send(WHOLE + half) as client:
        assert client.answer().status == 200
        assert client.answer().status == 408
        wait_until(lambda: count(served)["requests"] == 0)


@pytest.mark.anyio
async def test_a_deadline_that_is_started_anew_ends_once_and_one_that_is_stopped_never() -> None:
    ends: list[str] = []
    loop = asyncio.get_running_loop()
    first, second = Deadline(loop, 0.01), Deadline(loop, 0.01)
    first.start(lambda: ends.append("too early"))
    second.start(lambda: ends.append("though stopped"))
    second.stop()
    over = asyncio.Event()
    first.start(over.set)
    assert (first.is_running, second.is_running) == (True, False)
    await over.wait()
    assert not first.is_running
    assert ends == []
