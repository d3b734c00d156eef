"""Voices unlike the embedded one, against the plain reference."""

from pathlib import Path

import numpy as np
import pytest

from app.errors import UnknownVoiceError
from app.speech.engine import Utterance
from app.speech.piper.config import read_config
from app.speech.piper.engine import PiperEngine
from app.speech.piper.phonemes import encode, phonemize
from tests.speech.piper.reference import Reference, Shape
from tests.speech.piper.small_voice import RATE, draw_weights, write_voice
from tests.speech.piper.spoken import join, split_words

TEXT = "Hello there, my friend."

SHAPES = {
    "high": Shape(),
    "low": Shape(block_type=2, block_dilations=(1, 3), strides=(5, 2), kernels=(9, 2), heads=1),
    "x_low": Shape(
        layers=1,
        couplings=3,
        flow_layers=1,
        block_kernels=(5,),
        strides=(3, 4, 2),
        kernels=(11, 4, 4),
        inter=4,
    ),
}


def load(folder: Path, shape: Shape, *, folded: bool) -> tuple[PiperEngine, Reference]:
    weights = draw_weights(shape, seed=5)
    path = write_voice(folder, weights, shape, folded=folded)
    engine = PiperEngine.load(path, cache=folder, noise_scale=0, rhythm_noise_scale=0)
    return engine, Reference(weights, shape)


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_speaker_of_any_quality_sounds_like_the_reference(
    tmp_path: Path, shape: Shape, *, folded: bool
) -> None:
    engine, reference = load(tmp_path, shape, folded=folded)
    words = split_words(TEXT)
    id_map = read_config(tmp_path / "xx_YY-tiny-high.onnx").id_map
    ids, _ = encode(phonemize(words, "en-us"), id_map)
    rendered = []
    for number, voice in enumerate(("amy", "bob", "zoe")):
        expected = reference.speak(ids, number, 1.5)
        actual = join(engine.generate(Utterance(words, voice, interval_seconds=0.03)))
        assert actual.shape == expected.shape
        assert np.abs(actual - expected).max() < 1e-4
        rendered.append(actual)
    assert rendered[0].shape != rendered[1].shape or np.abs(rendered[0] - rendered[1]).max() > 0.01


def test_speakers_are_voices_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    engine, _ = load(tmp_path, Shape(), folded=True)
    assert [voice.id for voice in engine.voices] == ["amy", "bob", "zoe"]
    assert {voice.language for voice in engine.voices} == {"xx-YY"}
    assert (engine.id, engine.sample_rate) == ("xx_YY-tiny-high", RATE)


def test_an_unknown_speaker_is_refused_before_anything_is_generated(tmp_path: Path) -> None:
    engine, _ = load(tmp_path, Shape(), folded=False)
    with pytest.raises(UnknownVoiceError, match="amy, bob, zoe"):
        engine.generate(Utterance(split_words(TEXT), "joe"))
