"""What the embedded voice promises as an engine."""

from contextlib import closing
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import UnknownVoiceError
from app.mlx_cpu import mx
from app.speech.engine import AudioChunk, Samples, Utterance, Word
from app.speech.piper.decoder import Decoder
from app.speech.piper.engine import PiperEngine
from app.speech.piper.espeak import select_voice
from app.speech.piper.phonemes import encode, phonemize
from app.speech.piper.vits import Scales
from tests.speech.piper.spoken import join, split_words

SENTENCE = split_words("One of the foxes ran home, at last.")
LONG = split_words("The fox ran home over the hill, and then the dog of the king ran after it.")


def render_at_once(engine: PiperEngine, seed: int) -> Samples:
    """Return the sentence in one pass through the whole model, without windows."""
    id_map = engine._config.id_map  # noqa: SLF001 - the way that has no windows is inside
    ids, _ = encode(phonemize(SENTENCE, "en-us"), id_map)
    scales = Scales(0.667, 1.0, 0.8)
    model = engine._model  # noqa: SLF001 - the same
    return model.render(model.plan(ids, 0, scales=scales, noise=np.random.default_rng(seed)))


@settings(max_examples=8, deadline=None)
@given(interval_seconds=st.floats(0.002, 3), seed=st.integers(0, 5))
def test_joined_chunks_equal_one_pass_for_any_chunk_size(
    engine: PiperEngine, interval_seconds: float, seed: int
) -> None:
    utterance = Utterance(SENTENCE, "joe", seed=seed, interval_seconds=interval_seconds)
    chunks = list(engine.generate(utterance))
    expected = render_at_once(engine, seed)
    joined = join(chunks)
    assert joined.shape == expected.shape
    assert np.abs(joined - expected).max() <= 1e-4
    assert max(len(chunk.samples) for chunk in chunks) <= interval_seconds * engine.sample_rate
    assert min(len(chunk.samples) for chunk in chunks) > 0


def test_the_first_chunk_is_short_and_later_ones_grow_up_to_the_interval(
    engine: PiperEngine,
) -> None:
    chunks = list(engine.generate(Utterance(LONG, "joe", seed=1, interval_seconds=0.7)))
    seconds = [len(chunk.samples) / engine.sample_rate for chunk in chunks]
    assert seconds[0] == pytest.approx(0.2, abs=0.02)
    assert max(seconds) == pytest.approx(0.7, abs=0.02)


def test_the_first_chunk_comes_before_most_frames_are_decoded(
    engine: PiperEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode, decoded = Decoder.__call__, []

    def count(decoder: Decoder, frames: mx.array, speaker: mx.array | None) -> mx.array:
        decoded.append((frames.shape[0], decoder))
        return decode(decoder, frames, speaker)

    monkeypatch.setattr(Decoder, "__call__", count)
    with closing(engine.generate(Utterance(LONG, "joe", seed=1))) as chunks:
        first = next(chunks)
    ((frames, decoder),) = decoded
    assert frames == len(first.samples) // decoder.hop + decoder.reach


def test_a_seed_repeats_the_render_and_another_does_not(engine: PiperEngine) -> None:
    first, again, other = (
        join(engine.generate(Utterance(SENTENCE, "joe", seed=seed))) for seed in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert first.shape != other.shape or np.abs(first - other).max() > 0.01


def test_without_a_seed_chance_decides(engine: PiperEngine) -> None:
    first, second = (join(engine.generate(Utterance(SENTENCE, "joe"))) for _ in range(2))
    assert first.shape != second.shape or np.abs(first - second).max() > 0.01


def test_two_generations_may_take_turns(engine: PiperEngine) -> None:
    utterances = [
        Utterance(words, "joe", seed=3, interval_seconds=0.3) for words in (SENTENCE, LONG)
    ]
    apart = [join(engine.generate(utterance)) for utterance in utterances]
    turns = [engine.generate(utterance) for utterance in utterances]
    chunks: list[list[AudioChunk]] = [[], []]
    # Another engine may have left espeak with another voice.
    select_voice("de")
    for pair in zip_longest(*turns):
        for kept, chunk in zip(chunks, pair, strict=True):
            kept.extend([chunk] if chunk is not None else [])
    for alone, kept in zip(apart, chunks, strict=True):
        assert np.array_equal(alone, join(kept))


def test_it_says_that_it_is_re_entrant(engine: PiperEngine) -> None:
    assert engine.re_entrant


def test_a_single_speaker_is_named_after_its_file(engine: PiperEngine) -> None:
    assert engine.id == "en_US-joe-medium"
    assert engine.sample_rate == 22_050
    (voice,) = engine.voices
    assert (voice.id, voice.name, voice.language) == ("joe", "Joe", "en-US")


def test_an_unknown_voice_is_refused_before_anything_is_generated(engine: PiperEngine) -> None:
    with pytest.raises(UnknownVoiceError, match="joe"):
        engine.generate(Utterance(SENTENCE, "nobody"))


@pytest.mark.parametrize("words", [(), (Word("...", 0, 3),), (Word("", 0, 0),), (Word("—", 0, 1),)])
def test_nothing_to_say_gives_no_chunk(engine: PiperEngine, words: tuple[Word, ...]) -> None:
    assert list(engine.generate(Utterance(words, "joe"))) == []


def test_the_slowest_speech_is_several_times_longer_than_the_fastest(engine: PiperEngine) -> None:
    lengths = [
        len(join(engine.generate(Utterance(SENTENCE, "joe", seed=1, speed=speed))))
        for speed in (0.25, 0.5, 1, 2, 4)
    ]
    assert lengths == sorted(lengths, reverse=True)
    # Rounding up to whole frames makes fast speech longer than its share.
    assert lengths[0] > 3 * lengths[2]


def test_a_sentence_of_five_hundred_ids_is_spoken(engine: PiperEngine) -> None:
    words = split_words("a very long way to go " * 16)
    samples = join(engine.generate(Utterance(words, "joe", seed=1, speed=4)))
    assert np.isfinite(samples).all()
    assert np.abs(samples).max() <= 1
