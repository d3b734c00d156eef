"""The log: one line a stream, in words or in JSON, and nowhere the text that was spoken."""

import json
import logging
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import NothingToSpeakError
from app.main import create_app
from app.settings import Settings
from app.web.progress import Asked, Progress
from app.web.stream_log import (
    JsonFormatter,
    TextFormatter,
    cut_queries,
    describe_stream,
)
from tests.voices import ToneEngine
from tests.web.asgi import Client, living

URL = "/v1/audio/speech"
SPOKEN = "confidential"
KEYS = [
    *("id", "client", "model", "voice", "format", "outcome"),
    *("queued_s", "first_byte_s", "audio_s", "bytes", "wall_s", "error"),
]
WORDS = st.text(' "=\\\n\r\t\0\u2028-xé🎉%{', max_size=6)
FIELDS = st.dictionaries(st.sampled_from(KEYS), st.none() | WORDS | st.integers())


def make_progress() -> Progress:
    asked = Asked("an-id", "127.0.0.1", "tone", "a", "mp3", 24_000, 24_000)
    return Progress(asked, opened_at=100.0)


def make_record(fields: dict[str, Any], message: str = "stream") -> logging.LogRecord:
    return logging.makeLogRecord(
        {"msg": message, "levelname": "INFO", "name": "app", "fields": fields}
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("engine", "outcome", "error"),
    [(ToneEngine(), "completed", None), (ToneEngine(fail_after=2), "failed", "ValueError")],
)
async def test_a_stream_ends_with_one_line_that_tells_all_but_its_text(
    caplog: pytest.LogCaptureFixture, engine: ToneEngine, outcome: str, error: str | None
) -> None:
    caplog.set_level(logging.INFO)
    async with living(create_app(Settings(), load=lambda _: [engine])) as app:
        body = {"input": f"one two {SPOKEN}", "response_format": "pcm"}
        reply = await Client(app).post(URL, body)
    (record,) = (record for record in caplog.records if record.getMessage() == "stream")
    fields = vars(record)["fields"]
    assert list(fields) == KEYS
    assert (fields["outcome"], fields["error"]) == (outcome, error)
    assert fields["id"] == reply.headers["x-request-id"]
    assert (fields["client"], fields["model"], fields["voice"]) == ("127.0.0.1", "tone", "a")
    assert fields["format"] == "pcm"
    assert fields["bytes"] == len(reply.body)
    assert fields["audio_s"] == pytest.approx(fields["bytes"] / 48_000, abs=1e-3)
    assert 0 <= fields["queued_s"] <= fields["first_byte_s"] <= fields["wall_s"]
    assert SPOKEN not in caplog.text + json.dumps(fields)


def test_times_count_from_the_request_and_what_never_was_is_none() -> None:
    told = describe_stream(replace(make_progress(), begun_at=100.25, ended_at=102.0))
    assert (told["queued_s"], told["first_byte_s"], told["wall_s"]) == (0.25, None, 2.0)


def test_a_known_failure_is_told_in_its_words_and_a_bug_by_its_name_alone() -> None:
    known = describe_stream(replace(make_progress(), error=NothingToSpeakError("Nothing here.")))
    assert known["error"] == "NothingToSpeakError: Nothing here."
    bug = describe_stream(replace(make_progress(), error=KeyError(SPOKEN)))
    assert bug["error"] == "KeyError"


@given(fields=FIELDS)
def test_a_line_of_text_gives_all_back_and_is_one_line(fields: dict[str, Any]) -> None:
    line = TextFormatter().format(make_record(fields))
    assert len(line.splitlines()) == 1
    assert line.startswith("INFO  stream")
    pairs = re.findall(r' (\w+)=("(?:[^"\\]|\\.)*"|[^ "]+)', line)
    told = {key: json.loads(value) if value[0] == '"' else value for key, value in pairs}
    assert told == {key: "-" if value is None else str(value) for key, value in fields.items()}


@given(fields=FIELDS, message=WORDS)
def test_a_line_of_json_is_one_object_that_gives_all_back(
    fields: dict[str, Any], message: str
) -> None:
    line = JsonFormatter().format(make_record(fields, message))
    assert len(line.splitlines()) == 1
    told = json.loads(line)
    assert told["message"] == message
    assert {key: told[key] for key in fields} == fields


def test_a_traceback_stays_within_its_line_of_json() -> None:
    error = ValueError("the model broke")
    record = logging.makeLogRecord({"msg": "failed", "exc_info": (ValueError, error, None)})
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "the model broke" in json.loads(line)["exception"]


@pytest.mark.parametrize(
    ("template", "args", "shown"),
    [
        (
            '%s - "%s %s HTTP/%s" %d',
            ("127.0.0.1:1", "GET", f"{URL}?input={SPOKEN}%3F?x", "1.1", 200),
            f'127.0.0.1:1 - "GET {URL} HTTP/1.1" 200',
        ),
        (
            '%s - "WebSocket %s" [accepted]',
            ("127.0.0.1:1", f"{URL}/stream?voice={SPOKEN}"),
            f'127.0.0.1:1 - "WebSocket {URL}/stream" [accepted]',
        ),
        ("Is it %s?", ("so?",), "Is it so??"),
        ("Shutting down", (), "Shutting down"),
    ],
)
def test_a_query_is_cut_off_the_paths_that_are_logged(
    template: str, args: tuple[object, ...], shown: str
) -> None:
    record = logging.makeLogRecord({"msg": template, "args": args})
    assert cut_queries(record)
    assert record.getMessage() == shown


@pytest.fixture
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """Run the real server, which logs as JSON and has its proxy elsewhere."""
    cache = tmp_path_factory.getbasetemp() / "voice-cache"
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--log-format", "json"]
    command += ["--cache-folder", str(cache), "--trusted-proxies", "192.0.2.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        yield server
        server.kill()


def test_the_real_server_logs_who_asked_and_never_the_text(serving: subprocess.Popen[str]) -> None:
    assert serving.stderr is not None
    lines: list[dict[str, str]] = []
    while not lines or not lines[-1]["message"].startswith("Device: "):
        lines.append(json.loads(serving.stderr.readline()))
    (address,) = (
        line["message"].split()[3] for line in lines if line["message"].startswith("Uvicorn")
    )
    claim = {"X-Forwarded-For": "203.0.113.9"}
    query = {"input": f"{SPOKEN}."}
    httpx.get(f"{address}{URL}", params=query, headers=claim, timeout=30).raise_for_status()
    assert httpx.get(f"{address}{URL}", params={"speed": SPOKEN}).status_code == 400
    serving.send_signal(signal.SIGTERM)
    rest = serving.stderr.read()
    assert SPOKEN not in rest
    told = [json.loads(line) for line in rest.splitlines()]
    (stream,) = (line for line in told if line["message"] == "stream")
    assert stream["client"] == "127.0.0.1"
    assert sum(f'"GET {URL} HTTP/1.1"' in line["message"] for line in told) == 2
