"""What reading costs: nothing ahead of time, and no more than in proportion."""

import gc
import re
import string
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from types import FrameType

import pytest

from app.speech.text import sentences
from app.speech.text.english import ENGLISH
from app.speech.text.markup import FOLLOWING, INLINE
from app.speech.text.plain import PLAIN
from app.speech.text.scanning import scan

PATTERNS = [
    INLINE,
    FOLLOWING,
    *(
        rule.pattern
        for language in (ENGLISH, PLAIN)
        for rule in (*language.letter_rules, *language.other_rules)
    ),
]
"""What is tried at every word; the patterns for a line's start are tried once a line."""

HOSTILE = [
    *string.punctuation, "a", "1", " ", "\n", "é", "你", "…", "—", "‘", "\u0301", "\u200d", "😀",
    "_a", "*a", "a*", "<a ", "<a b=", '<a b="c" ', "](", "[a](", "](a ",
    "&a", "&#1", "a.", "A.",
    "A. ", "1,", "1-", "1:", "1/", "1 1/", "$1", "- ", "> ", "# ", "1. ", "(1", "+1 ", "```\n",
    "~~~", "<!--", "| ", "|-", "a@", "www.", "http://", "/a", "a-", "a'", "a&", "st.", "etc. ",
    ". ",
    "- - x", "* * ", "a\u200d", "a\u0301", "**a", "= ", "[^", "\r\n", ":) ", "20", "12:3", "(555) ",
    "a.com", "Dr. ", "\\", "->",
]  # fmt: skip


def count_calls(work: Callable[[], object]) -> int:
    """Count the calls of Python and C functions that `work` makes, once caches are warm.

    Garbage collection, which calls what others registered, is not `work`'s own.
    """
    work()
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def exhaust(text: str) -> None:
    for _sentence in sentences(text):
        pass


def measure_cpu_seconds(pattern: re.Pattern[str], text: str) -> float:
    """Measure the fastest of some matches at the beginning of `text`."""
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        pattern.match(text)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


@pytest.mark.parametrize("rest", ["word ", "x", "A line.\n", "一", "*", "\n", "<a b=", "1"])
def test_the_first_sentences_cost_the_same_before_ten_megabytes(rest: str) -> None:
    opening = "One. Two."
    short = f"{opening} And {rest * 1000}"
    long = f"{opening} And {rest * (10_000_000 // len(rest))}"

    def take(text: str) -> Callable[[], object]:
        return lambda: list(islice(sentences(text), 3))

    assert count_calls(take(long)) == count_calls(take(short))


def test_nothing_is_read_before_the_first_sentence_is_asked_for() -> None:
    assert count_calls(lambda: sentences("One. " * 1000)) == count_calls(lambda: sentences("One."))


def test_a_word_is_given_as_soon_as_the_next_one_is_read() -> None:
    class Unread(str):
        """A text that tells how far single characters of it were looked at."""

        __slots__ = ("furthest",)

        def __getitem__(self, key: object) -> str:
            if isinstance(key, int):
                self.furthest = max(getattr(self, "furthest", 0), key)
            return super().__getitem__(key)  # type: ignore[index]

    text = Unread("One two three four five six. " * 100)
    tokens = scan(text, ENGLISH)
    assert next(tokens).spoken == "One"
    assert text.furthest <= len("One two three")


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_no_match_looks_ahead_further_than_a_bounded_way(piece: str) -> None:
    small, large = ((piece * size)[:size] for size in (2_000, 400_000))
    for pattern in PATTERNS:
        match = pattern.match(large)
        if not match or match.end() < len(small):
            ratio = measure_cpu_seconds(pattern, large) / max(
                measure_cpu_seconds(pattern, small), 1e-6
            )
            # 1 for a bounded look-ahead, 200 for one to the end of the text.
            assert ratio < 30, pattern.pattern


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_no_repetition_costs_more_steps_than_in_proportion_to_its_length(piece: str) -> None:
    small, large = ((piece * size)[:size] for size in (600, 2400))
    few, many = (count_calls(partial(exhaust, text)) for text in (small, large))
    assert many / few < 4.4
