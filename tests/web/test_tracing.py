"""Spans: one a request, however many pieces it streams, and none that holds the text."""

import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar
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


class Collector(BaseHTTPRequestHandler):
    """Keeps what is sent to it, as an OpenTelemetry collector would."""

    received: ClassVar[list[tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.received.append((self.path, self.rfile.read(size)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:  # the standard library would print it
        """Say nothing."""


def test_spans_are_sent_where_opentelemetrys_own_variables_say() -> None:
    program = (
        "from opentelemetry import trace\n"
        "from app.web.tracing import export_spans\n"
        "export_spans()\n"
        "with trace.get_tracer('test').start_as_current_span('a-speech'): pass\n"
        "trace.get_tracer_provider().force_flush()"
    )
    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        address = f"http://127.0.0.1:{collector.server_port}"
        variables = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address}
        with subprocess.Popen(  # a provider is for a whole process, so it has one of its own
            [sys.executable, "-c", program],
            env={**variables, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"},
        ) as process:
            collector.timeout = 30
            collector.handle_request()
            assert process.wait(30) == 0
    ((path, body),) = Collector.received
    assert path == "/v1/traces"
    assert b"a-speech" in body
    assert b"legato" in body
