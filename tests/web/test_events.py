"""GET /v1/audio/speech/{id}/events: what is told beside the sound, and to whom."""

import json
from typing import Any
from uuid import UUID, uuid4

import anyio
import pytest
from litestar import Litestar

from app.worker import Job
from tests.voices import ToneEngine
from tests.web.asgi import Client, Reply, living
from tests.web.test_speech import LARGE, URL, build, occupied

pytestmark = pytest.mark.anyio
TEXT = "one two three"


async def speak(app: Litestar, stream_id: str, **fields: object) -> Reply:
    client = Client(app, headers={"X-Request-Id": stream_id})
    return await client.post(URL, {"input": TEXT, **fields})


async def follow(app: Litestar, stream_id: str, last: int | None = None) -> Reply:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    return await Client(app, headers=headers).get(f"{URL}/{stream_id}/events")


def read(reply: Reply) -> list[tuple[int, str, dict[str, Any]]]:
    """Read the numbers, names and data of an event stream (WHATWG HTML, 9.2.6)."""
    events = []
    for block in reply.body.decode().split("\r\n\r\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line)
        if "data" in fields:
            events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return events


def names(reply: Reply) -> list[str]:
    return [name for _, name, _ in read(reply)]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_speech_is_told_from_its_start_to_its_total(stream: bool) -> None:  # noqa: FBT001
    stream_id = str(uuid4())
    async with living(build()) as app:
        spoken = await speak(app, stream_id, stream=stream, response_format="pcm")
        reply = await follow(app, stream_id)
    assert spoken.headers["x-request-id"] == stream_id
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.complete
    assert names(reply) == ["started", *["chunk"] * 3, "total", "done"]
    events = read(reply)
    assert [number for number, _, _ in events] == list(range(1, 7))
    words = [mark for _, name, data in events if name == "chunk" for mark in data["marks"]]
    assert [TEXT[word["text_start"] : word["text_end"]] for word in words] == TEXT.split()
    assert [word["start"] for word in words] == [0.0, 0.1, 0.2]
    assert events[-1][2]["samples"] * 2 == len(spoken.body)


async def test_the_events_may_be_asked_for_before_the_speech() -> None:
    stream_id = str(uuid4())
    followed: list[Reply] = []

    async with living(build()) as app, anyio.create_task_group() as tasks:

        async def look() -> None:
            followed.append(await follow(app, stream_id))

        tasks.start_soon(look)
        await anyio.lowlevel.checkpoint()
        await speak(app, stream_id)
    assert names(followed[0])[-1] == "done"


async def test_an_interrupted_reader_goes_on_after_the_last_event_it_saw() -> None:
    stream_id = str(uuid4())
    async with living(build()) as app:
        await speak(app, stream_id)
        whole = read(await follow(app, stream_id))
        for last in range(len(whole)):
            assert read(await follow(app, stream_id, last)) == whole[last:]


async def test_a_reader_who_has_seen_the_end_is_told_to_stop_asking() -> None:
    stream_id = str(uuid4())
    async with living(build()) as app:
        await speak(app, stream_id)
        last, _, _ = read(await follow(app, stream_id))[-1]
        assert (await follow(app, stream_id, last)).status == 204


async def test_a_waiting_speech_hears_its_position_and_then_that_it_begins() -> None:
    engine = ToneEngine(re_entrant=False)
    first_id, second_id = str(uuid4()), str(uuid4())
    heard = anyio.Event()
    seen: list[str] = []

    async with occupied(engine) as (app, holder), anyio.create_task_group() as tasks:

        def note(reply: Reply) -> None:
            seen[:] = [f"{name} {data.get('position', '')}" for _, name, data in read(reply)]
            if seen:
                heard.set()

        async def look() -> None:
            await Client(app, note).get(f"{URL}/{second_id}/events")

        tasks.start_soon(look)
        tasks.start_soon(speak, app, first_id)
        while app.state.studio.worker.waiting < 1:
            await anyio.lowlevel.checkpoint()
        tasks.start_soon(speak, app, second_id)
        await heard.wait()
        assert seen == ["queued 2"]
        await holder.aclose()
    assert seen[:3] == ["queued 2", "queued 1", "started "]
    assert seen[-1] == "done "


async def test_a_failure_midway_is_told_with_its_message() -> None:
    stream_id = str(uuid4())
    async with living(build(ToneEngine(fail_after=2))) as app:
        spoken = await speak(app, stream_id, response_format="pcm")
        reply = await follow(app, stream_id)
    assert not spoken.complete
    assert names(reply) == ["started", "chunk", "chunk", "failed"]
    assert read(reply)[-1][2]["error"]["type"] == "server_error"
    assert "the model broke" not in reply.body.decode()


async def test_a_refusal_is_told_too() -> None:
    stream_id = str(uuid4())
    async with living(build(max_streams=1, max_waiting=0, lead_bytes=4096)) as app:
        holder = app.state.studio.worker.stream(Job(lambda: iter([LARGE] * 2)))
        await anext(holder)
        assert (await speak(app, stream_id)).status == 429
        reply = await follow(app, stream_id)
        await holder.aclose()
    assert names(reply) == ["failed"]
    assert read(reply)[0][2]["error"]["code"] == "overloaded"


async def test_a_client_that_hung_up_is_told_as_cancelled() -> None:
    stream_id = str(uuid4())
    async with living(build(lead_bytes=4096)) as app:
        client = Client(app, headers={"X-Request-Id": stream_id})
        client.on_piece = lambda _reply: client.hang_up.set()
        text = " ".join(["word"] * 400)
        await client.post(URL, {"input": text, "response_format": "pcm"})
        assert names(await follow(app, stream_id))[-1] == "cancelled"


async def test_a_reader_of_events_who_hangs_up_disturbs_nobody() -> None:
    engine = ToneEngine(re_entrant=False)
    stream_id = str(uuid4())
    async with occupied(engine) as (app, holder), anyio.create_task_group() as tasks:
        tasks.start_soon(speak, app, stream_id)
        client = Client(app)
        client.on_piece = lambda _reply: client.hang_up.set()
        await client.get(f"{URL}/{stream_id}/events")
        await holder.aclose()
    assert engine.chunks_made == 3


async def test_a_name_that_is_no_uuid_gives_way_to_one_of_the_servers_own() -> None:
    async with living(build()) as app:
        spoken = await speak(app, "my favourite request")
        stream_id = spoken.headers["x-request-id"]
        assert UUID(stream_id).version == 4
        assert names(await follow(app, stream_id))[-1] == "done"


async def test_a_name_in_use_is_a_409_and_the_speech_that_has_it_goes_on() -> None:
    engine = ToneEngine(re_entrant=False)
    stream_id = str(uuid4())
    replies: list[Reply] = []

    async def first() -> None:
        replies.append(await speak(app, stream_id))

    async with occupied(engine) as (app, holder), anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        while app.state.studio.worker.waiting < 1:
            await anyio.lowlevel.checkpoint()
        second = await speak(app, stream_id)
        await holder.aclose()
    assert (second.status, second.error["code"]) == (409, "speech_in_use")
    assert replies[0].status == 200


async def test_an_unknown_speech_is_a_404_and_a_bad_id_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.events.WAIT_SECONDS", 0.01)
    async with living(build()) as app:
        unknown = await follow(app, str(uuid4()))
        assert (unknown.status, unknown.error["code"]) == (404, "speech_not_found")
        assert (await follow(app, "nothing")).status == 404


@pytest.mark.parametrize("last", ["-1", "x", "1.5"])
async def test_a_bad_last_event_id_is_a_400(last: str) -> None:
    async with living(build()) as app:
        client = Client(app, headers={"Last-Event-ID": last})
        assert (await client.get(f"{URL}/{uuid4()}/events")).status == 400


async def test_nothing_new_is_said_so_that_no_proxy_hangs_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.web.events.PING_SECONDS", 0.01)
    engine = ToneEngine(re_entrant=False)
    stream_id = str(uuid4())
    pieces: list[bytes] = []
    async with occupied(engine) as (app, holder), anyio.create_task_group() as tasks:
        tasks.start_soon(speak, app, stream_id)
        client = Client(app)

        def note(reply: Reply) -> None:
            pieces.append(reply.pieces[-1])
            if len(pieces) == 3:
                client.hang_up.set()

        client.on_piece = note
        await client.get(f"{URL}/{stream_id}/events")
        await holder.aclose()
    assert pieces[1:] == [b": nothing new\r\n\r\n"] * 2
