"""What lives as long as the server: the thread that owns MLX, and the voices on it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from litestar import Litestar

from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.speech.engine import Engine
from app.speech.stream import EncoderFactory
from app.web.stream_log import StreamLog
from app.web.studio import Studio
from app.worker import Worker

_LOG: Final = logging.getLogger(__name__)

EngineLoader = Callable[[Settings], Sequence[Engine]]
"""Loads the engines, the default one first; called on the thread that owns MLX."""


@asynccontextmanager
async def live(
    app: Litestar, *, settings: Settings, load: EngineLoader, make_encoder: EncoderFactory
) -> AsyncGenerator[None]:
    """Load the voices in the background, answer meanwhile, and close everything at the end."""
    state = app.state
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
            state.readiness.fail(failure)
            return
        state.stream_metrics.watch(worker)
        observers = [state.event_logs, state.stream_metrics, StreamLog()]
        state.studio = Studio(settings, catalogue, worker, make_encoder, observers)
        state.readiness.open(partial(_is_full, worker, settings))
        _announce(catalogue, device)

    # The server answers while the voices are loaded, if only that they are.
    opening = asyncio.create_task(open_studio())
    try:
        yield
    finally:
        state.readiness.drain()
        opening.cancel()
        await worker.close()


def _is_full(worker: Worker, settings: Settings) -> bool:
    """Tell whether a speech that is asked for now would be refused."""
    waiting = worker.waiting
    return waiting >= settings.max_waiting and (
        waiting > 0 or worker.running >= settings.max_streams
    )


def _describe_device() -> str:
    # MLX is loaded with the engines, on the worker's thread, and by nothing else.
    from app.mlx_cpu.device import describe_device  # noqa: PLC0415

    return describe_device()


def _announce(catalogue: Catalogue, device: str) -> None:
    voices = ", ".join(voice.id for _, voice in catalogue.voices())
    _LOG.info("Voice: %s (%s)", voices, catalogue.default.id)
    _LOG.info("Device: %s", device)
