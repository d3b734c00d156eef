"""What /v1/audio/speech answers: to good requests, bad ones, and clients that leave."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from litestar import Litestar

from app.formats import FORMATS
from app.main import create_app
from app.settings import Settings
from app.speech.catalogue import OPENAI_VOICES
from app.speech.engine import Engine
from app.speech.stream import EncodedChunk
from app.worker import Job, Worker
from tests.turns import settle
from tests.voices import SilentEngine, ToneEngine
from tests.web.asgi import Client, Reply, living

pytestmark = pytest.mark.anyio
URL = "/v1/audio/speech"
LARGE = EncodedChunk(bytes(5_000), 2_500, 24_000)


def build(*engines: Engine, **settings: int) -> Litestar:
    chosen: Sequence[Engine] = engines or [ToneEngine()]
    flags = {name: str(value) for name, value in settings.items()}
    return create_app(Settings.load({}, flags), load=lambda _settings: chosen)


@pytest.fixture
async def app() -> AsyncGenerator[Litestar]:
    async with living(build()) as app:
        yield app


@pytest.mark.parametrize("name", sorted(FORMATS))
async def test_each_format_has_its_exact_headers(app: Litestar, name: str) -> None:
    reply = await Client(app).post(URL, {"input": "one two three", "response_format": name})
    declared = FORMATS[name]
    assert reply.status == 200
    assert reply.headers["content-type"] == declared.media_type
    assert reply.headers["x-audio-sample-rate"] == str(declared.coded_rate(24_000))
    assert reply.headers["x-audio-priming-samples"] == str(declared.mse_lead_samples)
    assert reply.headers["x-accel-buffering"] == "no"
    assert f'filename="speech.{declared.extension}"' in reply.headers["content-disposition"]
    assert reply.complete


async def test_get_and_post_give_the_same_bytes(app: Litestar) -> None:
    posted = await Client(app).post(URL, {"input": "one two", "response_format": "flac"})
    gotten = await Client(app).get(f"{URL}?input=one+two&response_format=flac")
    assert gotten.body == posted.body


async def test_streamed_and_whole_hold_the_same_samples(app: Litestar) -> None:
    body = {"input": "one two three", "response_format": "pcm"}
    streamed = await Client(app).post(URL, body)
    whole = await Client(app).post(URL, {**body, "stream": False})
    assert whole.body == streamed.body
    assert whole.headers["content-length"] == str(len(whole.body))
    assert "content-length" not in streamed.headers


async def test_a_long_text_leaves_in_pieces_as_it_is_made() -> None:
    engine = ToneEngine()
    made_at_first_piece: list[int] = []

    def note(_reply: Reply) -> None:
        made_at_first_piece.append(engine.chunks_made)

    async with living(build(engine, lead_bytes=4096, max_input_characters=5_000)) as app:
        text = " ".join(["word"] * 1_000)
        reply = await Client(app, note).post(URL, {"input": text, "response_format": "pcm"})
    assert engine.chunks_made == 1_000
    assert len(reply.body) >= 1_000 * 2_400 * 2
    assert made_at_first_piece[0] < 20


async def test_seed_speed_and_interval_reach_the_voice() -> None:
    engine = ToneEngine()
    async with living(build(engine)) as app:
        body = {"input": "Hi.", "voice": "b", "seed": 7, "speed": 2, "streaming_interval": 0.1}
        assert (await Client(app).post(URL, body)).status == 200
    utterance = engine.utterances[0]
    assert (utterance.voice, utterance.seed, utterance.speed) == ("b", 7, 2)
    assert utterance.interval_seconds == 0.1


@pytest.mark.parametrize("model", ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "tone", None])
async def test_openai_model_names_mean_the_default_model(app: Litestar, model: str | None) -> None:
    assert (await Client(app).post(URL, {"input": "Hi", "model": model})).status == 200


async def test_a_voice_may_be_named_as_an_object(app: Litestar) -> None:
    assert (await Client(app).post(URL, {"input": "Hi", "voice": {"id": "b"}})).status == 200


async def test_an_unknown_voice_is_a_404_that_lists_what_there_is(app: Litestar) -> None:
    reply = await Client(app).post(URL, {"input": "Hi", "voice": "nobody"})
    assert reply.status == 404
    assert reply.error["param"] == "voice"
    assert reply.error["code"] == "voice_not_found"
    assert "a, b" in reply.error["message"]


async def test_an_unknown_model_is_a_404_that_lists_what_there_is(app: Litestar) -> None:
    reply = await Client(app).post(URL, {"input": "Hi", "model": "nothing"})
    assert reply.status == 404
    assert reply.error["param"] == "model"
    assert "tone" in reply.error["message"]


@pytest.mark.parametrize("text", ["", "   \n", "…!?", "***", "🎉"])
async def test_a_text_with_nothing_to_speak_is_a_400_that_says_so(text: str) -> None:
    async with living(build(SilentEngine())) as app:
        for stream in (True, False):
            reply = await Client(app).post(URL, {"input": text, "stream": stream})
            assert reply.status == 400
            assert reply.error["code"] == "nothing_to_speak"
            assert reply.error["param"] == "input"


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"speed": 5}, "speed"),
        ({"speed": 0.1}, "speed"),
        ({"speed": "fast"}, "speed"),
        ({"response_format": "mp5"}, "response_format"),
        ({"stream_format": "carrier pigeon"}, "stream_format"),
        ({"streaming_interval": 0}, "streaming_interval"),
        ({"seed": -1}, "seed"),
        ({"input": None}, "input"),
        ({"inptu": "typo"}, "inptu"),
    ],
)
async def test_a_bad_field_is_a_400_that_names_it(
    app: Litestar, change: dict[str, object], param: str
) -> None:
    reply = await Client(app).post(URL, {"input": "Hi", **change})
    assert reply.status == 400
    assert reply.error["type"] == "invalid_request_error"
    assert param in reply.error["message"]


@pytest.mark.parametrize("query", ["", "input=Hi&speed=9", "input=Hi&speed=x", "input=Hi&seed=-1"])
async def test_a_bad_query_is_a_400(app: Litestar, query: str) -> None:
    reply = await Client(app).get(f"{URL}?{query}")
    assert reply.status == 400
    assert reply.error["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"input": "\xff"}'])
async def test_a_body_that_is_no_json_object_is_a_400(app: Litestar, body: bytes) -> None:
    reply = await Client(app).post(URL, body)
    assert reply.status == 400
    assert reply.error["type"] == "invalid_request_error"


async def test_a_text_over_the_limit_is_refused_before_any_work() -> None:
    engine = ToneEngine()
    async with living(build(engine, max_input_characters=10)) as app:
        reply = await Client(app).post(URL, {"input": "x" * 11})
    assert (reply.status, reply.error["param"]) == (400, "input")
    assert engine.utterances == []


async def test_4096_characters_are_taken_as_openai_takes_them_and_not_one_more() -> None:
    engine = SilentEngine()
    async with living(build(engine)) as app:
        enough = await Client(app).post(URL, {"input": "x" * 4_096})
        more = await Client(app).post(URL, {"input": "x" * 4_097})
    assert enough.error["code"] == "nothing_to_speak"
    assert (more.status, more.error["param"]) == (400, "input")
    assert "4097 characters" in more.error["message"]
    assert "at most 4096" in more.error["message"]


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://test", "Host": "test"}]
)
async def test_the_page_may_send_a_longer_text(headers: dict[str, str]) -> None:
    async with living(build(max_input_characters=10, max_page_characters=20)) as app:
        page, stranger = Client(app, headers=headers), Client(app)
        assert (await page.post(URL, {"input": "x" * 20})).status == 200
        assert (await page.post(URL, {"input": "x" * 21})).status == 400
        assert (await stranger.post(URL, {"input": "x" * 20})).status == 400


@pytest.mark.parametrize("field", ["inptu", "Input", "voice_id"])
async def test_an_unknown_field_is_named_wherever_it_stands(app: Litestar, field: str) -> None:
    posted = await Client(app).post(URL, {"input": "Hi", field: "x"})
    gotten = await Client(app).get(f"{URL}?input=Hi&{field}=x")
    for reply in (posted, gotten):
        assert (reply.status, reply.error["param"]) == (400, field)
        assert field in reply.error["message"]
    nested = await Client(app).post(URL, {"input": "Hi", "voice": {"id": "a", "extra": 1}})
    assert (nested.status, nested.error["param"]) == (400, "voice.extra")


@pytest.mark.parametrize("voice", OPENAI_VOICES)
async def test_each_of_openais_voices_is_taken(app: Litestar, voice: str) -> None:
    assert (await Client(app).post(URL, {"input": "Hi", "voice": voice})).status == 200


async def test_the_operators_aliases_reach_the_voice() -> None:
    engine = ToneEngine()
    settings = Settings(voice_aliases={"nova": "b"})
    async with living(create_app(settings, load=lambda _: [engine])) as app:
        assert (await Client(app).post(URL, {"input": "Hi", "voice": "nova"})).status == 200
    assert engine.utterances[0].voice == "b"


async def test_instructions_are_accepted_up_to_openais_length(app: Litestar) -> None:
    for length, status in ((4_096, 200), (4_097, 400)):
        reply = await Client(app).post(URL, {"input": "Hi", "instructions": "x" * length})
        assert reply.status == status


async def test_the_default_format_is_mp3(app: Litestar) -> None:
    reply = await Client(app).post(URL, {"input": "Hi"})
    assert reply.headers["content-type"] == "audio/mpeg"


async def test_a_body_over_the_limit_is_a_413() -> None:
    async with living(build(max_body_bytes=1024)) as app:
        reply = await Client(app).post(URL, {"input": "x" * 2_000})
    assert reply.status == 413
    assert reply.error["type"] == "invalid_request_error"


async def test_a_failure_before_the_first_byte_is_a_500_in_words() -> None:
    async with living(build(ToneEngine(fail_after=0))) as app:
        reply = await Client(app).post(URL, {"input": "Hi"})
    assert reply.status == 500
    assert reply.error["type"] == "server_error"
    assert "the model broke" not in reply.error["message"]


async def test_a_failure_midway_aborts_the_body_instead_of_ending_it() -> None:
    async with living(build(ToneEngine(fail_after=5))) as app:
        reply = await Client(app).post(
            URL, {"input": " ".join(["word"] * 9), "response_format": "pcm"}
        )
    assert reply.status == 200
    assert len(reply.body) == 5 * 2_400 * 2
    assert not reply.complete
    assert reply.failure is not None


async def test_one_stream_too_many_is_a_429() -> None:
    async with living(build(max_streams=1, max_waiting=0, lead_bytes=4096)) as app:
        holder = app.state.studio.worker.stream(Job(lambda: iter([LARGE] * 2)))
        await anext(holder)
        reply = await Client(app).post(URL, {"input": "Hi"})
        assert (reply.status, reply.error["code"]) == (429, "overloaded")
        assert int(reply.headers["retry-after"]) >= 1
        await holder.aclose()


async def test_hanging_up_midway_stops_the_voice_within_a_chunk() -> None:
    engine = ToneEngine()
    async with living(build(engine, lead_bytes=4096)) as app:
        client = Client(app)
        client.on_piece = lambda _reply: client.hang_up.set()
        text = " ".join(["word"] * 40)
        await client.post(URL, {"input": text, "response_format": "pcm"})
        assert await anyio.to_thread.run_sync(engine.closed.wait, 10)
        assert engine.chunks_made < 10
        assert not client.reply.complete


async def test_hanging_up_while_the_socket_is_full_closes_the_job_without_a_garbage_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with living(build(lead_bytes=4096)) as app:
        worker: Worker = app.state.studio.worker
        held: list[AsyncGenerator[EncodedChunk]] = []
        stream = worker.stream

        def hold(
            job: Job[EncodedChunk], *, on_position: Callable[[int], None]
        ) -> AsyncGenerator[EncodedChunk]:
            held.append(stream(job, on_position=on_position))
            return held[-1]

        monkeypatch.setattr(worker, "stream", hold)
        client = Client(app, socket_full=True)
        text = " ".join(["word"] * 40)
        await client.post(URL, {"input": text, "response_format": "pcm"})
        await settle(worker)
        assert len(held) == 1
        assert worker.jobs == 0


@asynccontextmanager
async def occupied(
    engine: ToneEngine,
) -> AsyncGenerator[tuple[Litestar, AsyncGenerator[EncodedChunk]]]:
    """Serve `engine`, whose model another speech holds until that one is closed."""
    async with living(build(engine, lead_bytes=4096)) as app:
        worker: Worker = app.state.studio.worker
        holder = worker.stream(Job(lambda: iter([LARGE] * 2), exclusive=engine.id))
        await anext(holder)
        yield app, holder
        await holder.aclose()


async def wait_until_queued(worker: Worker) -> None:
    while worker.jobs < 2:
        await anyio.lowlevel.checkpoint()


async def test_an_engine_that_is_not_re_entrant_speaks_one_speech_at_a_time() -> None:
    engine = ToneEngine(re_entrant=False)
    async with occupied(engine) as (app, holder):
        worker: Worker = app.state.studio.worker
        client = Client(app)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.post, URL, {"input": "Hi"})
            await wait_until_queued(worker)
            await settle(worker)
            assert engine.utterances == []
            await holder.aclose()
        assert client.reply.status == 200


async def test_hanging_up_while_queued_leaves_no_job_behind() -> None:
    engine = ToneEngine(re_entrant=False)
    async with occupied(engine) as (app, _holder):
        worker: Worker = app.state.studio.worker
        client = Client(app)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.post, URL, {"input": "Hi"})
            await wait_until_queued(worker)
            client.hang_up.set()
        await settle(worker)
        assert worker.jobs == 1
        assert engine.utterances == []


async def test_options_tells_every_method(app: Litestar) -> None:
    reply = await Client(app).request("OPTIONS", URL)
    assert reply.status == 204
    assert reply.headers["allow"] == "GET, OPTIONS, POST"
