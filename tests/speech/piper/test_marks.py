"""When each word and each phoneme is heard."""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.speech.engine import AudioChunk, Mark, Utterance, Word
from app.speech.piper.engine import PiperEngine
from app.speech.piper.marks import list_marks
from app.speech.piper.phonemes import Phoneme
from tests.speech.piper.spoken import join, split_words

WORDS = ("of", "the", "1,234", "fox", "well-known", "dog,", "end.", "(so)", "—", "to", "e.g.")


def generate(engine: PiperEngine, words: tuple[Word, ...], interval: float) -> list[AudioChunk]:
    return list(engine.generate(Utterance(words, "joe", seed=2, interval_seconds=interval)))


def pick(chunks: list[AudioChunk], kind: str) -> list[Mark]:
    return [mark for chunk in chunks for mark in chunk.marks if mark.kind == kind]


@settings(max_examples=10, deadline=None)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(
        lambda picked: split_words(" ".join(picked))
    ),
    interval=st.sampled_from([0.05, 0.3, 1.0]),
)
def test_marks_follow_each_other_within_the_sentence(
    engine: PiperEngine, words: tuple[Word, ...], interval: float
) -> None:
    chunks = generate(engine, words, interval)
    total = len(join(chunks))
    for kind in ("word", "phoneme"):
        marks = pick(chunks, kind)
        for mark, following in pairwise(marks):
            assert mark.end == following.start
        assert all(0 < mark.start < mark.end < total for mark in marks)
    assert [mark.start for mark in pick(chunks, "word")] == sorted(
        {mark.start for mark in pick(chunks, "word")}
    )


@settings(max_examples=8, deadline=None)
@given(interval=st.floats(0.01, 2))
def test_a_mark_is_in_the_chunk_in_which_it_begins(engine: PiperEngine, interval: float) -> None:
    start = 0
    for chunk in generate(engine, split_words("Over the hill, 12 of them ran."), interval):
        end = start + len(chunk.samples)
        assert all(start <= mark.start < end for mark in chunk.marks)
        start = end


@pytest.mark.parametrize(
    "text",
    [
        "One of the 5,000 people in the town went to the end of it.",
        "It costs $5.50 (about 3.5%) more, or not at all!",
        "Maybe… he said: “Go!”, and went — at last.",
    ],
)
def test_every_spoken_word_has_one_mark_with_its_place_in_the_text(
    engine: PiperEngine, text: str
) -> None:
    words = split_words(text)
    spoken = [word for word in words if any(map(str.isalnum, word.spoken))]
    marks = pick(generate(engine, words, 1.0), "word")
    assert [(mark.text, mark.text_start, mark.text_end) for mark in marks] == [
        (word.spoken, word.start, word.end) for word in spoken
    ]


def test_words_made_of_several_are_one_mark_over_the_written_text(engine: PiperEngine) -> None:
    words = (Word("Take", 0, 4), Word("five dollars.", 5, 8))
    marks = pick(generate(engine, words, 1.0), "word")
    assert [(mark.text, mark.text_start, mark.text_end) for mark in marks] == [
        ("Take", 0, 4),
        ("five dollars.", 5, 8),
    ]


def test_phonemes_fill_their_words_and_are_single_code_points(engine: PiperEngine) -> None:
    chunks = generate(engine, split_words("Hello there, my friend."), 1.0)
    words, phonemes = pick(chunks, "word"), pick(chunks, "phoneme")
    assert "".join(mark.text for mark in phonemes[:6]) == unicodedata.normalize("NFD", "həlˈoʊ")
    edges = {mark.start for mark in phonemes}
    assert {mark.start for mark in words} <= edges
    assert words[-1].end == phonemes[-1].end


def test_a_longer_word_sounds_longer(engine: PiperEngine) -> None:
    marks = pick(generate(engine, split_words("A misunderstanding is no joke."), 1.0), "word")
    lengths = {mark.text: mark.end - mark.start for mark in marks}
    assert lengths["misunderstanding"] > 3 * lengths["A"]


def test_a_phoneme_that_the_model_does_not_know_has_no_mark() -> None:
    phonemes = [Phoneme("a", 0), Phoneme("?", 0), Phoneme(" ", 0), Phoneme("?", 1)]
    marks = list_marks(
        (Word("a?", 0, 2), Word("?", 3, 4)),
        phonemes,
        starts=[2, 4, 4, 6],
        edges=np.array([0, 10, 20, 30, 40, 50, 60, 70]),
    )
    assert marks == [Mark("word", "a?", 0, 2, 20, 60), Mark("phoneme", "a", 0, 2, 20, 60)]
