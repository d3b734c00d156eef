"""The table is whole, honest about itself, and says no by name."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidRequestError
from app.formats import FORMATS, HIGHEST_RATE, LOWEST_RATE, AudioFormat, find_format

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)
rates = st.integers(LOWEST_RATE, HIGHEST_RATE)


def test_the_names_are_those_that_clients_know() -> None:
    speech = ["mp3", "webm", "opus", "ogg", "vorbis", "flac", "wav", "aac"]
    assert list(FORMATS) == [*speech, "mp4", "mp4-opus", "mp4-flac", "pcm", "raw"]


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        FORMATS["mp3"] = FORMATS["wav"]  # type: ignore[index] # the point of the test
    with pytest.raises(FrozenInstanceError):
        FORMATS["mp3"].mse_lead_samples = 0  # type: ignore[misc] # the point of the test


@EVERY
def test_a_format_is_found_by_its_name(audio_format: AudioFormat) -> None:
    assert find_format(audio_format.name) is audio_format


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        find_format("mp5")
    assert caught.value.param == "response_format"
    assert "mp5" in caught.value.message
    assert all(name in caught.value.message for name in FORMATS)


@EVERY
def test_a_source_buffer_is_made_with_the_content_type(audio_format: AudioFormat) -> None:
    assert audio_format.mse_type in {None, audio_format.media_type}


def test_mp3_for_mediasource_has_no_codecs_parameter() -> None:
    assert find_format("mp3").mse_type == "audio/mpeg"


@pytest.mark.parametrize("name", ["opus", "ogg", "vorbis", "flac", "wav", "pcm", "raw"])
def test_what_mediasource_never_takes_has_no_type_for_it(name: str) -> None:
    assert find_format(name).mse_type is None


@pytest.mark.parametrize(
    ("name", "input_rate", "coded"),
    [
        ("mp3", 22_050, 22_050),
        ("mp3", 24_000, 24_000),
        ("mp3", 8_000, 16_000),
        ("mp3", 11_025, 22_050),
        ("mp3", 20_000, 22_050),
        ("mp3", 96_000, 48_000),
        ("aac", 16_000, 48_000),
        ("aac", 22_050, 44_100),
        ("aac", 24_000, 48_000),
        ("webm", 16_000, 48_000),
        ("opus", 192_000, 48_000),
        ("flac", 22_050, 22_050),
        ("pcm", 12_345, 12_345),
    ],
)
def test_the_codec_runs_at_the_inputs_rate_or_the_next_that_it_has(
    name: str, input_rate: int, coded: int
) -> None:
    assert find_format(name).coded_rate(input_rate) == coded


@EVERY
@given(rate=rates)
def test_the_coded_rate_is_one_that_the_codec_has(audio_format: AudioFormat, rate: int) -> None:
    coded = audio_format.coded_rate(rate)
    known = audio_format.coding.rates if audio_format.coding else ()
    assert coded in known if known else coded == rate
    assert audio_format.coded_rate(coded) == coded


@EVERY
@pytest.mark.parametrize("rate", [0, -1, LOWEST_RATE - 1, HIGHEST_RATE + 1])
def test_a_rate_beyond_the_range_is_refused(audio_format: AudioFormat, rate: int) -> None:
    with pytest.raises(InvalidRequestError, match="sample rate"):
        audio_format.coded_rate(rate)


@EVERY
@given(count=st.integers(1, 10**7), rate=rates)
def test_lead_sound_and_tail_are_all_that_comes_out(
    audio_format: AudioFormat, count: int, rate: int
) -> None:
    coded, coded_rate = audio_format.coded_samples(count, rate), audio_format.coded_rate(rate)
    priming = audio_format.stream_priming
    tail = priming.tail_samples(coded, coded_rate)
    assert 0 <= tail < 2_304
    assert audio_format.decoded_samples(count, rate) == priming.lead_samples + coded + tail


@pytest.mark.parametrize(
    ("name", "rate", "extra"),
    [
        ("mp3", 24_000, 1_152),
        ("aac", 48_000, 1_408),
        ("webm", 48_000, 312),
        ("opus", 48_000, 0),
        ("flac", 24_000, 0),
        ("wav", 24_000, 0),
        ("pcm", 24_000, 0),
    ],
)
def test_three_seconds_grow_by_what_ffmpeg_was_seen_to_add(
    name: str, rate: int, extra: int
) -> None:
    assert find_format(name).decoded_samples(3 * rate, rate) - 3 * rate == extra


@pytest.mark.parametrize(
    ("name", "lead"),
    [("mp3", 576), ("webm", 312), ("aac", 1024), ("mp4", 0), ("mp4-opus", 312), ("mp4-flac", 0)],
)
def test_mediasource_plays_the_lead_that_was_measured_in_chromium(name: str, lead: int) -> None:
    assert find_format(name).mse_lead_samples == lead
