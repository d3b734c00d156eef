"""/metrics: what is counted of streams and requests, in a registry of the app's own."""

import uuid
from collections.abc import AsyncGenerator

import pytest
from litestar import Litestar
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from app.errors import UnknownStreamError
from app.main import create_app
from app.schemas import Playback
from app.settings import Settings
from app.web.metrics import MOST_REMEMBERED_STREAMS, StreamMetrics
from app.web.progress import Asked, Progress
from tests.voices import ToneEngine
from tests.web.asgi import Client, Reply, living

pytestmark = pytest.mark.anyio
URL = "/v1/audio/speech"
TEN_WORDS = {"input": " ".join(["word"] * 10), "response_format": "pcm"}


def build(engine: ToneEngine | None = None) -> Litestar:
    return create_app(Settings(), load=lambda _: [engine or ToneEngine()])


@pytest.fixture
async def app() -> AsyncGenerator[Litestar]:
    async with living(build()) as app:
        yield app


async def read(app: Litestar, name: str, **labels: str) -> float:
    """Give the sum of the samples called `name` that have these labels."""
    reply = await Client(app).get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    return sum(
        sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
        if sample.name == name and sample.labels.items() >= labels.items()
    )


async def test_a_stream_is_counted_with_its_sound_and_its_first_byte(app: Litestar) -> None:
    reply = await Client(app).post(URL, TEN_WORDS)
    made_seconds = len(reply.body) / 2 / 24_000
    assert await read(app, "legato_audio_seconds_total") == pytest.approx(made_seconds)
    assert await read(app, "legato_first_byte_seconds_count") == 1
    assert 0 < await read(app, "legato_first_byte_seconds_sum") < 20
    assert await read(app, "legato_streams_total", outcome="completed", format="pcm") == 1
    assert await read(app, "legato_real_time_factor") > 0


async def test_a_failed_stream_is_counted_as_one() -> None:
    async with living(build(ToneEngine(fail_after=5))) as app:
        await Client(app).post(URL, TEN_WORDS)
        assert await read(app, "legato_streams_total", outcome="failed") == 1
        assert await read(app, "legato_streams_total") == 1


async def test_a_client_that_hangs_up_is_counted_as_cancelled(app: Litestar) -> None:
    client = Client(app)
    client.on_piece = lambda _: client.hang_up.set()
    await client.post(URL, {**TEN_WORDS, "input": " ".join(["word"] * 800)})
    assert await read(app, "legato_streams_total", outcome="cancelled") == 1
    await app.state.studio.worker.wait_until_idle()
    assert await read(app, "legato_running_streams") == 0


async def test_a_stream_that_is_being_made_counts_as_running() -> None:
    async with living(build()) as app:
        seen: list[int] = []

        def look(_: Reply) -> None:
            registry = app.state.registry
            seen.append(int(registry.get_sample_value("legato_running_streams")))

        await Client(app, look).post(URL, {**TEN_WORDS, "input": " ".join(["word"] * 800)})
        assert seen[0] == 1
        assert await read(app, "legato_running_streams") == 0
        assert await read(app, "legato_queue_depth") == 0


async def test_two_apps_in_one_process_count_for_themselves(app: Litestar) -> None:
    async with living(build()) as other:
        await Client(other).post(URL, TEN_WORDS)
        assert await read(other, "legato_streams_total") == 1
        assert await read(app, "legato_streams_total") == 0
        assert await read(other, "legato_requests_total", path=URL) == 1
        assert await read(app, "legato_requests_total", path=URL) == 0


async def test_paths_are_those_of_the_routes_so_that_no_client_makes_labels(app: Litestar) -> None:
    for _ in range(3):
        await Client(app).post(f"{URL}/{uuid.uuid4()}/playback", {"underruns": 0})
    await Client(app).get(f"/{uuid.uuid4()}")
    page = (await Client(app).get("/metrics")).body.decode()
    paths = {
        sample.labels["path"]
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "legato_requests_total"
    }
    assert paths == {f"{URL}/{{stream_id}}/playback"}


async def test_a_page_reports_its_underruns_once(app: Litestar) -> None:
    spoken = await Client(app).post(URL, TEN_WORDS)
    url = f"{URL}/{spoken.headers['x-request-id']}/playback"
    assert (await Client(app).post(url, {"underruns": 3, "stalled_seconds": 1.5})).status == 204
    again = await Client(app).post(url, {"underruns": 3, "stalled_seconds": 1.5})
    assert (again.status, again.error["code"]) == (404, "speech_not_found")
    assert await read(app, "legato_underruns_total") == 3
    assert await read(app, "legato_stalled_seconds_total") == 1.5


async def test_a_report_on_an_unknown_speech_is_a_404_and_counts_nothing(app: Litestar) -> None:
    reply = await Client(app).post(f"{URL}/{uuid.uuid4()}/playback", {"underruns": 3})
    assert (reply.status, reply.error["code"]) == (404, "speech_not_found")
    assert await read(app, "legato_underruns_total") == 0


@pytest.mark.parametrize(
    "report",
    [
        {"underruns": -1},
        {"underruns": 1_001},
        {"underruns": 1, "stalled_seconds": -0.1},
        {"underruns": 1, "stalled_seconds": 1e9},
        {"underruns": 1, "words": "spoken"},
        {},
    ],
)
async def test_a_report_out_of_bounds_is_refused_and_may_be_made_again(
    app: Litestar, report: dict[str, object]
) -> None:
    spoken = await Client(app).post(URL, TEN_WORDS)
    url = f"{URL}/{spoken.headers['x-request-id']}/playback"
    assert (await Client(app).post(url, report)).status == 400
    assert (await Client(app).post(url, {"underruns": 1})).status == 204
    assert await read(app, "legato_underruns_total") == 1


@pytest.fixture
def full() -> StreamMetrics:
    """Give metrics that have seen one stream more than they remember, numbered from 0."""
    metrics = StreamMetrics(CollectorRegistry())
    for number in range(MOST_REMEMBERED_STREAMS + 1):
        metrics.opened(Progress(Asked(str(number), "me", "tone", "a", "mp3", 24_000, 24_000)))
    return metrics


@pytest.mark.parametrize(("stream_id", "reader"), [("0", "me"), ("1", "you")])
async def test_a_stream_long_gone_or_of_another_client_cannot_be_reported(
    full: StreamMetrics, stream_id: str, reader: str
) -> None:
    with pytest.raises(UnknownStreamError):
        full.report(stream_id, reader=reader, playback=Playback(underruns=1))


async def test_the_last_streams_can_be_reported(full: StreamMetrics) -> None:
    for number in range(1, MOST_REMEMBERED_STREAMS + 1):
        full.report(str(number), reader="me", playback=Playback(underruns=1))
