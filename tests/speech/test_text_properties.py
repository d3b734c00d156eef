"""What holds for every text, however odd."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.speech.engine import Word
from app.speech.text import Sentence, sentences

ANY_CHARACTERS = st.text(st.characters(exclude_categories=()), max_size=80)
AWKWARD_CHARACTERS = st.text(
    st.sampled_from(
        "aBIi159 \n\r\t\0\x07.,;:!?…*_~`|[](){}<>&%#@$€/\\^=+-–—'\"“”‘’«»"
        "\u200b\u200d\u00ad\u200f\u0301\u0300é½²٣Ⅳﷺﬁ你。！？、（）😀🏽\ufe0f\u20e3\ud83d\ufffe"
    ),
    max_size=80,
)
FRAGMENTS = [
    "Dr. Smith", "e.g.", "etc.", "5 p.m.", "J. R. R. Tolkien", "the U.S.", "St. John", "No. 5",
    "3.14", "1,234,567", "3:30 pm", "2026-12-01", "$3.50", "£1.2 million", "20°C", "10-20", "1/2",
    "(555) 123-4567", "https://example.com/a_b?c=d", "me@example.com", "“Stop!” he said.",
    '"Go."', "(a tabby)", "wait...", "so—yes", "really?!", "你好。世界！", "括号（好）、", "👍🏽",
    "❤️", "**bold**", "*it*", "_it_", "snake_case", "2*3", "2 * 3", "`code`", "# Heading",
    "- item", "1. first", "> quote", "[text](https://x.org/y_(z))", "![alt](a.png)", "| a | b |",
    "|---|---|",
    "---", "<b>hi</b>", "&amp;", "caf&eacute;", "cafe\u0301", "hel\u200blo", "नमस्ते", "مرحبا",
    "\n", "\n\n", "\r\n", " ", ".", ",", "Hello", "world", "x²", "1990s", "/usr/bin/env", "C#",
]  # fmt: skip
REAL_TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(" ".join)
GLUED_TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join)
TEXTS = ANY_CHARACTERS | AWKWARD_CHARACTERS | REAL_TEXTS | GLUED_TEXTS
LIMITS = st.integers(16, 60) | st.just(300)
LANGUAGES = st.sampled_from(["en-US", "en", "de-DE", "ja"])
MARKUP = ("<", "&", "`", "~~~", "](")
LETTERS = st.text("abcdefghij", min_size=1, max_size=8)


def read(text: str, *, longest: int = 300, language: str = "en-US") -> list[Sentence]:
    return list(sentences(text, longest=longest, language=language))


def words_of(found: list[Sentence]) -> list[Word]:
    return [word for sentence in found for word in sentence.words]


def say(text: str, language: str = "en-US") -> str:
    return " ".join(word.spoken for word in words_of(read(text, language=language)))


def strip_markup(text: str) -> str:
    """Take out what may begin a tag, an entity, a fence or the target of a link."""
    for sign in MARKUP:
        text = text.replace(sign, " ")
    return text


@settings(max_examples=400)
@given(TEXTS, LIMITS, LANGUAGES)
def test_spans_lie_in_the_text_one_after_the_other(text: str, longest: int, language: str) -> None:
    words = words_of(read(text, longest=longest, language=language))
    assert all(0 <= word.start <= word.end <= len(text) for word in words)
    assert all(before.end <= after.start for before, after in pairwise(words))


@settings(max_examples=400)
@given(TEXTS.map(strip_markup), LIMITS, LANGUAGES)
def test_no_letter_and_no_digit_outside_markup_is_lost(
    text: str, longest: int, language: str
) -> None:
    words = words_of(read(text, longest=longest, language=language))
    covered = {index for word in words for index in range(word.start, word.end)}
    lost = [char for index, char in enumerate(text) if char.isalnum() and index not in covered]
    assert not lost


@settings(max_examples=200)
@given(st.text("abcXY0159 \n.,;:!?*_~|[](){}%#@$/\\^=+-'\"", max_size=80).map(strip_markup))
def test_a_language_without_rules_speaks_every_letter_once_and_in_order(text: str) -> None:
    spoken = [char for char in say(text, "de") if char.isalnum()]
    assert spoken == [char for char in text if char.isalnum()]


@settings(max_examples=300)
@given(TEXTS, LIMITS, LANGUAGES)
@example("0,@000<0", 16, "en")
def test_no_sentence_is_longer_than_the_limit(text: str, longest: int, language: str) -> None:
    for sentence in read(text, longest=longest, language=language):
        assert len(" ".join(word.spoken for word in sentence.words)) <= longest


@settings(max_examples=200)
@given(TEXTS, LIMITS)
def test_every_sentence_has_something_to_say(text: str, longest: int) -> None:
    for sentence in read(text, longest=longest):
        assert any(char.isalnum() for word in sentence.words for char in word.spoken)
        assert all(word.spoken.strip() for word in sentence.words)


@settings(max_examples=200)
@given(TEXTS, LIMITS)
def test_only_the_last_sentence_is_followed_by_no_pause(text: str, longest: int) -> None:
    pauses = [sentence.pause_seconds for sentence in read(text, longest=longest)]
    assert all(pauses[:-1])
    assert not any(pauses[-1:])


@given(st.text(st.characters(exclude_categories=("L", "N", "S")), max_size=60).map(strip_markup))
def test_without_letters_digits_and_signs_there_is_nothing_to_say(text: str) -> None:
    said = {word.spoken.rstrip(",.;:!?") for word in words_of(read(text))}
    assert said <= {"and", "at", "percent", "minus", "section"}


@settings(max_examples=200)
@given(st.lists(REAL_TEXTS, min_size=1, max_size=4), LIMITS)
def test_paragraphs_are_read_as_they_would_be_alone(texts: list[str], longest: int) -> None:
    together = words_of(read("\n\n".join(texts), longest=longest))
    offset = 0
    alone: list[Word] = []
    for text in texts:
        found = words_of(read(text, longest=longest))
        alone += [Word(word.spoken, word.start + offset, word.end + offset) for word in found]
        offset += len(text) + 2
    assert together == alone


@given(st.lists(st.tuples(LETTERS, st.sampled_from(["", "*", "**", "***", "_", "`", "~~", "“"]))))
def test_emphasis_changes_nothing_that_is_spoken(pairs: list[tuple[str, str]]) -> None:
    closing = {"“": "”"}
    plain = " ".join(word for word, _sign in pairs)
    marked = " ".join(f"{sign}{word}{closing.get(sign, sign)}" for word, sign in pairs)
    assert say("so " + marked) == say("so " + plain)


@given(st.lists(LETTERS, min_size=3, max_size=3), st.sampled_from(["*", "**", "***"]))
def test_emphasis_within_a_word_does_not_break_it(parts: list[str], sign: str) -> None:
    before, middle, after = parts
    assert say(f"{before}{sign}{middle}{sign}{after}") == f"{before}{middle}{after}."


@settings(max_examples=200)
@given(st.text("ab1 *_#`~\n-", max_size=60))
def test_signs_of_emphasis_are_never_spoken_by_name(text: str) -> None:
    assert {"asterisk", "star", "underscore", "hash", "backtick"}.isdisjoint(
        say(text).rstrip(".").split()
    )


@given(LETTERS, LETTERS, st.sampled_from(["👍", "👍🏽", "👨‍👩‍👧", "❤️", "🇺🇸", "☀", "✅", "😀😀"]))
def test_emoji_are_passed_over(before: str, after: str, emoji: str) -> None:
    assert say(f"{before} {emoji} {after}{emoji}.") == f"{before} {after}."
    assert say(f"{before}{emoji}{after}") == f"{before} {after}."


@given(st.lists(LETTERS, min_size=1, max_size=200), st.integers(16, 80))
def test_a_long_sentence_is_cut_between_words_without_losing_one(
    letters: list[str], longest: int
) -> None:
    found = read(" ".join(letters), longest=longest)
    assert [word.spoken.rstrip(",.") for word in words_of(found)] == letters


@given(st.integers(1, 2000), st.integers(16, 300), st.sampled_from("x你"))
def test_a_word_of_any_length_is_cut_without_losing_a_letter(
    count: int, longest: int, letter: str
) -> None:
    assert (
        "".join(w.spoken for w in words_of(read(letter * count, longest=longest))).count(letter)
        == count
    )
