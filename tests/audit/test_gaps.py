"""Zeros, dips, and sound that was never heard."""

from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.alignment import Samples, track_lag
from app.audit.gaps import Span, find_dips, find_heard, find_zero_runs
from tests.audit.sounds import make_chirp, make_noise

RATE: Final = 24_000
COUNT: Final = 2 * RATE
NOISE: Final = make_noise(COUNT, RATE)
CHIRP: Final = make_chirp(COUNT, RATE)
WHOLE: Final = Span(0.0, COUNT / RATE)

quick = settings(max_examples=20, deadline=None)


def blank(samples: Samples, first: int, length: int) -> Samples:
    blanked = samples.copy()
    blanked[first : first + length] = 0
    return blanked


@given(first=st.integers(100, COUNT - 700), length=st.integers(24, 480))
@quick
def test_a_run_of_zeros_inside_the_sound_is_found_exactly(first: int, length: int) -> None:
    (run,) = find_zero_runs(np.pad(blank(NOISE, first, length), 999), rate=RATE)
    assert run.start_seconds == pytest.approx((first + 999) / RATE, abs=2 / RATE)
    assert run.length_seconds == pytest.approx(length / RATE, abs=2 / RATE)


def test_silence_before_and_after_is_no_run() -> None:
    assert find_zero_runs(np.pad(NOISE, 5000), rate=RATE) == ()
    assert find_zero_runs(np.zeros(RATE, dtype=np.float32), rate=RATE) == ()


# From 1.5 kHz up: an envelope says nothing about a stretch that is shorter than half a period.
@given(first=st.integers(COUNT // 5, COUNT - 1000), length=st.integers(12, 120))
@quick
def test_a_dip_of_half_a_millisecond_is_found_even_if_it_is_not_zero(
    first: int, length: int
) -> None:
    dipped = CHIRP.copy()
    dipped[first : first + length] *= np.float32(0.1)
    (dip,) = find_dips(dipped, WHOLE, rate=RATE)
    assert dip.start_seconds == pytest.approx(first / RATE, abs=0.5e-3)
    assert dip.length_seconds == pytest.approx(length / RATE, abs=0.5e-3)


def test_a_whole_chirp_has_no_dip() -> None:
    assert find_dips(CHIRP, WHOLE, rate=RATE, depth=0.8) == ()


def test_where_nothing_was_captured_there_is_no_dip() -> None:
    assert find_dips(CHIRP[:10], Span(3.0, 4.0), rate=RATE) == ()


@given(lost=st.integers(24, 4000), lead=st.integers(0, 4000))
@quick
def test_a_start_that_was_not_heard_is_measured(lost: int, lead: int) -> None:
    captured = np.pad(NOISE[lost:], (lead, 100))
    heard = find_heard(captured, NOISE, track_lag(captured, NOISE, rate=RATE))
    assert heard.start_seconds == pytest.approx(lost / RATE, abs=0.5e-3)
    assert heard.end_seconds == pytest.approx(COUNT / RATE, abs=0.5e-3)


@given(lost=st.integers(24, 4000))
@quick
def test_an_end_that_was_not_heard_is_measured(lost: int) -> None:
    captured = NOISE[: COUNT - lost]
    heard = find_heard(captured, NOISE, track_lag(captured, NOISE, rate=RATE))
    assert heard.start_seconds == 0
    assert heard.end_seconds == pytest.approx((COUNT - lost) / RATE, abs=0.6e-3)


def test_nothing_is_heard_in_other_noise() -> None:
    other = make_noise(COUNT, RATE, seed=7)
    track = track_lag(NOISE, NOISE, rate=RATE)
    assert find_heard(np.zeros(10, dtype=np.float32), NOISE, track).length_seconds == 0
    assert find_heard(other[:0], NOISE, track).length_seconds == 0
