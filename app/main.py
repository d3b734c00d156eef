"""Composition: what the server is made of, and what lives as long as it does."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version

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
from app.web.lifespan import EngineLoader, live
from app.web.lists import list_formats, list_models, list_voices
from app.web.metrics import RequestMetrics, StreamMetrics, report_playback, show_metrics
from app.web.operations import Readiness, tell_life, tell_readiness
from app.web.pages import TEMPLATE_FOLDER, name_static_prefix, serve_static_files, show_page
from app.web.problems import EXCEPTION_HANDLERS
from app.web.speech import SpeechController
from app.web.studio import Studio, find_studio
from app.web.text_stream import speak_arriving_text


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
            speak_arriving_text,
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
            "studio": Provide(find_studio, sync_to_thread=False),
            "catalogue": Provide(_provide_catalogue, sync_to_thread=False),
        },
        lifespan=[partial(live, settings=settings, load=load, make_encoder=make_encoder)],
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


def _provide_catalogue(studio: NamedDependency[Studio]) -> Catalogue:
    return studio.catalogue
