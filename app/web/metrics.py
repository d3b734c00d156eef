"""GET /metrics: what is counted of requests and of streams, for Prometheus."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.plugins.prometheus import PrometheusConfig, PrometheusMiddleware
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from app.errors import UnknownStreamError
from app.schemas import Playback
from app.speech.stream import EncodedChunk
from app.web.access import identify
from app.web.json_body import read_body
from app.web.progress import Progress
from app.worker import Worker

FIRST_BYTE_SECONDS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
REQUEST_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
MOST_REMEMBERED_STREAMS: Final = 1_024
"""Streams whose playback can still be reported, the last ones."""

_REQUEST_LABELS: Final = ("method", "path", "status_code", "app_name")
_Labels = dict[str, str | int | float]


class _RequestMiddleware(PrometheusMiddleware):
    """Litestar's, but that it counts in the app's own registry instead of the process's."""

    _config: "RequestMetrics"

    def request_count(self, labels: _Labels) -> Counter:  # noqa: ARG002 - Litestar's signature
        return self._config.count

    def request_time(self, labels: _Labels) -> Histogram:  # noqa: ARG002 - the same
        return self._config.seconds

    def requests_in_progress(self, labels: _Labels) -> Gauge:  # noqa: ARG002 - the same
        return self._config.in_progress

    def requests_error_count(self, labels: _Labels) -> Counter:  # noqa: ARG002 - the same
        return self._config.errors


@dataclass
class RequestMetrics(PrometheusConfig):
    """What Litestar's middleware counts of every request; paths are those of the routes."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    app_name: str = "legato"
    group_path: bool = True
    middleware_class: type[PrometheusMiddleware] = _RequestMiddleware

    def __post_init__(self) -> None:
        """Make the counters that all of the app's middleware share."""
        registry, labels = self.registry, _REQUEST_LABELS
        self.count = Counter("legato_requests", "Requests", labels, registry=registry)
        self.errors = Counter(
            "legato_requests_error", "Requests that failed here", labels, registry=registry
        )
        self.in_progress = Gauge(
            "legato_requests_in_progress", "Requests under way", labels, registry=registry
        )
        self.seconds = Histogram(
            "legato_request_duration_seconds",
            "From a request to the end of its response",
            labels,
            registry=registry,
            buckets=REQUEST_SECONDS,
        )


class StreamMetrics:
    """Counts streams as they go; an observer of each."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Count in `registry`."""
        self._first_byte: Final = Histogram(
            "legato_first_byte_seconds",
            "From a speech's request to its first byte",
            registry=registry,
            buckets=FIRST_BYTE_SECONDS,
        )
        self._audio: Final = Counter("legato_audio_seconds", "Sound made", registry=registry)
        self._streams: Final = Counter(
            "legato_streams", "Speeches that ended", ("outcome", "format"), registry=registry
        )
        self._underruns: Final = Counter(
            "legato_underruns", "Times that a page ran out of sound", registry=registry
        )
        self._stalled: Final = Counter(
            "legato_stalled_seconds", "How long pages waited for sound", registry=registry
        )
        self._running: Final = Gauge(
            "legato_running_streams", "Speeches being made", registry=registry
        )
        self._waiting: Final = Gauge("legato_queue_depth", "Speeches that wait", registry=registry)
        self._pace: Final = Gauge(
            "legato_real_time_factor", "Seconds of work per second of sound", registry=registry
        )
        # The owner's name by the stream's id, the oldest first.
        self._unreported: Final[OrderedDict[str, str]] = OrderedDict()

    def watch(self, worker: Worker) -> None:
        """Read the gauges from `worker` from now on."""
        self._running.set_function(lambda: worker.running)
        self._waiting.set_function(lambda: worker.waiting)
        self._pace.set_function(lambda: worker.cost_seconds)

    def opened(self, progress: Progress) -> None:
        """Expect one report of its playback."""
        self._unreported[progress.asked.id] = progress.asked.client
        self._unreported.move_to_end(progress.asked.id)
        while len(self._unreported) > MOST_REMEMBERED_STREAMS:
            self._unreported.popitem(last=False)

    def queued(self, progress: Progress, position: int) -> None:
        """Count nothing: the queue is read from the worker."""

    def made(self, progress: Progress, piece: EncodedChunk) -> None:
        """Count the sound, and the wait where these are the first bytes."""
        self._audio.inc(piece.samples / piece.sample_rate)
        if piece.data and progress.sent_bytes == len(piece.data):
            self._first_byte.observe((progress.first_byte_at or 0.0) - progress.opened_at)

    def ended(self, progress: Progress) -> None:
        """Count how it ended."""
        self._streams.labels(progress.outcome, progress.asked.format_name).inc()

    def report(self, stream_id: str, *, reader: str, playback: Playback) -> None:
        """Count what a client heard of its own stream, once.

        Raises UnknownStreamError where `reader` has no such stream, or has reported it already.
        """
        if self._unreported.get(stream_id) != reader:
            raise UnknownStreamError("There is no such speech of yours left to report.")
        del self._unreported[stream_id]
        self._underruns.inc(playback.underruns)
        self._stalled.inc(playback.stalled_seconds)


@post(
    "/v1/audio/speech/{stream_id:uuid}/playback",
    status_code=204,
    tags=["speech"],
    summary="Report how a speech was heard",
)
async def report_playback(
    request: Request[Any, Any, Any],
    stream_id: FromPath[UUID],
    stream_metrics: NamedDependency[StreamMetrics],
) -> None:
    """Count what the listener's player saw, once for each speech."""
    playback = await read_body(request, Playback)
    stream_metrics.report(str(stream_id), reader=identify(request).name, playback=playback)


@get("/metrics", sync_to_thread=False, include_in_schema=False)
def show_metrics(registry: NamedDependency[CollectorRegistry]) -> Response[bytes]:
    """Show all that is counted, in Prometheus's text format."""
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
