# ruff: noqa: RUF001 - typographic signs are what these tests are about
"""What reading costs: nothing ahead of time, and no more than in proportion."""

import string
import sys
import time
from collections.abc import Callable
from itertools import islice
from types import FrameType

import pytest

from app.speech.text import sentences
from app.speech.text.english import ENGLISH
from app.speech.text.scanning import scan

SMALL, LARGE = 1_000, 8_000
HOSTILE = [
    *string.punctuation, "a", "1", " ", "\n", "é", "你", "…", "—", "‘", "\u0301", "\u200d", "😀",
    "_a", "*a", "a*", "<a ", "<a b=", '<a b="c" ', "](", "[a](", "](a ",
    "&a", "&#1", "a.", "A.",
    "A. ", "1,", "1-", "1:", "1/", "1 1/", "$1", "- ", "> ", "# ", "1. ", "(1", "+1 ", "```\n",
    "~~~", "<!--", "| ", "|-", "a@", "www.", "http://", "/a", "a-", "a'", "a&", "st.", "etc. ", ". ",
    "- - x", "* * ", "a\u200d", "a\u0301", "**a", "= ", "[^", "\r\n", ":) ", "20", "12:3", "(555) ",
    "a.com", "Dr. ", "\\", "->",
]  # fmt: skip


def count_calls(work: Callable[[], object]) -> int:
    """Count the calls of Python and C functions that `work` makes."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def exhaust(text: str) -> None:
    for _sentence in sentences(text):
        pass


def measure_cpu_seconds(text: str) -> float:
    started = time.process_time()
    exhaust(text)
    return time.process_time() - started


@pytest.mark.parametrize("rest", ["word ", "x", "A line.\n", "一", "*", "\n", "(", "<a b=", "1"])
def test_the_first_sentences_cost_the_same_before_ten_megabytes(rest: str) -> None:
    opening = "One. Two. Three and more."
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
def test_no_repetition_costs_more_than_in_proportion_to_its_length(piece: str) -> None:
    small, large = ((piece * size)[:size] for size in (SMALL, LARGE))
    fewest = min(measure_cpu_seconds(small) for _ in range(3))
    ratio = measure_cpu_seconds(large) / max(fewest, 1e-4)
    # Eight times the text; what grows with the square would take 64 times as long.
    assert ratio < 32


def test_a_hundred_kilobytes_of_calls_grow_in_proportion_too() -> None:
    text = "He said *yes* (twice), paid $5 and left. "
    few = count_calls(lambda: exhaust(text * 100))
    many = count_calls(lambda: exhaust(text * 2500))
    assert many / few == pytest.approx(25, rel=0.02)
