"""Composition: what the server is made of, and what lives as long as it does."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Final

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import NamedDependency, Provide
from litestar.openapi import OpenAPIConfig
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.encoder import StreamEncoder
from app.speech.engine import Engine
from app.speech.stream import EncoderFactory
from app.web.headers import add_security_headers
from app.web.lists import list_formats, list_models, list_voices
from app.web.pages import TEMPLATE_FOLDER, name_static_prefix, serve_static_files, show_page
from app.web.problems import EXCEPTION_HANDLERS
from app.web.speech import SpeechController
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
    """Put the server together; engines are loaded as it starts and closed as it ends."""

    @asynccontextmanager
    async def live(app: Litestar) -> AsyncGenerator[None]:
        worker = Worker(lead_bytes=settings.lead_bytes, max_jobs=settings.max_streams)
        try:
            catalogue = Catalogue(await worker.call(partial(load, settings)))
            await _announce(worker, catalogue)
            app.state.studio = Studio(settings, catalogue, worker, make_encoder)
            yield
        finally:
            await worker.close()

    prefix = name_static_prefix()
    return Litestar(
        route_handlers=[
            show_page,
            SpeechController,
            list_models,
            list_voices,
            list_formats,
            serve_static_files(prefix),
        ],
        dependencies={
            "studio": Provide(_provide_studio, sync_to_thread=False),
            "catalogue": Provide(_provide_catalogue, sync_to_thread=False),
            "settings": Provide(lambda: settings, sync_to_thread=False),
            "static_prefix": Provide(lambda: prefix, sync_to_thread=False),
        },
        lifespan=[live],
        before_send=[add_security_headers],
        exception_handlers=EXCEPTION_HANDLERS,
        request_max_body_size=settings.max_body_bytes,
        template_config=TemplateConfig(directory=TEMPLATE_FOLDER, engine=JinjaTemplateEngine),
        # Logging belongs to the program that runs the server.
        logging_config=None,
        openapi_config=OpenAPIConfig(title="Legato", version=version("legato"), path="/schema"),
    )


async def _announce(worker: Worker, catalogue: Catalogue) -> None:
    from app.mlx_cpu.device import describe_device  # noqa: PLC0415 - as in load_engines

    voices = ", ".join(voice.id for _, voice in catalogue.voices())
    device = await worker.call(describe_device)
    _LOG.info("Voice: %s (%s)", voices, catalogue.default.id)
    _LOG.info("Device: %s", device)


def _provide_studio(state: State) -> Studio:
    studio: Studio = state.studio
    return studio


def _provide_catalogue(studio: NamedDependency[Studio]) -> Catalogue:
    return studio.catalogue
