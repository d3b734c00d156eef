"""Which word each phoneme belongs to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.speech.piper.alignment import assign_owners, count_edits, pair_groups

GROUPS = st.lists(st.text("abcd", min_size=1, max_size=4), max_size=7)


@given(alone=GROUPS, groups=GROUPS)
def test_segments_cover_both_sequences_in_order(alone: list[str], groups: list[str]) -> None:
    here = there = 0
    for mine, theirs in pair_groups(alone, groups):
        assert (mine.start, theirs.start) == (here, there)
        here, there = mine.stop, theirs.stop
    assert (here, there) == (len(alone), len(groups))


@given(alone=GROUPS.filter(bool), groups=GROUPS.filter(bool))
def test_owners_go_forward_and_cover_every_symbol(alone: list[str], groups: list[str]) -> None:
    symbols = " ".join(groups)
    owners = assign_owners(symbols, alone, range(len(alone)))
    assert len(owners) == len(symbols)
    assert owners == sorted(owners)
    assert set(owners) <= set(range(len(alone)))


@given(alone=GROUPS.filter(bool))
def test_words_said_as_they_are_alone_own_their_groups(alone: list[str]) -> None:
    owners = assign_owners(" ".join(alone), alone, range(len(alone)))
    expected = [index for index, word in enumerate(alone) for _ in range(len(word) + 1)]
    assert owners == expected[:-1]


@pytest.mark.parametrize(
    ("symbols", "spoken", "expected"),
    [
        ("ʌvðə hɪl", ["ˈʌv", "ðə", "hˈɪl"], "00111222"),
        ("faɪv θaʊzənd men", ["fˈaɪv θˈaʊzənd", "mˈɛn"], "0000000000000111"),
        ("tə ðɪ ˈɛnd", ["tˈuː", "ðə", "ˈɛnd"], "0001112222"),
        ("ʌvˈɔl ðə", ["ʌv", "ˈɔːl", "ðə"], "00111122"),
    ],
)
def test_run_together_and_taken_apart(symbols: str, spoken: list[str], expected: str) -> None:
    owners = assign_owners(symbols, spoken, range(len(spoken)))
    assert "".join(map(str, owners)) == expected


@pytest.mark.parametrize(
    ("left", "right", "edits"), [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3)]
)
def test_edits_are_levenshteins(left: str, right: str, edits: int) -> None:
    assert count_edits(left, [right]) == edits
