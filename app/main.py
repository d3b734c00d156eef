"""Composition: what the server is made of, and what lives as long as it does."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Final

from litestar import Litestar, MediaType
from litestar.datastructures import State
from litestar.di import NamedDependency, Provide
from litestar.middleware import DefineMiddleware
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from app.errors import InvalidSettingError
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import StreamEncoder
from app.speech.engine import Engine
from app.speech.stream import EncoderFactory
from app.web.documentation import complete_document
from app.web.event_log import EventLogs
from app.web.events import send_events
from app.web.gate import Gate
from app.web.headers import add_security_headers
from app.web.lists import list_formats, list_models, list_voices
from app.web.metrics import RequestMetrics, StreamMetrics, report_playback, show_metrics
from app.web.operations import Readiness, tell_life, tell_readiness
from app.web.pages import TEMPLATE_FOLDER, name_static_prefix, serve_static_files, show_page
from app.web.problems import EXCEPTION_HANDLERS
from app.web.speech import SpeechController
from app.web.stream_log import StreamLog
from app.web.studio import Studio
from app.worker import Worker

_LOG: Final = logging.getLogger(__name__)

EngineLoader = Callable[[Settings], Sequence[Engine]]
"""Loads the engines, the default one first; called on the thread that owns MLX."""


def load_engines(settings: Settings) -> Sequence[Engine]:
    """Load the voice that the operator chose, or the embedded one."""
    # MLX is loaded with the engine, on the worker's thread, and by nothing else.
    from app.speech.piper.embedded import find_embedded_voice  # noqa: PLC0415
    from app.speech.piper.engine import PiperEngine  # noqa: PLC0415

    path = settings.voice_file or find_embedded_voice()
    return [PiperEngine.load(path, cache=settings.cache_folder)]


def create_app(
    settings: Settings,
    *,
    load: EngineLoader = load_engines,
    make_encoder: EncoderFactory = StreamEncoder,
) -> Litestar:
    """Put the server together; engines are loaded once it has started and closed as it ends."""
    request_metrics = RequestMetrics()
    prefix = name_static_prefix()
    shared = {
        "event_logs": EventLogs(keep_seconds=settings.events_seconds),
        "readiness": Readiness(),
        "registry": request_metrics.registry,
        "settings": settings,
        "static_prefix": prefix,
        "stream_metrics": StreamMetrics(request_metrics.registry),
    }
    app = Litestar(
        route_handlers=[
            show_page,
            SpeechController,
            send_events,
            report_playback,
            list_models,
            list_voices,
            list_formats,
            tell_life,
            tell_readiness,
            show_metrics,
            serve_static_files(prefix),
        ],
        dependencies={
            **{name: _provide(value) for name, value in shared.items()},
            "studio": Provide(_provide_studio, sync_to_thread=False),
            "catalogue": Provide(_provide_catalogue, sync_to_thread=False),
        },
        lifespan=[partial(_live, settings=settings, load=load, make_encoder=make_encoder)],
        state=State(shared),
        middleware=[request_metrics.middleware, *_trace(settings)],
        before_send=[add_security_headers],
        exception_handlers=EXCEPTION_HANDLERS,
        request_max_body_size=settings.max_body_bytes,
        template_config=TemplateConfig(directory=TEMPLATE_FOLDER, engine=JinjaTemplateEngine),
        # Logging belongs to the program that runs the server.
        logging_config=None,
        plugins=[Gate(settings)],
        openapi_config=OpenAPIConfig(
            title="Legato",
            version=version("legato"),
            path="/schema",
            # Litestar's pages of it load their scripts from elsewhere, which no policy here allows.
            render_plugins=[
                JsonRenderPlugin(path=["/", "/openapi.json"], media_type=MediaType.JSON),
                YamlRenderPlugin(),
            ],
        ),
    )
    complete_document(app.openapi_schema, settings)
    return app


@asynccontextmanager
async def _live(
    app: Litestar, *, settings: Settings, load: EngineLoader, make_encoder: EncoderFactory
) -> AsyncGenerator[None]:
    readiness: Readiness = app.state.readiness
    worker = Worker(
        lead_bytes=settings.lead_bytes,
        max_running=settings.max_streams,
        max_waiting=settings.max_waiting,
        max_per_client=settings.max_streams_per_client,
    )

    async def open_studio() -> None:
        try:
            engines = await worker.call(partial(load, settings))
            catalogue = Catalogue(engines, voice_aliases=settings.voice_aliases)
            device = await worker.call(_describe_device)
        except Exception as failure:  # noqa: BLE001 - told by whoever runs the server
            readiness.fail(failure)
            return
        app.state.stream_metrics.watch(worker)
        observers = [app.state.event_logs, app.state.stream_metrics, StreamLog()]
        app.state.studio = Studio(settings, catalogue, worker, make_encoder, observers)
        readiness.open(partial(_is_full, worker, settings))
        _announce(catalogue, device)

    # The server answers while the voices are loaded, if only that they are.
    opening = asyncio.create_task(open_studio())
    try:
        yield
    finally:
        readiness.drain()
        opening.cancel()
        await worker.close()


def _is_full(worker: Worker, settings: Settings) -> bool:
    """Tell whether a speech that is asked for now would be refused."""
    waiting = worker.waiting
    return waiting >= settings.max_waiting and (
        waiting > 0 or worker.running >= settings.max_streams
    )


def _describe_device() -> str:
    from app.mlx_cpu.device import describe_device  # noqa: PLC0415 - as in load_engines

    return describe_device()


def _announce(catalogue: Catalogue, device: str) -> None:
    voices = ", ".join(voice.id for _, voice in catalogue.voices())
    _LOG.info("Voice: %s (%s)", voices, catalogue.default.id)
    _LOG.info("Device: %s", device)


def _trace(settings: Settings) -> list[DefineMiddleware]:
    """Make what opens spans, if it is wanted. Raises InvalidSettingError where it can't be had."""
    if not settings.tracing:
        return []
    try:
        from app.web.tracing import trace_requests  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise InvalidSettingError(
            "The setting tracing needs more packages: pip install 'legato[tracing]'"
        ) from error
    return [trace_requests()]


def _provide(value: object) -> Provide:
    return Provide(lambda: value, sync_to_thread=False)


def _provide_studio(state: State, readiness: NamedDependency[Readiness]) -> Studio:
    if "studio" not in state and (refusal := readiness.refusal()) is not None:
        raise refusal
    studio: Studio = state.studio
    return studio


def _provide_catalogue(studio: NamedDependency[Studio]) -> Catalogue:
    return studio.catalogue
