"""Spans: one a request, however many pieces it streams, and none that holds the text."""

import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from litestar import Litestar
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.errors import InvalidSettingError
from app.main import create_app
from app.settings import Settings
from tests.voices import ToneEngine
from tests.web.asgi import Client, living

pytestmark = pytest.mark.anyio
URL = "/v1/audio/speech"
SPOKEN = "confidential"


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Keep the spans of this process, which has one provider for good."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    yield exporter
    exporter.clear()


def build(*, tracing: bool) -> Litestar:
    return create_app(Settings(tracing=tracing), load=lambda _: [ToneEngine()])


async def test_a_stream_of_fifty_pieces_is_one_span_that_names_its_route(
    spans: InMemorySpanExporter,
) -> None:
    async with living(build(tracing=True)) as app:
        body = {"input": " ".join(["word"] * 50), "response_format": "pcm"}
        reply = await Client(app).post(URL, body)
    assert len(reply.pieces) >= 50
    (span,) = spans.get_finished_spans()
    assert span.name == f"POST {URL}"
    assert span.kind is trace.SpanKind.SERVER
    assert span.attributes is not None
    assert span.attributes["http.route"] == URL
    assert span.attributes["http.status_code"] == 200


async def test_a_span_knows_nothing_of_the_query_but_the_server_does(
    spans: InMemorySpanExporter,
) -> None:
    async with living(build(tracing=True)) as app:
        reply = await Client(app).get(f"{URL}?input={SPOKEN}&response_format=pcm")
    assert reply.headers["content-type"].startswith("audio/")
    (span,) = spans.get_finished_spans()
    assert SPOKEN not in str(span.to_json())


async def test_a_span_is_named_by_its_route_and_not_by_its_path(
    spans: InMemorySpanExporter,
) -> None:
    async with living(build(tracing=True)) as app:
        await Client(app).post(f"{URL}/{uuid4()}/playback", {"underruns": 0})
    (span,) = spans.get_finished_spans()
    assert span.name == f"POST {URL}/{{stream_id}}/playback"


async def test_a_path_that_there_is_not_is_one_span_too(spans: InMemorySpanExporter) -> None:
    async with living(build(tracing=True)) as app:
        assert (await Client(app).get("/nothing")).status == 404
    assert len(spans.get_finished_spans()) == 1


async def test_nothing_is_traced_unless_it_is_wanted(spans: InMemorySpanExporter) -> None:
    async with living(build(tracing=False)) as app:
        await Client(app).get("/livez")
    assert spans.get_finished_spans() == ()


def test_tracing_without_its_packages_is_a_named_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "app.web.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(InvalidSettingError, match=r"legato\[tracing\]"):
        build(tracing=True)
