"""Every container of a body is decoded, and nothing that was joined on is overlooked."""

import av
import numpy as np
import pytest

from app.audit.decoding import decode_body
from app.formats import FORMATS, AudioFormat, find_format
from tests.files import encode_file
from tests.naive import NaiveEncoder
from tests.speech.encoding import cut, encode, make_sound

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)


@EVERY
def test_each_joined_file_is_a_segment_of_its_own(audio_format: AudioFormat) -> None:
    pieces = cut(make_sound(30_000), [7_000, 19_000])
    joined = encode(pieces, audio_format, rate=24_000, encoder=NaiveEncoder)
    decoded = decode_body(joined, audio_format, pcm_rate=24_000)
    alone = [
        decode_body(encode_file(audio_format, 24_000, [piece]), audio_format, pcm_rate=24_000)
        for piece in pieces
    ]
    np.testing.assert_array_equal(decoded.samples, np.concatenate([one.samples for one in alone]))
    assert decoded.total_samples == decoded.samples.size
    assert decoded.sample_rate == audio_format.coded_rate(24_000)
    assert decoded.seconds == decoded.samples.size / decoded.sample_rate


@pytest.mark.parametrize(
    ("name", "coded"),
    # Whole frames: of 576, 960 and 1024 samples, priming included.
    [("mp3", 6 * 576), ("webm", 3 * 960), ("opus", 3 * 960), ("mp4-opus", 3 * 960)],
)
def test_every_coded_sample_counts_where_it_is_asked_for(name: str, coded: int) -> None:
    count = 2_000 if name == "mp3" else 1_200
    file = encode_file(find_format(name), 24_000, [make_sound(count)])
    assert decode_body(file, name, every_coded_sample=True).total_samples == coded
    assert decode_body(file, name).total_samples <= coded


def test_aac_in_mp4_hides_a_frame_that_mediasource_may_play() -> None:
    file = encode_file(find_format("mp4"), 48_000, [make_sound(5_000)])
    assert decode_body(file, "mp4").total_samples == 5_120
    assert decode_body(file, "mp4", every_coded_sample=True).total_samples == 6_144


def test_pcm_is_read_at_the_rate_that_is_told() -> None:
    body = np.array([-32768, 0, 16384], "<i2").tobytes()
    decoded = decode_body(body, "pcm", pcm_rate=8_000)
    np.testing.assert_array_equal(decoded.samples, [-1.0, 0.0, 0.5])
    assert decoded.sample_rate == 8_000


@EVERY
def test_nothing_decodes_to_nothing(audio_format: AudioFormat) -> None:
    decoded = decode_body(b"", audio_format)
    assert decoded.segments == ()
    assert decoded.seconds == 0
    assert decoded.samples.size == 0


def test_of_stereo_the_first_channel_is_read() -> None:
    frames = np.array([[100, -100], [200, -200]], "<i2")
    header = bytearray(encode_file(find_format("wav"), 24_000, [])[:44])
    header[22:24], header[32:34], header[40:44] = b"\x02\0", b"\x04\0", b"\x08\0\0\0"
    header[4:8] = b"\x2c\0\0\0"
    decoded = decode_body(bytes(header) + frames.tobytes(), "wav")
    np.testing.assert_array_equal(decoded.samples * 32_768, [100, 200])


def test_a_damaged_body_is_libavs_error() -> None:
    body = encode_file(find_format("flac"), 24_000, [make_sound(100)])
    with pytest.raises(av.FFmpegError):
        decode_body(body[:30], "flac")
