"""What every response carries, however it came about, and that no name is a way to a file."""

import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar

from app.main import create_app
from app.settings import Key, Settings
from app.web.pages import STATIC_FOLDER, TEMPLATE_FOLDER
from tests.voices import ToneEngine
from tests.web.asgi import Client, Reply, living

pytestmark = pytest.mark.anyio
URL = "/v1/audio/speech"
STREAM_ID = "6f1ed002-ab5c-4b5e-8d1e-3f1f4f0b9f5a"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
KEY = Key(name="phone", sha256="0" * 64)
WANTED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def build(engine: ToneEngine | None = None, **chosen: Any) -> Litestar:  # noqa: ANN401 - any setting
    return create_app(Settings(**chosen), load=lambda _settings: [engine or ToneEngine()])


@pytest.fixture
async def app(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Litestar]:
    # Nobody waits here for a speech that never comes.
    monkeypatch.setattr("app.web.events.WAIT_SECONDS", 0.0)
    async with living(build()) as app:
        yield app


def check(reply: Reply) -> None:
    assert reply.status
    assert reply.headers.items() >= WANTED.items()
    policy = reply.headers["content-security-policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert rules["base-uri"] == "'none'"
    # Nothing inline, nothing evaluated, nothing from elsewhere.
    assert set(" ".join(rules.values()).split()) <= {"'none'", "'self'", "blob:", "data:"}
    assert "data:" not in rules["script-src"]
    assert "blob:" not in rules["script-src"]


def name_targets(app: Litestar) -> Iterable[str]:
    """Give an address for each route, one that it answers well wherever there is one."""
    for route in app.routes:
        yield (
            route.path.replace("{stream_id:uuid}", STREAM_ID)
            .replace("{file_path:path}", "icon.svg")
            .replace("{path:str}", "redoc")
        )


async def test_every_route_carries_them_for_every_method(app: Litestar) -> None:
    targets = [*name_targets(app), "/nowhere", "/v1/nowhere", "/static/nowhere", f"{URL}?input=one"]
    seen = set()
    for target in targets:
        for method in METHODS:
            reply = await Client(app).request(method, target)
            check(reply)
            seen.add(reply.status)
    assert seen >= {200, 204, 400, 404, 405}


async def test_speech_and_its_refusals_carry_them() -> None:
    async with living(build(speeches_per_minute=3, max_body_bytes=1_024)) as app:
        replies = [
            await Client(app).post(URL, {"input": "one", "response_format": "pcm"}),
            await Client(app).post(URL, {"input": "one", "stream_format": "sse"}),
            await Client(app).post(URL, {"input": "a" * 2_000}),
            await Client(app).post(URL, {"input": "one"}),
        ]
    assert [reply.status for reply in replies] == [200, 200, 413, 429]
    for reply in replies:
        check(reply)


async def test_a_failure_carries_them() -> None:
    async with living(build(ToneEngine(fail_after=0))) as app:
        reply = await Client(app).post(URL, {"input": "one"})
    assert reply.status == 500
    check(reply)


async def test_those_who_are_kept_out_get_them() -> None:
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    asked = {**foreign, "Access-Control-Request-Method": "POST"}
    good = {**asked, "Origin": "https://good.example"}
    async with living(build(keys=(KEY,), cors_origins=("https://good.example",))) as app:
        replies = [
            await Client(app).post(URL, {"input": "one"}),
            await Client(app, headers=foreign).post(URL, {"input": "one"}),
            await Client(app, headers=asked).request("OPTIONS", URL),
            await Client(app, headers=good).request("OPTIONS", URL),
            await Client(app, headers={"Host": "a b"}).get("/"),
        ]
    assert [reply.status for reply in replies] == [401, 403, 400, 204, 400]
    for reply in replies:
        check(reply)


async def test_a_server_that_is_not_ready_or_about_to_stop_sends_them() -> None:
    async with living(build()) as app:
        app.state.readiness.drain()
        reply = await Client(app).get("/readyz")
    assert reply.status == 503
    check(reply)


# What the policy allows is all that there is


@pytest.mark.parametrize("path", sorted(TEMPLATE_FOLDER.rglob("*.html")), ids=lambda p: p.name)
def test_no_template_has_what_the_policy_forbids(path: Path) -> None:
    markup = path.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\ssrc=)", markup)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", markup)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", markup)


@pytest.mark.parametrize(
    "page", ["", "/openapi.json", "/openapi.yaml", "/redoc", "/swagger", "/elements", "/rapidoc"]
)
async def test_the_api_document_needs_nothing_from_elsewhere(app: Litestar, page: str) -> None:
    reply = await Client(app).get(f"/schema{page}")
    text = reply.body.decode()
    assert "<script" not in text
    assert not re.search(r"""(?:src|href)=""", text)


async def test_a_browser_shows_the_api_document(app: Litestar) -> None:
    for address in ("/schema", "/schema/openapi.json"):
        reply = await Client(app).get(address)
        assert reply.headers["content-type"] == "application/json"
        assert json.loads(reply.body)["info"]["title"] == "Legato"


# No name is a way to a file


@pytest.fixture(scope="module")
def observed() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.web.opened"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    observed: dict[str, Any] = json.loads(done.stdout)
    return observed


def test_no_path_leads_out_of_the_static_files(observed: dict[str, Any]) -> None:
    assert observed["allowed"] == 200
    assert len(observed["paths"]) > 100
    assert {path: status for path, status in observed["paths"].items() if status != 404} == {}


def test_a_model_voice_or_format_is_never_a_path_or_an_address(observed: dict[str, Any]) -> None:
    assert len(observed["names"]) > 90
    wrong = {name: status for name, status in observed["names"].items() if status not in {400, 404}}
    assert wrong == {}


def test_nothing_is_opened_for_a_client_but_static_files(observed: dict[str, Any]) -> None:
    opened = [what for event, what in observed["opened"] if event == "open"]
    # The recorder works: it saw the one file that may be read.
    assert len(opened) == 1
    assert str(STATIC_FOLDER / "icon.svg") in opened[0]
    assert [entry for entry in observed["opened"] if entry[0] != "open"] == []


def test_the_tests_that_security_md_names_exist() -> None:
    root = STATIC_FOLDER.parent
    named = re.findall(r"`(tests/[^`]+)`", (root / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 15
    assert [name for name in named if not (root / name).is_file()] == []
