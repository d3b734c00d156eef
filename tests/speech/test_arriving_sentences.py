"""Text that streams in: the sentences of the whole text, each as soon as it is certain."""

from functools import partial
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.speech.text import Sentence, SentenceReader, sentences
from tests.speech.test_text_cost import HOSTILE, count_calls
from tests.speech.test_text_properties import (
    ANY_CHARACTERS,
    AWKWARD_CHARACTERS,
    FRAGMENTS,
    GLUED_TEXTS,
    LANGUAGES,
    LIMITS,
    REAL_TEXTS,
)

HOSTILE_TEXTS = st.lists(st.sampled_from([*HOSTILE, *FRAGMENTS]), max_size=10).map("".join)
LINES = st.lists(
    st.sampled_from(
        [*FRAGMENTS, "- item", "1. first", "# Heading", "---", "```", "~~~", "> quote", "| a | b |"]
    ),
    max_size=8,
).map("\n".join)
TEXTS = st.one_of(ANY_CHARACTERS, AWKWARD_CHARACTERS, REAL_TEXTS, GLUED_TEXTS, HOSTILE_TEXTS, LINES)


def read(pieces: list[str], *, longest: int = 300, language: str = "en-US") -> list[Sentence]:
    reader = SentenceReader(longest=longest, language=language)
    found = [sentence for piece in pieces for sentence in reader.feed(piece)]
    return found + reader.finish()


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=800, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 400), max_size=6), LIMITS, LANGUAGES)
def test_any_cut_of_a_text_gives_the_sentences_of_the_whole(
    text: str, places: list[int], longest: int, language: str
) -> None:
    whole = list(sentences(text, longest=longest, language=language))
    assert read(cut(text, places), longest=longest, language=language) == whole


@settings(max_examples=300, deadline=None)
@given(TEXTS, LANGUAGES)
def test_character_by_character_gives_the_sentences_of_the_whole(text: str, language: str) -> None:
    assert read(list(text), language=language) == list(sentences(text, language=language))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en-US", "Hello there. |How are you? |I am fine."),
        ("en-US", "Wait, really?! |Yes… |Well. “|Fine.” |So what? |Go on!"),
        ("en-US", "Dr. Smith came. |He left at once."),
        ("en-US", "It is 5 p.m. We| go."),
        ("en-US", "I have 5 apples. How| nice."),
        ("en-US", "In the U.S. He| is known."),
        ("en-US", "One line.\n|Another one."),
        ("en-US", "A paragraph.\n\n|Another one."),
        ("en-US", "- one item\n- |two items\n- |three"),
        ("en-US", "# Title\n\n|Text."),
        ("en-US", "A **bold** word. |Then <b>more</b> of it. |End."),
        ("de-DE", "Hallo da. |Wie geht es? |Gut."),
        ("ja", "你好。|今天天气很好。|走吧。"),
    ],
)
def test_a_sentence_leaves_with_the_first_character_that_makes_it_certain(
    language: str, text: str
) -> None:
    parts = text.split("|")
    reader = SentenceReader(language=language)
    for part, following in pairwise(parts):
        assert [*reader.feed(part[1:] if part is not parts[0] else part)] == []
        assert len(reader.feed(following[0])) == 1
    assert reader.feed(parts[-1][1:]) == []
    assert len(reader.finish()) == 1
    assert len(parts) == len(list(sentences("".join(parts), language=language)))


def test_flush_gives_what_is_there_and_goes_on_counting() -> None:
    reader = SentenceReader()
    assert reader.feed("Not a whole sent") == []
    (first,) = reader.flush()
    assert reader.pending_characters == 0
    rest = [*reader.feed("ence. Then"), *reader.finish()]
    assert [word.spoken for word in first.words] == ["Not", "a", "whole", "sent."]
    words = [word for sentence in rest for word in sentence.words]
    assert [(word.spoken, word.start) for word in words] == [("ence.", 16), ("Then.", 22)]
    assert reader.finish() == []


def test_a_text_without_an_end_leaves_in_pieces_of_the_longest() -> None:
    reader = SentenceReader(longest=60)
    held = 0
    for _ in range(400):
        reader.feed("word ")
        held = max(held, reader.pending_characters)
    assert held < 60
    assert len(read(["word "] * 400, longest=60)) > 30


@pytest.mark.parametrize(
    "piece",
    ["Hello there. ", "one, two; three: four ", "你好。", "- item\n", "A. ", "1 ", "<b>x</b> "],
)
def test_reading_costs_the_same_per_character_however_long_the_text(piece: str) -> None:
    reader = SentenceReader()
    text = piece * 20_000
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))

    def feed(count: int) -> None:
        for some in islice(pieces, count):
            reader.feed(some)

    # What is held back is bounded, and reached by then.
    feed(1_200)
    early = count_calls(partial(feed, 150))
    feed(1_200)
    assert count_calls(partial(feed, 150)) < 1.3 * early + 1_000


@pytest.mark.parametrize("piece", ["Hello there. ", "word ", "你好。", "a.b ", "1,2 "])
def test_what_is_held_does_not_grow_with_the_text(piece: str) -> None:
    reader = SentenceReader()
    for _ in range(20_000 // len(piece)):
        reader.feed(piece)
        assert reader.pending_characters < 400


@pytest.mark.parametrize(
    "text",
    [
        'See <a href="x. y" title="One. Two">this</a>. Then go on.',
        "Look <!-- a note. It is hidden --> here. Then go on.",
        "Less <!-- than that. It is never closed. Then go on.",
        'A [link](https://x.org/a(b) "One. Two") in it. Then go on.',
        "A [link](with a space) in it. Then go on.",
        "So A*B。C。D。E*F is. And **bold** too. Then go on.",
        "It was in. 1984 was good. Then go on.",
        "See p. 5 and No. 7. Then go on. No. Then yes.",
        "Call +1 555 123 4567. Then $5 million. Then 5 km. Then go on.",
        "By J. R. R. Tolkien. By Plan B. And so on.",
        "He came at 5 p.m. He left at 6 p.m. and slept etc.\n\nThen more.",
        "- - -\nText.\n\n```py\ncode. More\n```\nEnd. | a | b |\n|---|---|\nDone.",
    ],
)
def test_what_has_a_far_end_is_read_as_in_the_whole_text(text: str) -> None:
    assert read(list(text)) == list(sentences(text))
    for place in range(len(text)):
        assert read([text[:place], text[place:]]) == list(sentences(text))


@pytest.mark.parametrize("size", [7, 17, 1_001])
@pytest.mark.parametrize(
    "text",
    [
        "Number one, and some words. " * 500,
        "e\u0301" * 15_000,
        ("a" * 128 + "\u0301") * 100,
        "a**b**" * 1_500,
    ],
)
def test_a_long_text_keeps_its_offsets(size: int, text: str) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert read(pieces) == list(sentences(text))
