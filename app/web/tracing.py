"""OpenTelemetry: one span a request, and none for each piece of a stream.

Only imported where it is asked for: it needs the extra `tracing`.
"""

from typing import Final

from litestar.middleware import DefineMiddleware
from litestar.plugins.opentelemetry import (
    OpenTelemetryConfig,
    OpenTelemetryInstrumentationMiddleware,
)
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

_QUERY: Final = "legato.query_string"


class _TextlessMiddleware(OpenTelemetryInstrumentationMiddleware):
    """Litestar's, with a span that knows the route, and not the query: it may hold the text."""

    def __init__(self, app: ASGIApp, config: OpenTelemetryConfig) -> None:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            scope["query_string"] = scope.pop(_QUERY)  # type: ignore[typeddict-item] # our own key
            span = trace.get_current_span()

            async def name_and_send(message: Message) -> None:
                # By now the route is known, and soon the span will be over.
                if message["type"] in {"http.response.start", "websocket.accept"}:
                    _name_span(span, scope)
                await send(message)

            await app(scope, receive, name_and_send)

        super().__init__(answer, config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hidden = {**scope, _QUERY: scope["query_string"], "query_string": b""}
        await super().__call__(hidden, receive, send)  # type: ignore[arg-type] # our own key


def _name_span(span: trace.Span, scope: Scope) -> None:
    """Name the span by the route, as OpenTelemetry asks, since paths are too many for names."""
    if route := scope.get("path_template"):
        span.update_name(f"{scope.get('method', 'WEBSOCKET')} {route}")
        span.set_attribute("http.route", route)


def trace_requests(provider: trace.TracerProvider | None = None) -> DefineMiddleware:
    """Make the middleware that opens a span for each request, and none within it.

    `provider` makes the spans; None: the process's own.
    """
    return OpenTelemetryConfig(
        tracer_provider=provider,
        exclude_spans=["receive", "send"],
        middleware_class=_TextlessMiddleware,
    ).middleware


def export_spans() -> None:
    """Send this process's spans over OTLP/HTTP, as OpenTelemetry's own variables OTEL_... say."""
    name = Resource({SERVICE_NAME: "legato"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=name)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
