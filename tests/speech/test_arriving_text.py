"""A script that is still being written."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.speech.arriving_text import ArrivingText
from app.speech.text import Sentence, sentences

TEXT = "One two three. Four five.\n\nSix seven, eight and nine. " * 30


def take(text: ArrivingText) -> list[Sentence | None]:
    """Run the script until it waits or ends."""
    found: list[Sentence | None] = []
    for sentence in text.script():
        found.append(sentence)
        if sentence is None:
            break
    return found


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_any_cut_gives_the_sentences_of_the_whole(cuts: list[int]) -> None:
    text = ArrivingText(language="en-US")
    for start, end in pairwise([0, *sorted(cuts), len(TEXT)]):
        text.put(TEXT[start:end])
    text.end()
    assert take(text) == list(sentences(TEXT))
    assert text.pending_characters == 0


def test_it_waits_where_nothing_is_certain_and_goes_on() -> None:
    text = ArrivingText(language="en-US")
    script = text.script()
    assert next(script) is None
    text.put("One two. Th")
    first = next(script)
    assert first is not None
    assert [word.spoken for word in first.words] == ["One", "two."]
    assert next(script) is None
    assert text.is_waiting
    assert text.pending_characters == 2
    text.flush()
    assert not text.is_waiting
    flushed = next(script)
    assert flushed is not None
    assert [word.spoken for word in flushed.words] == ["Th."]
    assert next(script) is None
    text.end()
    assert list(script) == []


def test_a_long_piece_is_read_in_slices_so_that_its_first_sentence_comes_soon() -> None:
    text = ArrivingText(language="en-US")
    text.put(TEXT)
    script = text.script()
    assert next(script) is not None
    assert text.pending_characters > len(TEXT) / 2
