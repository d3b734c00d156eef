"""python -m app: what a person types, and what they get."""

import io
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from app.__main__ import main
from app.audit.decoding import decode_body

SENTENCE = "Hello there."


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Convert the voice once for all tests here, and never touch the person's own cache."""
    folder = tmp_path_factory.getbasetemp() / "voice-cache"
    monkeypatch.setenv("LEGATO_CACHE_FOLDER", str(folder))


def say(output: Path, *words: str) -> int:
    return main(["say", SENTENCE, "-o", str(output), "--seed", "1", *words])


@pytest.mark.parametrize("extension", ["mp3", "webm", "opus", "ogg", "flac", "wav", "m4a", "aac"])
def test_say_writes_a_playable_file_of_the_named_kind(tmp_path: Path, extension: str) -> None:
    output = tmp_path / f"hello.{extension}"
    assert say(output) == 0
    name = "mp4" if extension == "m4a" else extension
    decoded = decode_body(output.read_bytes(), name)
    assert len(decoded.segments) == 1
    assert 0.4 < decoded.seconds < 3
    assert abs(decoded.samples).max() > 0.05


def test_say_twice_with_one_seed_gives_the_same_file(tmp_path: Path) -> None:
    assert say(tmp_path / "a.flac") == say(tmp_path / "b.flac") == 0
    assert (tmp_path / "a.flac").read_bytes() == (tmp_path / "b.flac").read_bytes()


def test_say_reads_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(SENTENCE))
    assert main(["say", "-", "-o", str(tmp_path / "a.wav"), "--seed", "1"]) == 0
    assert say(tmp_path / "b.wav") == 0
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_a_text_with_nothing_to_speak_leaves_what_was_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "hello.mp3"
    output.write_text("precious")
    assert main(["say", "...", "-o", str(output)]) == 1
    assert "spoken" in capsys.readouterr().err
    assert output.read_text() == "precious"


@pytest.mark.parametrize("name", ["hello.xyz", "hello"])
def test_a_name_of_no_format_lists_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert say(tmp_path / name) == 1
    assert ".mp3" in capsys.readouterr().err


def test_an_unknown_voice_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert say(tmp_path / "a.mp3", "--voice", "nobody") == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("words", [["--speed", "9"], ["--speed", "0"], ["--seed", "-1"]])
def test_a_choice_out_of_bounds_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert say(tmp_path / "a.mp3", *words) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_voices_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["voices"]) == 0
    assert "joe\ten-US" in capsys.readouterr().out


def test_a_bad_setting_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEGATO_PORT", "many")
    assert main(["voices"]) == 1
    assert "port" in capsys.readouterr().err


def test_a_voice_file_that_is_missing_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["voices", "--voice-file", str(tmp_path / "none.onnx")]) == 1
    assert "none.onnx" in capsys.readouterr().err


@pytest.fixture
def serving() -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "app", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        yield server
        server.kill()


def test_serve_says_where_and_with_what_then_speaks_and_stops_cleanly(
    serving: subprocess.Popen[str],
) -> None:
    assert serving.stderr is not None
    said = ""
    while "Device: " not in said:
        line = serving.stderr.readline()
        assert line, said
        said += line
    assert "Voice: joe" in said
    address = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert address is not None
    reply = httpx.get(f"{address[0]}/v1/audio/speech", params={"input": SENTENCE}, timeout=30)
    assert reply.headers["content-type"] == "audio/mpeg"
    serving.send_signal(signal.SIGTERM)
    assert serving.wait(timeout=30) == 0
