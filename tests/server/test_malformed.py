"""What is not a request that anybody could answer, and what is more than anybody should read."""

import logging
from collections.abc import Iterator

import pytest

from app.server import http
from app.server.config import MAX_HEAD_BYTES
from tests.server.clients import (
    Client,
    build,
    leaving_nothing,
    outlasting_farewells,
    playing_on,
    wait_until,
    write_request,
)
from tests.serving import Served, running

HEAD = b"POST /v1/audio/speech HTTP/1.1\r\nHost: legato\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with outlasting_farewells(), running(build()) as served:
        yield served


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", id="NUL in a header"),
        pytest.param(b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", id="NUL in the path"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"GET / HTTP/1.1\r\nHost a\r\n\r\n", id="no colon"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", id="two lengths"),
        pytest.param(HEAD + b"Transfer-Encoding: gzip\r\n\r\n", id="unknown coding"),
        pytest.param(CHUNKED + b"zz\r\n", id="bad chunk"),
    ],
)
def test_what_is_not_http_is_answered_with_400_and_a_close(
    served: Served, request_bytes: bytes
) -> None:
    with leaving_nothing(served), Client(served.port).send(request_bytes) as client:
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (400, "malformed_request")
        assert client.ends()


@pytest.mark.parametrize("size", [MAX_HEAD_BYTES + 1, 1_000_000])
@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_headers_over_the_bound_are_answered_with_431_whether_they_end_or_not(
    served: Served, size: int, end: bytes
) -> None:
    head = b"GET /livez HTTP/1.1\r\nHost: legato\r\nX: "
    with leaving_nothing(served), Client(served.port) as client:
        client.send(head + b"a" * (size - len(head)) + end)
        answer = client.answer()
        assert (answer.status, answer.error["code"]) == (431, "headers_too_large")
        assert client.ends()


def test_headers_as_long_as_may_be_are_read_and_a_body_behind_them_does_not_count(
    served: Served,
) -> None:
    body = b"{" + b" " * 90_000 + b"}"
    request = write_request("/v1/audio/speech", body, "X: ")
    head_bytes = len(request) - len(body)
    request = request.replace(b"X: ", b"X: " + b"a" * (MAX_HEAD_BYTES - head_bytes))
    with leaving_nothing(served), Client(served.port).send(request) as client:
        assert "`input`" in client.answer().error["message"]


BODIES = {
    "invalid UTF-8": b'{"input": "\xff\xfe"}',
    "a surrogate in UTF-8": b'{"input": "\xed\xa0\x80"}',
    "half a surrogate pair": b'{"input": "\\ud800"}',
    "NUL in a string": b'{"input": "a\0b"}',
    "NULs alone": b"\0" * 1000,
    "NUL as the whole text": b'{"input": "\\u0000"}',
    "half of the JSON": b'{"input": "a"',
    "deep JSON": b"[" * 100_000,
}


def test_a_body_that_is_not_json_of_text_is_answered_with_400(served: Served) -> None:
    with playing_on(served):
        answers = {}
        for name, body in BODIES.items():
            with Client(served.port).send(write_request("/v1/audio/speech", body)) as client:
                answer = client.answer()
                answers[name] = answer.status, answer.error["type"]
        assert answers == dict.fromkeys(BODIES, (400, "invalid_request_error"))


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/nowhere"])
def test_a_body_of_10_mb_is_answered_before_it_has_come_and_closes_the_connection(
    served: Served, path: str
) -> None:
    body = bytes(10_000_000)
    with playing_on(served), Client(served.port).send(write_request(path, body)) as client:
        assert client.answer().status == {"/nowhere": 404}.get(path, 413)
        assert client.ends()


def test_a_body_of_10_mb_in_chunks_is_answered_with_413_once_it_is_too_long(
    served: Served,
) -> None:
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    with playing_on(served), Client(served.port).send(CHUNKED) as client:
        client.send(chunk * (10_000_000 // 0x4000))
        assert client.answer().status == 413
        assert client.ends()


def test_what_comes_after_the_last_answer_is_dropped_in_silence(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with leaving_nothing(served), Client(served.port).send(b"GET /\0\r\n\r\n") as client:
        assert client.answer().status == 400
        client.send(bytes(500_000))
        assert client.ends()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_client_that_does_not_go_once_it_was_answered_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "FAREWELL_SECONDS", 0.1)
    with running(build()) as served, Client(served.port).send(b"GET /\0\r\n\r\n") as client:
        assert client.answer().status == 400
        wait_until(lambda: len(served.server.connections) == 0)


def test_a_malformed_body_behind_an_answer_ends_the_connection(served: Served) -> None:
    request = CHUNKED.replace(b"/v1/audio/speech", b"/nowhere")
    with leaving_nothing(served), Client(served.port).send(request) as client:
        assert client.answer().status == 404
        client.send(b"zz\r\n")
        assert client.ends()


def test_a_small_body_that_nobody_asked_for_does_not_cost_the_connection(served: Served) -> None:
    request = write_request("/nowhere", bytes(10_000))
    with leaving_nothing(served), Client(served.port) as client:
        client.send(request[:-9_000])
        assert client.answer().status == 404
        client.send(request[-9_000:] + write_request("/livez", method="GET"))
        assert client.answer().status == 200
