"""The laws of one container a response, and that a file per chunk breaks each of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.containers import count_containers
from app.formats import FORMATS, AudioFormat, find_format
from tests.naive import NaiveEncoder
from tests.speech.encoding import (
    LOSSLESS,
    RATES,
    cut,
    decode,
    encode,
    find_worst_match,
    make_sound,
    resample,
)

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)
LOSSY_NAMES = [name for name in FORMATS if name not in LOSSLESS]
WITH_CONTAINER = [name for name in FORMATS if name not in {"pcm", "raw"}]

counts = st.one_of(st.integers(1, 60), st.integers(61, 6_000))
rates = st.sampled_from(RATES)
cuts = st.lists(st.integers(0, 6_000), max_size=6)
laws = settings(max_examples=15, deadline=None)


@EVERY
@laws
@given(count=counts, rate=rates, cuts=cuts)
def test_any_chunking_gives_one_container_of_the_declared_length(
    audio_format: AudioFormat, count: int, rate: int, cuts: list[int]
) -> None:
    body = encode(cut(make_sound(count), cuts), audio_format, rate=rate)
    assert count_containers(body, audio_format) == 1
    decoded = decode(body, audio_format, rate=rate)
    assert decoded.size == audio_format.decoded_samples(count, rate)


@EVERY
@laws
@given(count=counts, rate=rates, cuts=cuts)
def test_chunks_decode_to_what_the_whole_decodes_to(
    audio_format: AudioFormat, count: int, rate: int, cuts: list[int]
) -> None:
    sound = make_sound(count)
    whole = decode(encode([sound], audio_format, rate=rate), audio_format, rate=rate)
    pieces = encode(cut(sound, cuts), audio_format, rate=rate)
    parted = decode(pieces, audio_format, rate=rate)
    assert parted.size == whole.size
    if audio_format.name in LOSSLESS:
        np.testing.assert_array_equal(parted, whole)
    correlation, lag = find_worst_match(parted, whole, window=512)
    assert lag == 0
    assert correlation > 0.999


@EVERY
@pytest.mark.parametrize("rate", [22_050, 48_000])
def test_ten_seconds_come_out_where_they_went_in(audio_format: AudioFormat, rate: int) -> None:
    sound = make_sound(rate * 10)
    body = encode(cut(sound, range(0, sound.size, 4_410)), audio_format, rate=rate)
    decoded = decode(body, audio_format, rate=rate)
    made = resample(sound, audio_format, rate=rate)
    assert decoded.size == audio_format.decoded_samples(sound.size, rate)
    heard = decoded[audio_format.stream_priming.lead_samples :][: made.size]
    if audio_format.name in LOSSLESS:
        np.testing.assert_allclose(heard, made, atol=0.51 / 32768, rtol=0)
    correlation, lag = find_worst_match(heard, made)
    assert lag == 0
    assert correlation > 0.9


@EVERY
def test_samples_beyond_full_scale_are_clipped_and_nan_is_silence(
    audio_format: AudioFormat,
) -> None:
    wild = np.repeat(np.array([np.nan, 7.0, np.inf, -np.inf, -7.0], np.float32), 4_800)
    tame = np.repeat(np.array([0.0, 1.0, 1.0, -1.0, -1.0], np.float32), 4_800)
    bodies = [encode([sound], audio_format, rate=48_000) for sound in (wild, tame)]
    heard = [decode(body, audio_format, rate=48_000) for body in bodies]
    np.testing.assert_array_equal(heard[0], heard[1])


@EVERY
def test_the_callers_samples_are_left_as_they_were(audio_format: AudioFormat) -> None:
    sound = make_sound(4_800) * np.float32(20)
    before = sound.copy()
    encode([sound[::2]], audio_format, rate=24_000)
    np.testing.assert_array_equal(sound, before)


@pytest.mark.parametrize("name", WITH_CONTAINER)
def test_a_file_per_chunk_has_a_container_per_chunk(name: str) -> None:
    pieces = cut(make_sound(72_000), [24_000, 48_000])
    body = encode(pieces, find_format(name), rate=24_000, encoder=NaiveEncoder)
    assert count_containers(body, name) == 3


@pytest.mark.parametrize("name", LOSSY_NAMES)
def test_a_file_per_chunk_is_not_what_the_whole_decodes_to(name: str) -> None:
    audio_format = find_format(name)
    sound = make_sound(70_000)
    pieces = cut(sound, [20_000, 45_000])
    naive = encode(pieces, audio_format, rate=24_000, encoder=NaiveEncoder)
    whole = encode([sound], audio_format, rate=24_000, encoder=NaiveEncoder)
    correlation, _ = find_worst_match(
        decode(naive, audio_format, rate=24_000, every=True),
        decode(whole, audio_format, rate=24_000, every=True),
    )
    assert correlation < 0.999
