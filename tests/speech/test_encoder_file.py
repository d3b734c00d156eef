"""A complete file holds the samples of the stream, and its headers know how many."""

import io
import tempfile
import tracemalloc
import wave
from collections.abc import Iterator
from contextlib import closing

import av
import numpy as np
import pytest
import soundfile as sf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.audit.containers import count_containers
from app.formats import FORMATS, AudioFormat, find_format
from app.speech.encoder import FileEncoder
from app.speech.engine import Samples
from app.speech.file_headers import compute_crc16
from tests.files import encode_file
from tests.speech.encoding import RATES, cut, decode, encode, make_sound

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)


def trim(decoded: Samples, lead: int, count: int) -> Samples:
    assert decoded.size >= lead + count
    return decoded[lead:][:count]


@EVERY
@settings(max_examples=12, deadline=None)
# An edit list in milliseconds would lose the second frame of AAC, which holds one sample.
@example(count=1_025, rate=44_100, cuts=[])
@given(
    # ffmpeg's mp3 reader cannot drop 1151 samples of padding from its last frame of 576.
    count=st.integers(48, 6_000),
    rate=st.sampled_from(RATES),
    cuts=st.lists(st.integers(0, 6_000), max_size=4),
)
def test_a_file_holds_the_samples_of_the_stream(
    audio_format: AudioFormat, count: int, rate: int, cuts: list[int]
) -> None:
    sound = make_sound(count)
    file = encode_file(audio_format, rate, cut(sound, cuts))
    coded = audio_format.coded_samples(count, rate)
    decoded = decode(file, audio_format, rate=rate)
    assert count_containers(file, audio_format) == 1
    assert decoded.size == audio_format.file_priming.decoded(coded, audio_format.coded_rate(rate))
    stream = decode(encode([sound], audio_format, rate=rate), audio_format, rate=rate)
    np.testing.assert_allclose(
        trim(decoded, audio_format.file_priming.lead_samples, coded),
        trim(stream, audio_format.stream_priming.lead_samples, coded),
        atol=1e-6,
    )


@given(count=st.integers(1, 3_000), rate=st.sampled_from(RATES))
@settings(max_examples=30, deadline=None)
def test_a_lame_tag_lets_libsndfile_read_exactly_what_was_spoken(count: int, rate: int) -> None:
    file = encode_file(find_format("mp3"), rate, [make_sound(count)])
    assert sf.info(io.BytesIO(file)).frames == count


@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_a_lame_tag_tells_frames_bytes_delay_padding_and_its_checksum(rate: int) -> None:
    mp3 = find_format("mp3")
    file = encode_file(mp3, rate, [make_sound(rate + 1)])
    tag = file.index(b"Info")
    stream = encode([make_sound(rate + 1)], mp3, rate=rate)
    frames = mp3.decoded_samples(rate + 1, rate) // (576 if rate <= 24_000 else 1152)
    assert int.from_bytes(file[tag + 8 : tag + 12], "big") == frames
    assert int.from_bytes(file[tag + 12 : tag + 16], "big") == len(file)
    packed = int.from_bytes(file[tag + 141 : tag + 144], "big")
    assert packed >> 12 == 576
    assert packed & 0xFFF == mp3.decoded_samples(rate + 1, rate) - 576 - (rate + 1)
    checksum = int.from_bytes(file[tag + 154 : tag + 156], "big")
    assert checksum == compute_crc16(file[: tag + 154])
    assert file.endswith(stream)


def test_the_checksum_is_crc_16_arc() -> None:
    # The check value of CRC-16/ARC in the catalogue of parametrised CRC algorithms.
    assert compute_crc16(b"123456789") == 0xBB3D


@pytest.mark.parametrize("name", ["flac", "wav", "opus", "ogg"])
def test_libsndfile_knows_the_length_from_the_header(name: str) -> None:
    audio_format = find_format(name)
    file = encode_file(audio_format, 24_000, [make_sound(30_000)])
    info = sf.info(io.BytesIO(file))
    assert info.frames == audio_format.coded_samples(30_000, 24_000)
    assert info.samplerate == audio_format.coded_rate(24_000)


def test_pythons_wave_knows_the_length_of_a_wav() -> None:
    file = encode_file(find_format("wav"), 22_050, [make_sound(1_234)])
    with wave.open(io.BytesIO(file)) as wav:
        assert wav.getnframes() == 1_234
        assert wav.getparams()[:3] == (1, 2, 22_050)
    assert int.from_bytes(file[4:8], "little") == len(file) - 8


@pytest.mark.parametrize("name", ["webm", "mp4", "mp4-opus", "mp4-flac"])
def test_a_file_of_webm_or_mp4_tells_its_duration_and_can_be_sought_in(name: str) -> None:
    file = encode_file(find_format(name), 24_000, [make_sound(72_000)])
    with av.open(io.BytesIO(file), "r") as container:
        assert container.duration == pytest.approx(3_000_000, abs=21_000)
        container.seek(2_000_000)
        first = next(container.decode(audio=0))
        assert first.time == pytest.approx(2.0, abs=0.05)


def test_a_long_file_is_written_to_its_sink_and_not_held() -> None:
    chunk = make_sound(48_000)
    with (
        tempfile.TemporaryFile() as file,
        closing(FileEncoder(find_format("wav"), 48_000, file)) as encoder,
    ):
        tracemalloc.start()
        try:
            for _ in range(100):
                assert encoder.feed(chunk) == b""
            assert encoder.finish() == b""
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(file.read()) == 44 + 100 * chunk.size * 2
    assert peak_bytes < 1_000_000


def test_what_the_chunks_raise_is_raised() -> None:
    def fail() -> Iterator[Samples]:
        yield make_sound(10)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        encode_file(find_format("mp3"), 24_000, fail())
