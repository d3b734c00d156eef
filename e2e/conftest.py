"""What the tests in the browser share: one Chromium, and sites that serve signals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

from app.main import create_app
from app.settings import Key, Settings
from app.speech.encoder import StreamEncoder
from app.speech.stream import EncoderFactory
from e2e.browser import launch_chromium
from e2e.signals import SignalEngine
from tests.serving import serving

RATE: Final = 24_000


@dataclass(frozen=True, slots=True)
class SignalSite:
    """A server of signals and the engine within it."""

    address: str
    engine: SignalEngine


@contextmanager
def serve_signals(
    make_encoder: EncoderFactory = StreamEncoder,
    *,
    re_entrant: bool = True,
    keys: tuple[Key, ...] = (),
) -> Iterator[SignalSite]:
    """Serve signals through `make_encoder`, with all the rest as it is."""
    engine = SignalEngine(RATE, re_entrant=re_entrant)
    app = create_app(Settings(keys=keys), load=lambda _: [engine], make_encoder=make_encoder)
    with serving(app) as address:
        yield SignalSite(address, engine)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = launch_chromium(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def shared_signals() -> Iterator[SignalSite]:
    with serve_signals() as site:
        yield site


@pytest.fixture
def signals(shared_signals: SignalSite) -> Iterator[SignalSite]:
    """Give the site with nothing held back, and nothing remembered of earlier tests."""
    while not shared_signals.engine.endings.empty():
        shared_signals.engine.endings.get_nowait()
    yield shared_signals
    shared_signals.engine.release()
