"""onnxruntime on the same ONNX file says what the voice sounds like without chance."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from app.speech.engine import Samples, Utterance
from app.speech.piper.config import read_config
from app.speech.piper.engine import PiperEngine
from app.speech.piper.phonemes import encode, phonemize
from tests.speech.piper.spoken import join, split_words

SENTENCES = (
    "Go!",
    "Yes, of course.",
    "The end of the day.",
    "Who could have known that?",
    "It costs $5, or 3.5% of 1,234.",
    "Wait; there is more: a list, and then some.",
    "The quick brown fox jumps over the lazy dog, twice a day.",
    "She said that the weather would be fine, but nobody who heard her believed it at all.",
    "Far out in the backwaters of the western arm of the galaxy lies a small, yellow sun.",
    "Orbiting this is an utterly insignificant little planet, whose life forms are so primitive;",
)


@pytest.fixture(scope="module")
def judge(voice_path: Path) -> onnxruntime.InferenceSession:
    # Its threads spin while they wait, which is slow where other tests run beside this one.
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(voice_path), options)


def speak(judge: onnxruntime.InferenceSession, ids: list[int], length: float = 1.0) -> Samples:
    scales = np.array([0, length, 0], np.float32)
    sizes = np.array([len(ids)])
    feed = {"input": np.array([ids]), "input_lengths": sizes, "scales": scales}
    samples: Samples = judge.run(None, feed)[0].ravel()
    return samples


@pytest.mark.parametrize("text", SENTENCES)
def test_samples_equal_onnxruntime(
    text: str,
    steady_engine: PiperEngine,
    judge: onnxruntime.InferenceSession,
    voice_path: Path,
) -> None:
    words, config = split_words(text), read_config(voice_path)
    ids, _ = encode(phonemize(words, config.espeak_voice), config.id_map)
    expected = speak(judge, ids)
    actual = join(steady_engine.generate(Utterance(words, "joe")))
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() < 1e-3
    assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("speed", [0.25, 0.8, 1.5, 4.0])
def test_speed_divides_durations_as_the_length_scale_does(
    speed: float,
    steady_engine: PiperEngine,
    judge: onnxruntime.InferenceSession,
    voice_path: Path,
) -> None:
    words, config = split_words("A short one, said at any speed."), read_config(voice_path)
    ids, _ = encode(phonemize(words, config.espeak_voice), config.id_map)
    expected = speak(judge, ids, 1 / speed)
    actual = join(steady_engine.generate(Utterance(words, "joe", speed=speed)))
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() < 1e-3
