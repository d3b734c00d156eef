"""stream_format "sse": the same bytes in base64, then what it took, or what went wrong."""

import base64
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.formats import FORMATS
from app.speech.stream import EncodedChunk
from app.web.audio_events import write_audio_events
from tests.voices import SilentEngine, ToneEngine
from tests.web.asgi import Client, Reply, living
from tests.web.test_speech import URL, build

pytestmark = pytest.mark.anyio
BODY = {"input": "one two three four", "stream_format": "sse"}


@pytest.fixture
async def app() -> AsyncGenerator[Litestar]:
    async with living(build()) as app:
        yield app


def read_events(body: bytes) -> list[dict[str, Any]]:
    lines = body.decode().splitlines()
    assert all(line == "" or line.startswith("data: ") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines if line]


def join(events: list[dict[str, Any]]) -> bytes:
    deltas = [event for event in events if event["type"] == "speech.audio.delta"]
    return b"".join(base64.b64decode(delta["audio"], validate=True) for delta in deltas)


async def ask(app: Litestar, **fields: object) -> Reply:
    return await Client(app).post(URL, {**BODY, **fields})


@pytest.mark.parametrize("name", sorted(FORMATS))
async def test_the_deltas_are_the_bytes_of_the_format_that_was_asked_for(
    app: Litestar, name: str
) -> None:
    plain = await ask(app, response_format=name, stream_format="audio")
    reply = await ask(app, response_format=name)
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "content-disposition" not in reply.headers
    body = join(read_events(reply.body))
    assert count_containers(body, name) == 1
    decoded, expected = decode_body(body, name), decode_body(plain.body, name)
    assert decoded.total_samples == expected.total_samples


async def test_it_ends_with_done_and_its_usage(app: Litestar) -> None:
    events = read_events((await ask(app)).body)
    assert [event["type"] for event in events[:-1]] == ["speech.audio.delta"] * (len(events) - 1)
    assert events[-1] == {
        "type": "speech.audio.done",
        # 18 characters; four words of 0.1 s and no pause.
        "usage": {"input_tokens": 18, "output_tokens": 8, "total_tokens": 26},
    }


async def test_each_delta_leaves_as_it_is_made() -> None:
    engine = ToneEngine()
    made_at_piece: list[int] = []

    def note(_reply: Reply) -> None:
        made_at_piece.append(engine.chunks_made)

    async with living(build(engine, lead_bytes=4096)) as app:
        text = " ".join(["word"] * 200)
        await Client(app, note).post(URL, {**BODY, "input": text, "response_format": "pcm"})
    assert made_at_piece[0] < 20
    assert len(made_at_piece) > 100


async def test_a_failure_midway_is_an_event_of_type_error_and_nothing_after_it() -> None:
    async with living(build(ToneEngine(fail_after=3))) as app:
        reply = await ask(app, response_format="pcm")
    events = read_events(reply.body)
    assert [event["type"] for event in events] == [*["speech.audio.delta"] * 3, "error"]
    assert events[-1]["error"]["type"] == "server_error"
    assert "the model broke" not in reply.body.decode()
    assert reply.complete


async def test_a_failure_before_the_first_delta_is_an_honest_status() -> None:
    async with living(build(ToneEngine(fail_after=0))) as app:
        assert (await ask(app)).status == 500
    async with living(build(SilentEngine())) as app:
        assert (await ask(app)).error["code"] == "nothing_to_speak"


async def test_events_are_sent_while_it_is_made_whatever_stream_says(app: Litestar) -> None:
    reply = await ask(app, stream=False)
    assert read_events(reply.body) == read_events((await ask(app)).body)


async def test_leaving_midway_closes_the_voice() -> None:
    engine = ToneEngine()
    async with living(build(engine, lead_bytes=4096)) as app:
        client = Client(app)
        client.on_piece = lambda _reply: client.hang_up.set()
        await client.post(
            URL, {**BODY, "input": " ".join(["word"] * 200), "response_format": "pcm"}
        )
        assert app.state.studio.worker.jobs == 0 or engine.chunks_made < 200
    assert engine.closed.is_set()


@given(st.lists(st.binary(max_size=50), max_size=8).filter(any))
async def test_any_cut_of_the_bytes_is_the_same_bytes(pieces: list[bytes]) -> None:
    async def give() -> AsyncGenerator[EncodedChunk]:
        for data in pieces:
            yield EncodedChunk(data, 1_200, 24_000)

    written = [event async for event in write_audio_events(give(), characters=3)]
    events = read_events(b"".join(written))
    assert join(events) == b"".join(pieces)
    assert events[-1]["usage"]["output_tokens"] == len(pieces)
