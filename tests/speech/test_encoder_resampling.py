"""One resampler for a whole stream: exact lengths, no seam, nothing moved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.speech.resampling import create_resampler
from tests.speech.encoding import cut, find_worst_match, make_sound

rates = st.sampled_from([8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000])


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(1, 4_000),
    input_rate=rates,
    output_rate=st.sampled_from([16_000, 22_050, 44_100, 48_000]),
    cuts=st.lists(st.integers(0, 4_000), max_size=5),
)
def test_any_chunking_gives_the_same_samples_of_the_promised_length(
    count: int, input_rate: int, output_rate: int, cuts: list[int]
) -> None:
    results = []
    for pieces in ([make_sound(count)], cut(make_sound(count), cuts)):
        resampler = create_resampler(input_rate, output_rate)
        fed = [resampler.feed(piece) for piece in pieces if piece.size]
        results.append(np.concatenate([*fed, resampler.finish()]))
    assert results[0].size == -(-count * output_rate // input_rate)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(("input_rate", "output_rate"), [(22_050, 48_000), (48_000, 22_050)])
def test_a_tone_stays_where_it_was(input_rate: int, output_rate: int) -> None:
    def make_tones(rate: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        times = np.arange(2 * rate) / rate
        return np.asarray(np.sin(2 * np.pi * 997 * times * (1 + times / 4)), np.float32)

    resampler = create_resampler(input_rate, output_rate)
    made = np.concatenate([resampler.feed(make_tones(input_rate)), resampler.finish()])
    correlation, lag = find_worst_match(made, make_tones(output_rate))
    assert lag == 0
    assert correlation > 0.9999


def test_nothing_fed_gives_nothing() -> None:
    assert create_resampler(22_050, 48_000).finish().size == 0
    assert create_resampler(48_000, 48_000).finish().size == 0
