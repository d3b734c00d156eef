"""The judge of continuity sees every insertion and loss, and nothing where there is none."""

import io
from collections.abc import Callable
from typing import Final

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.alignment import LagTrack, Samples, track_lag
from tests.audit.sounds import make_babble, make_chirp, make_noise

RATE: Final = 24_000
COUNT: Final = 3 * RATE
NOISE: Final = make_noise(COUNT, RATE)
CHIRP: Final = make_chirp(COUNT, RATE)
BABBLE: Final = make_babble(COUNT, RATE)
ROUND_TRIP_FLOOR: Final = {"noise": 0.94, "chirp": 0.998, "babble": 0.8}
SOUNDS: Final = {"noise": NOISE, "chirp": CHIRP, "babble": BABBLE}

places = st.floats(0.1, 0.9)
leads = st.integers(0, RATE // 2)
quick = settings(max_examples=15, deadline=None)


def track(captured: Samples, reference: Samples) -> LagTrack:
    if reference is BABBLE:
        return track_lag(captured, reference, rate=RATE, window_seconds=0.05, step_seconds=0.5e-3)
    return track_lag(captured, reference, rate=RATE)


def insert(reference: Samples, place: float, hole: Samples) -> Samples:
    at = int(place * len(reference))
    return np.concatenate((reference[:at], hole, reference[at:]))


def delay(samples: Samples, lead: int) -> Samples:
    return np.pad(samples, (lead, RATE // 4))


def make_hole(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), dtype=np.float32)


@pytest.mark.parametrize("sound", SOUNDS)
@given(lead=leads)
@quick
def test_an_untouched_copy_has_its_delay_and_nothing_else(sound: str, lead: int) -> None:
    found = track(delay(SOUNDS[sound], lead), SOUNDS[sound])
    assert found.steps == ()
    assert found.first_lag_seconds == pytest.approx(lead / RATE, abs=1e-6)
    assert found.spread_seconds < 1e-6
    assert found.minimum_correlation > 0.9999


@given(place=places, lead=leads, size=st.sampled_from((1e-3, 5e-3, 56e-3, 0.3)))
@quick
def test_inserted_silence_is_found_with_its_size_and_place(
    place: float, lead: int, size: float
) -> None:
    found = track(delay(insert(NOISE, place, make_hole(size)), lead), NOISE)
    assert len(found.steps) == 1
    assert found.inserted_seconds == pytest.approx(size, abs=0.1e-3)
    assert found.dropped_seconds == 0
    assert found.steps[0].at_seconds == pytest.approx(place * COUNT / RATE, abs=0.08)


@given(place=places, lead=leads, size=st.sampled_from((1e-3, 5e-3, 56e-3)))
@quick
def test_lost_sound_is_found_with_its_size_and_place(place: float, lead: int, size: float) -> None:
    at, lost = int(place * COUNT), round(size * RATE)
    captured = np.concatenate((NOISE[:at], NOISE[at + lost :]))
    found = track(delay(captured, lead), NOISE)
    assert found.dropped_seconds == pytest.approx(size, abs=0.1e-3)
    assert found.inserted_seconds == 0
    assert found.steps[0].at_seconds == pytest.approx(place * COUNT / RATE, abs=0.08 + size)


@given(place=places, size=st.sampled_from((2e-3, 5e-3, 8e-3, 56e-3)))
@quick
def test_silence_inserted_into_speech_is_found_through_pitch_and_pauses(
    place: float, size: float
) -> None:
    found = track(delay(insert(BABBLE, place, make_hole(size)), 500), BABBLE)
    assert found.inserted_seconds == pytest.approx(size, abs=0.1e-3)
    assert found.dropped_seconds == 0


def test_a_pause_that_grew_is_found_though_its_own_windows_are_silent() -> None:
    speech = BABBLE[: COUNT // 2].copy()
    speech[RATE // 2 : RATE] = 0
    captured = np.concatenate((speech[: 3 * RATE // 4], make_hole(7e-3), speech[3 * RATE // 4 :]))
    found = track_lag(captured, speech, rate=RATE, window_seconds=0.05)
    assert found.inserted_seconds == pytest.approx(7e-3, abs=0.1e-3)


def test_many_seams_add_up_far_beyond_the_reach_of_one_search() -> None:
    seams = [np.concatenate((NOISE[i : i + 4800], make_hole(0.056))) for i in range(0, COUNT, 4800)]
    found = track(np.concatenate(seams), NOISE)
    assert [round(step.size_seconds, 5) for step in found.steps] == [0.056] * (len(seams) - 1)


@given(gain=st.floats(0.5, 1.2), seed=st.integers(0, 9))
@quick
def test_gain_and_faint_noise_are_no_step(gain: float, seed: int) -> None:
    faint = make_noise(COUNT, RATE, seed=seed + 2) * np.float32(0.01)
    for sound in SOUNDS.values():
        found = track(np.asarray(sound * np.float32(gain) + faint), sound)
        assert found.steps == ()
        assert found.minimum_correlation > 0.95


@pytest.mark.parametrize("sound", SOUNDS)
def test_a_round_trip_through_mp3_at_64_kbit_is_no_step(sound: str) -> None:
    found = track(pass_through_mp3(SOUNDS[sound]), SOUNDS[sound])
    assert found.steps == ()
    assert found.minimum_correlation > ROUND_TRIP_FLOOR[sound]


@pytest.mark.parametrize("sound", SOUNDS)
def test_an_mp3_whose_input_had_a_hole_is_told_from_one_without(sound: str) -> None:
    holed = insert(SOUNDS[sound], 0.5, make_hole(2e-3))
    found = track(pass_through_mp3(holed), SOUNDS[sound])
    assert found.inserted_seconds == pytest.approx(2e-3, abs=0.2e-3)


@pytest.mark.parametrize("make", [make_hole, lambda _: np.zeros(10, dtype=np.float32)])
def test_a_reference_without_sound_is_refused(make: Callable[[float], Samples]) -> None:
    with pytest.raises(ValueError, match="silent"):
        track(NOISE, make(1.0))


def pass_through_mp3(samples: Samples) -> Samples:
    file = io.BytesIO()
    with av.open(file, "w", format="mp3") as container:
        stream = container.add_stream("mp3", rate=RATE, layout="mono")
        stream.bit_rate = 64_000
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="fltp", layout="mono")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    file.seek(0)
    with av.open(file, "r") as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
