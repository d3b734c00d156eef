"""The cache of converted weights, and what happens to damaged files."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from app.errors import VoiceFileError
from app.mlx_cpu import mx
from app.speech.piper import onnx_graph, weights
from app.speech.piper.config import read_config
from app.speech.piper.engine import PiperEngine
from tests.speech.piper.reference import Shape
from tests.speech.piper.small_voice import draw_weights, write_voice


@pytest.fixture
def small_voice(tmp_path: Path) -> Path:
    return write_voice(tmp_path, draw_weights(Shape(), 1), Shape(), folded=True)


def refuse(path: Path) -> onnx_graph.Graph:
    raise AssertionError(f"{path} was parsed again")


def assert_same(left: weights.Weights, right: weights.Weights) -> None:
    assert left.arrays.keys() == right.arrays.keys()
    for name, array in left.arrays.items():
        assert np.array_equal(np.array(array), np.array(right.arrays[name]))
    assert (left.strides, left.dilations, left.crops) == (
        right.strides,
        right.dilations,
        right.crops,
    )


def test_the_second_start_does_not_parse_the_onnx_file(
    small_voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = weights.load_weights(small_voice, cache=tmp_path / "cache")
    monkeypatch.setattr(onnx_graph, "read_graph", refuse)
    assert_same(weights.load_weights(small_voice, cache=tmp_path / "cache"), first)


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_cache_is_made_again(
    small_voice: Path, tmp_path: Path, damage: bytes | None
) -> None:
    cache = tmp_path / "cache"
    first = weights.load_weights(small_voice, cache=cache)
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert_same(weights.load_weights(small_voice, cache=cache), first)
    assert [path.read_bytes() for path in cache.iterdir()] == [whole]


def test_another_voice_and_another_converter_have_their_own_files(
    small_voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    weights.load_weights(small_voice, cache=cache)
    monkeypatch.setattr(weights, "CONVERTER", "next")
    weights.load_weights(small_voice, cache=cache)
    changed = write_voice(tmp_path, draw_weights(Shape(), 2), Shape(), folded=True)
    weights.load_weights(changed, cache=cache)
    assert len(list(cache.iterdir())) == 3


def test_a_conversion_that_fails_leaves_nothing_behind(
    small_voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(mx, "save_safetensors", fail)
    with pytest.raises(OSError, match="no space"):
        weights.load_weights(small_voice, cache=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x08\x12\x07pytorch"])
def test_a_file_that_is_no_voice_is_named_in_the_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(VoiceFileError, match=r"broken\.onnx"):
        weights.load_weights(path, cache=tmp_path / "cache")


def test_a_voice_cut_short_is_a_voice_file_error(small_voice: Path, tmp_path: Path) -> None:
    small_voice.write_bytes(small_voice.read_bytes()[:2000])
    with pytest.raises(VoiceFileError, match="tiny-high"):
        weights.load_weights(small_voice, cache=tmp_path / "cache")


def test_a_missing_file_is_a_voice_file_error(tmp_path: Path) -> None:
    with pytest.raises(VoiceFileError, match=r"none\.onnx"):
        weights.load_weights(tmp_path / "none.onnx", cache=tmp_path / "cache")


@pytest.mark.parametrize("settings", [None, "", "[]", "{}", '{"audio": {"sample_rate": 8000}}'])
def test_settings_that_are_missing_or_not_pipers_are_a_voice_file_error(
    small_voice: Path, settings: str | None
) -> None:
    path = small_voice.with_name(f"{small_voice.name}.json")
    path.unlink()
    if settings is not None:
        path.write_text(settings)
    with pytest.raises(VoiceFileError, match="tiny-high"):
        read_config(small_voice)


def test_a_language_that_espeak_does_not_know_is_a_voice_file_error(
    small_voice: Path, tmp_path: Path
) -> None:
    path = small_voice.with_name(f"{small_voice.name}.json")
    path.write_text(path.read_text().replace("en-us", "no-such-voice"))
    with pytest.raises(VoiceFileError, match="no-such-voice"):
        PiperEngine.load(small_voice, cache=tmp_path / "cache")


def test_a_voice_is_found_by_its_content_wherever_it_lies(
    small_voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = weights.load_weights(small_voice, cache=tmp_path / "cache")
    copy = tmp_path / "copy.onnx"
    shutil.copy(small_voice, copy)
    monkeypatch.setattr(onnx_graph, "read_graph", refuse)
    assert_same(weights.load_weights(copy, cache=tmp_path / "cache"), first)
