"""A long sound is compared with its reference a stretch at a time, and nothing falls between."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.audit.alignment import Samples
from app.audit.comparison import Comparison
from app.audit.lag_search import LagWindow
from app.audit.stretch import Stretch
from tests.audit.sounds import make_babble, make_noise

RATE: Final = 8_000
SECONDS: Final = 28
COUNT: Final = SECONDS * RATE
NOISE: Final = np.concatenate([make_noise(COUNT // 2, RATE, seed=seed) for seed in (1, 2)])
BABBLE: Final = make_babble(COUNT, RATE)

quick = settings(max_examples=3, deadline=None)
places = st.integers(RATE, COUNT - 10 * RATE)


def cut_evenly(samples: Samples, size: int) -> Iterator[Samples]:
    return (samples[start : start + size] for start in range(0, len(samples), size))


def compare(heard: Samples, made: Samples) -> Comparison:
    comparison = Comparison(cut_evenly(made, 3_001), RATE)
    for block in cut_evenly(heard, 7_919):
        comparison.feed(block)
    comparison.finish()
    return comparison


def insert(made: Samples, at: int, hole: int) -> Samples:
    return np.concatenate((made[:at], np.zeros(hole, np.float32), made[at:]))


def list_sizes(comparison: Comparison) -> list[int]:
    return [round(one.size_seconds * RATE) for one in comparison.breaks.kept]


@pytest.mark.parametrize("made", [NOISE, BABBLE], ids=["noise", "babble"])
@given(lead=st.integers(0, 4 * RATE), tail=st.integers(0, 20 * RATE))
@settings(max_examples=2, deadline=None)
def test_a_copy_differs_in_nothing(made: Samples, lead: int, tail: int) -> None:
    comparison = compare(np.pad(made, (lead, tail)), made)
    assert comparison.delay_seconds == pytest.approx(lead / RATE, abs=1e-5)
    assert comparison.tail_seconds == pytest.approx(tail / RATE, abs=1e-3)
    assert (comparison.breaks.count, comparison.disturbances.count) == (0, 0)
    assert comparison.missing_start_seconds == comparison.missing_end_seconds == 0
    assert comparison.not_found_seconds == 0
    assert comparison.made_seconds == SECONDS


@given(at=places, hole=st.sampled_from((2, 40, 448, 4_480, 40_000, 80_000)))
@example(at=15 * RATE, hole=448)
@example(at=16 * RATE - 200, hole=448)
@quick
def test_an_insertion_anywhere_has_its_place_and_size(at: int, hole: int) -> None:
    comparison = compare(insert(NOISE, at, hole), NOISE)
    assert list_sizes(comparison) == [hole]
    assert comparison.breaks.kept[0].made_seconds == pytest.approx(at / RATE, abs=1e-3)
    assert comparison.breaks.kept[0].at_seconds == pytest.approx(at / RATE, abs=1e-3)
    assert comparison.inserted_seconds == pytest.approx(hole / RATE, abs=1e-5)
    assert comparison.lost_seconds == comparison.missing_end_seconds == 0


@given(at=places, lost=st.sampled_from((1, 24, 448, 4_000, 40_000)))
@example(at=15 * RATE, lost=24)
@quick
def test_a_loss_anywhere_has_its_place_and_size(at: int, lost: int) -> None:
    comparison = compare(np.delete(NOISE, np.s_[at : at + lost]), NOISE)
    assert list_sizes(comparison) == [-lost]
    assert comparison.breaks.kept[0].made_seconds == pytest.approx(at / RATE, abs=1e-3)
    assert comparison.inserted_seconds == comparison.missing_end_seconds == 0


@pytest.mark.parametrize("size", [32_000, -32_000])
def test_seconds_too_many_or_too_few_of_speech_make_no_swarm_of_breaks(size: int) -> None:
    at = 10 * RATE + 77
    heard = insert(BABBLE, at, size) if size > 0 else np.delete(BABBLE, np.s_[at : at - size])
    comparison = compare(heard, BABBLE)
    # One voiced syllable more may fit where it is not, a little way off.
    assert comparison.breaks.count <= 2
    assert sum(list_sizes(comparison)) == pytest.approx(size, abs=1)


@pytest.mark.parametrize("period", [RATE // 10, 2 * RATE])
def test_a_sound_that_repeats_itself_is_not_taken_for_its_echo(period: int) -> None:
    made = np.concatenate((NOISE[: 2 * RATE], np.tile(NOISE[-period:], COUNT // period)))
    comparison = compare(np.pad(made, (100, 0)), made)
    assert comparison.breaks.count == 0
    assert comparison.delay_seconds == pytest.approx(100 / RATE, abs=1e-4)


def test_many_insertions_add_up_to_the_end() -> None:
    pieces = [insert(piece, len(piece), 448) for piece in cut_evenly(NOISE, RATE // 2)]
    comparison = compare(np.concatenate(pieces), NOISE)
    assert list_sizes(comparison) == [448] * (2 * SECONDS - 1)


@pytest.mark.parametrize("length", [RATE // 10, RATE // 4])
def test_seams_too_dense_to_part_still_add_up(length: int) -> None:
    made = NOISE[: 6 * RATE]
    pieces = [insert(piece, len(piece), 448) for piece in cut_evenly(made, length)]
    comparison = compare(np.concatenate(pieces), made)
    assert sum(list_sizes(comparison)) == 448 * (len(pieces) - 1)
    assert comparison.missing_end_seconds == comparison.missing_start_seconds == 0


def test_a_long_pause_carries_the_lag_across() -> None:
    made = NOISE.copy()
    made[2 * RATE : 25 * RATE] = 0
    comparison = compare(insert(made, 20 * RATE, 800), made)
    assert list_sizes(comparison) == [800]


def test_a_seam_in_a_pause_is_named_though_its_place_cannot_be_heard() -> None:
    made = NOISE[: 8 * RATE].copy()
    made[3 * RATE : 4 * RATE] = 0
    comparison = Comparison(iter([made]), RATE)
    comparison.note_seam(7, 3 * RATE + 5_000)
    comparison.feed(insert(made, 3 * RATE + 5_000, 400))
    comparison.finish()
    (one,) = comparison.breaks.kept
    assert (one.seam, one.at_seconds) == (7, 3 + 5_000 / RATE)


def test_sound_in_place_of_the_references_is_measured() -> None:
    heard = NOISE.copy()
    heard[5 * RATE : 12 * RATE] = make_noise(7 * RATE, RATE, seed=5)
    comparison = compare(heard, NOISE)
    assert comparison.breaks.count == 0
    assert comparison.not_found_seconds == pytest.approx(7, abs=0.2)


@pytest.mark.parametrize("made", [NOISE, BABBLE], ids=["noise", "babble"])
def test_an_end_that_never_came_is_missing(made: Samples) -> None:
    comparison = compare(made[: 20 * RATE], made)
    assert comparison.missing_end_seconds == pytest.approx(8, abs=0.2)
    assert comparison.breaks.count == 0


@pytest.mark.parametrize("made", [NOISE, BABBLE], ids=["noise", "babble"])
def test_a_start_that_never_came_is_missing(made: Samples) -> None:
    comparison = compare(made[RATE:], made)
    assert comparison.missing_start_seconds == pytest.approx(1, abs=0.1)


def test_nothing_of_another_sound_is_found() -> None:
    comparison = compare(make_noise(COUNT, RATE, seed=9), NOISE)
    assert comparison.delay_seconds is None
    assert comparison.missing_end_seconds == SECONDS


def test_a_silent_reference_is_known_for_one() -> None:
    assert compare(NOISE, np.zeros(COUNT, np.float32)).silent
    assert not compare(NOISE, NOISE).silent


def test_what_is_held_is_bounded() -> None:
    comparison = Comparison((NOISE for _ in range(4)), RATE)
    for number, block in enumerate([*cut_evenly(NOISE, RATE)] * 4):
        comparison.note_seam(number, number * RATE)
        comparison.feed(block)
        assert len(comparison._seams._ends) <= 36  # noqa: SLF001
        held = comparison._heard.end - comparison._heard.start  # noqa: SLF001 - the bound itself
        made = comparison._made.end - comparison._made.start  # noqa: SLF001
        assert held <= 36 * RATE
        assert made <= 16 * RATE + COUNT


def test_a_few_windows_that_fit_far_away_or_back_in_time_are_chance() -> None:
    def fit(first: int, count: int, lag: float, correlation: float = 1.0) -> list[LagWindow]:
        return [LagWindow((first + i) * 160, lag, correlation) for i in range(count)]

    stretch = Stretch(NOISE, NOISE, made_start=0, heard_start=0, rate=RATE)
    before, after = fit(0, 20, 5.0), fit(60, 20, 4_005.0)
    chance = [*fit(20, 3, 9_000.0), *fit(25, 8, -9_000.0), *fit(40, 10, 5.0, 0.3)]
    assert stretch.drop_chance_fits([*before, *chance, *after], least=0.5) == [*before, *after]
