"""/livez and /readyz, while the voices are loaded, when they are, and when they can't be."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from litestar import Litestar

from app.errors import VoiceFileError
from app.main import create_app
from app.settings import Settings
from app.speech.engine import Engine
from app.web.operations import Readiness
from tests.voices import ToneEngine
from tests.web.asgi import Client, living

pytestmark = pytest.mark.anyio


class Gate:
    """Loads a voice, but not before it may."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.failure: Exception | None = None

    def load(self, _: Settings) -> Sequence[Engine]:
        self.opened.wait(timeout=20)
        if self.failure is not None:
            raise self.failure
        return [ToneEngine()]


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def loading(gate: Gate) -> AsyncGenerator[Litestar]:
    """Give an app whose voices are not loaded before the gate is opened."""
    app = create_app(Settings(), load=gate.load)
    async with app.lifespan():
        yield app
        gate.opened.set()


async def settle(app: Litestar) -> None:
    await app.state.readiness.settle()


async def test_it_lives_while_the_voices_are_loaded_and_after(
    loading: Litestar, gate: Gate
) -> None:
    assert (await Client(loading).get("/livez")).status == 200
    gate.opened.set()
    await settle(loading)
    assert (await Client(loading).get("/livez")).body == b'{"status":"alive"}'


async def test_it_is_not_ready_until_the_voices_are_loaded(loading: Litestar, gate: Gate) -> None:
    early = await Client(loading).get("/readyz")
    assert early.status == 503
    assert b'"status":"loading"' in early.body
    assert b'"reason"' in early.body
    gate.opened.set()
    await settle(loading)
    late = await Client(loading).get("/readyz")
    assert (late.status, late.body) == (200, b'{"status":"ready"}')


@pytest.mark.parametrize("path", ["/v1/audio/speech?input=Hi", "/v1/models", "/v1/audio/voices"])
async def test_a_client_that_comes_too_early_is_told_when_to_come_again(
    loading: Litestar, path: str
) -> None:
    reply = await Client(loading).get(path)
    assert reply.status == 503
    assert reply.error["code"] == "loading"
    assert int(reply.headers["retry-after"]) > 0


async def test_the_page_that_comes_too_early_looks_again_by_itself(loading: Litestar) -> None:
    reply = await Client(loading).get("/")
    assert reply.status == 503
    assert reply.headers["content-type"].startswith("text/html")
    assert int(reply.headers["refresh"]) > 0
    assert int(reply.headers["retry-after"]) > 0
    assert b"loaded" in reply.body


async def test_a_failed_load_is_told_to_whoever_runs_the_server(
    loading: Litestar, gate: Gate
) -> None:
    stopped = asyncio.Event()
    loading.state.readiness.when_failed = stopped.set
    gate.failure = VoiceFileError("no such voice")
    gate.opened.set()
    with pytest.raises(VoiceFileError):
        await settle(loading)
    assert stopped.is_set()
    assert loading.state.readiness.failure is gate.failure
    assert b'"failed"' in (await Client(loading).get("/readyz")).body
    assert (await Client(loading).get("/v1/audio/speech?input=Hi")).status == 503


async def test_a_server_that_drains_is_not_ready(loading: Litestar) -> None:
    loading.state.readiness.drain()
    reply = await Client(loading).get("/readyz")
    assert reply.status == 503
    assert b'"draining"' in reply.body


async def test_what_is_loaded_after_a_stop_makes_nothing_ready() -> None:
    readiness = Readiness()
    readiness.drain()
    readiness.open(lambda: False)
    assert readiness.state == "draining"


async def test_a_load_that_fails_after_a_stop_is_no_failure() -> None:
    readiness = Readiness()
    readiness.drain()
    readiness.fail(VoiceFileError("no such voice"))
    assert readiness.failure is None
    assert readiness.state == "draining"


async def test_it_is_not_ready_while_the_queue_is_full() -> None:
    readiness = Readiness()
    places = [1, 0, 1]
    readiness.open(lambda: places.pop() == 0)
    assert [readiness.state for _ in range(3)] == ["ready", "full", "ready"]


async def test_what_is_loaded_is_logged_once_it_can_speak(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "app.web.lifespan")
    async with living(create_app(Settings(), load=lambda _: [ToneEngine()])):
        assert "Voice: a, b (tone)" in caplog.messages


def test_a_voice_that_can_t_be_loaded_ends_the_server_with_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "serve", "--port", "0"]
    command += ["--voice-file", str(tmp_path / "none.onnx")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    reasons = [line for line in ended.stderr.splitlines() if line.startswith("legato: ")]
    assert len(reasons) == 1
    assert "none.onnx" in reasons[0]
