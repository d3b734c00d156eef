"""The voice beside onnxruntime on the same ONNX file."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import numpy as np
import onnxruntime

from app.bench.timing import Ratio, clock, time_in_turns
from app.settings import Settings
from app.speech.engine import Utterance
from app.speech.piper.config import read_config
from app.speech.piper.embedded import find_embedded_voice
from app.speech.piper.engine import PiperEngine
from app.speech.piper.phonemes import encode, phonemize
from app.speech.text import sentences

SENTENCE: Final = (
    "The old lighthouse keeper climbed the winding stairs each evening, lit the great lamp with"
    " steady hands, and watched the ships far out on the darkening water turn, one after another,"
    " toward the harbour that their crews had not seen in many a month."
)
"""About 250 characters: the length at which the first sound is measured."""


def measure_voice(settings: Settings) -> Iterator[Ratio]:
    """Speak one long sentence: all of it, and up to its first sound."""
    path = settings.voice_file or find_embedded_voice()
    engine = PiperEngine.load(path, cache=settings.cache_folder)
    (sentence,) = sentences(SENTENCE)
    utterance = Utterance(sentence.words, engine.voices[0].id, seed=1)

    def speak() -> int:
        with closing(engine.generate(utterance)) as chunks:
            return sum(len(chunk.samples) for chunk in chunks)

    def speak_first_chunk() -> None:
        with closing(engine.generate(utterance)) as chunks:
            next(chunks)

    config = read_config(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    ids, _ = encode(phonemize(sentence.words, config.espeak_voice), config.id_map)
    inputs = {
        "input": np.array([ids], np.int64),
        "input_lengths": np.array([len(ids)], np.int64),
        "scales": np.array([0.667, 1.0, 0.8], np.float32),
    }
    run_onnx = clock(lambda: session.run(None, inputs))
    whole, onnx_whole = time_in_turns(clock(speak), run_onnx)
    first, onnx_first = time_in_turns(clock(speak_first_chunk), run_onnx)
    audio_seconds = speak() / engine.sample_rate
    yield Ratio("voice: a long sentence / its duration", whole, audio_seconds, bound=1 / 6)
    yield Ratio("voice: a long sentence / onnxruntime", whole, onnx_whole)
    yield Ratio("voice: its first sound / onnxruntime", first, onnx_first, bound=0.4)
