"""Another pace: the promised length, the same pitch, and marks that move along."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.speech.engine import AudioChunk, Mark, Samples
from app.speech.time_scale import change_pace

RATE = 22_050
PACES = st.sampled_from([0.25, 0.4, 0.5, 0.8, 1.3, 2.0, 3.0, 4.0])


def tone(samples: int, hertz: float = 440) -> Samples:
    time = np.arange(samples) / RATE
    return (0.5 * np.sin(2 * np.pi * hertz * time)).astype(np.float32)


def cut(samples: Samples, step: int, marks: tuple[Mark, ...] = ()) -> Iterator[AudioChunk]:
    for start in range(0, len(samples), step):
        begun = tuple(mark for mark in marks if start <= mark.start < start + step)
        yield AudioChunk(samples[start : start + step], RATE, begun)


def join(chunks: list[AudioChunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks])


@settings(max_examples=40, deadline=None)
@given(PACES, st.integers(0, 3 * RATE), st.integers(100, RATE))
def test_any_chunking_gives_the_promised_length_and_the_same_samples(
    speed: float, length: int, step: int
) -> None:
    sound = tone(length)
    whole = list(change_pace(cut(sound, max(length, 1)), speed))
    parts = list(change_pace(cut(sound, step), speed))
    if length:
        assert len(join(parts)) == round(length / speed)
        np.testing.assert_array_equal(join(parts), join(whole))
    else:
        assert parts == whole == []


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.3, 2, 3, 4])
def test_the_pitch_stays_and_the_sound_goes_on_to_its_end(speed: float) -> None:
    sound = join(list(change_pace(cut(tone(3 * RATE), 5_000), speed)))
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    assert spectrum.argmax() * RATE / len(sound) == pytest.approx(440, abs=2)
    assert np.abs(sound[-round(0.03 * RATE) :]).max() > 0.4


@given(PACES, st.integers(100, RATE))
@settings(max_examples=20, deadline=None)
def test_marks_move_along_and_leave_with_the_chunk_that_they_begin_in(
    speed: float, step: int
) -> None:
    marks = tuple(
        Mark("word", str(at), at, at + 1, at, at + 1_000) for at in range(0, 2 * RATE, 2_000)
    )
    position = 0
    moved: list[Mark] = []
    for chunk in change_pace(cut(tone(2 * RATE), step, marks), speed):
        position += len(chunk.samples)
        assert all(mark.start < max(position, 1) for mark in chunk.marks)
        moved += chunk.marks
    assert [mark.text for mark in moved] == [mark.text for mark in marks]
    assert [mark.start for mark in moved] == [round(mark.start / speed) for mark in marks]
