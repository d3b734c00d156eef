"""What leaves, when it leaves, where it ends, and that other people's readers take it."""

import io
import subprocess
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from typing import Final

import av
import imageio_ffmpeg
import numpy as np
import pytest
import soundfile as sf

from app.audit.decoding import find_demuxer
from app.formats import FORMATS, AudioFormat, find_format
from app.speech.encoder import StreamEncoder
from app.speech.tracks import WAV_HEADER_BYTES
from tests.naive import NaiveEncoder
from tests.speech.encoding import RATES, cut, decode, encode, find_worst_match, make_sound, resample

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)
LONGEST_HELD_SECONDS: Final = 0.120
LIBAV_NAMES: Final = [name for name in FORMATS if FORMATS[name].coding is not None]
LIBSNDFILE_NAMES: Final = ["mp3", "opus", "ogg", "wav"]
"""It has no reader for WebM, MP4, ADTS and FLAC in Ogg, nor for FLAC of unknown length."""


def list_packets(body: bytes, audio_format: AudioFormat) -> list[tuple[float, bytes]]:
    """Give each whole packet's length in seconds and its payload, as a reader finds them so far."""
    try:
        with av.open(io.BytesIO(body), "r", format=find_demuxer(audio_format)) as container:
            return [
                (float((packet.duration or 0) * packet.time_base), bytes(packet))
                for packet in container.demux(audio=0)
                if packet.size
            ]
    except (av.FFmpegError, IndexError):
        return []


def measure_sent_seconds(body: bytes, audio_format: AudioFormat, rate: int) -> float:
    if audio_format.coding is None:
        header = WAV_HEADER_BYTES if audio_format.name == "wav" else 0
        return (len(body) - header) / 2 / rate
    frame = {"libmp3lame": None, "aac": 1024, "libopus": 960}.get(audio_format.coding.codec)
    packets = list_packets(body, audio_format)
    if frame is None:
        return sum(seconds for seconds, _ in packets)
    return len(packets) * frame / audio_format.coded_rate(rate)


def hold_back(audio_format: AudioFormat, rate: int) -> Iterator[float]:
    """Feed a second in pieces of 20 ms, and give what is not on the wire after each."""
    piece = rate // 50
    sent, seconds = b"", 0.0
    with closing(StreamEncoder(audio_format, rate)) as encoder:
        for number, samples in enumerate(cut(make_sound(rate), range(piece, rate, piece)), start=1):
            made = encoder.feed(samples)
            if made:
                sent += made
                seconds = measure_sent_seconds(sent, audio_format, rate)
            yield number * piece / rate - seconds


@pytest.mark.parametrize("rate", RATES)
@EVERY
def test_at_most_120_ms_are_held_back(audio_format: AudioFormat, rate: int) -> None:
    assert max(hold_back(audio_format, rate)) <= LONGEST_HELD_SECONDS


@pytest.mark.parametrize("name", LIBAV_NAMES)
@pytest.mark.parametrize("count", [1, 5_000, 24_000])
def test_the_last_packet_is_the_end_of_the_body(name: str, count: int) -> None:
    audio_format = find_format(name)
    body = encode([make_sound(count)], audio_format, rate=24_000)
    _, payload = list_packets(body, audio_format)[-1]
    rest = body[body.rindex(payload) + len(payload) :]
    if name == "webm":
        # Matroska tells a block's duration and the samples to discard after the block itself.
        assert rest[:2] == b"\x9b\x81"
        assert rest[3:5] == b"\x75\xa2"
        assert len(rest) == 6 + (rest[5] & 0x7F)
    else:
        assert rest == b""


@pytest.mark.parametrize("name", ["mp4", "mp4-opus"])
def test_every_packet_of_a_streamed_mp4_is_as_long_as_it_decodes_to(name: str) -> None:
    """Else an append window can't cut what Chromium plays of the padding."""
    audio_format = find_format(name)
    body = encode([make_sound(5_000)], audio_format, rate=24_000)
    lengths = [length for length, _ in list_packets(body, audio_format)]
    assert len(lengths) > 2
    assert lengths == [lengths[0]] * len(lengths)


@pytest.mark.parametrize("name", ["wav", "pcm", "raw"])
def test_pcm_ends_with_its_last_sample(name: str) -> None:
    body = encode([make_sound(999)], find_format(name), rate=24_000)
    header = WAV_HEADER_BYTES if name == "wav" else 0
    assert len(body) == header + 2 * 999


@EVERY
def test_ffmpeg_reads_the_stream_without_an_error(audio_format: AudioFormat) -> None:
    sound = make_sound(48_000)
    body = encode(cut(sound, range(0, 48_000, 1_111)), audio_format, rate=24_000)
    rate = audio_format.coded_rate(24_000)
    pcm = (
        ["-f", "s16le", "-ar", str(rate), "-ac", "1"]
        if find_demuxer(audio_format) == "s16le"
        else []
    )
    done = subprocess.run(
        [
            imageio_ffmpeg.get_ffmpeg_exe(),
            *("-v", "error", *pcm, "-i", "pipe:0"),
            *("-f", "f32le", "-ac", "1", "pipe:1"),
        ],
        input=body,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    heard = np.frombuffer(done.stdout, np.float32)
    assert heard.size == audio_format.decoded_samples(sound.size, 24_000)


@pytest.mark.parametrize("name", LIBSNDFILE_NAMES)
def test_libsndfile_reads_the_stream(name: str) -> None:
    audio_format = find_format(name)
    sound = make_sound(48_000)
    body = encode(cut(sound, [7, 20_000]), audio_format, rate=24_000)
    heard, rate = sf.read(io.BytesIO(body), dtype="float32")
    assert rate == audio_format.coded_rate(24_000)
    lead = audio_format.stream_priming.lead_samples
    made = resample(sound, audio_format, rate=24_000)
    correlation, lag = find_worst_match(heard[lead:], made)
    assert lag == 0
    assert correlation > 0.9


@pytest.mark.parametrize("name", ["webm", "mp4-opus"])
@pytest.mark.parametrize("rate", [22_050, 48_000])
def test_opus_without_pre_skip_has_its_blocks_on_whole_20_ms(name: str, rate: int) -> None:
    body = encode([make_sound(rate)], find_format(name), rate=rate)
    with av.open(io.BytesIO(body), "r") as container:
        times = [
            packet.pts * packet.time_base
            for packet in container.demux(audio=0)
            if packet.pts is not None
        ]
    assert times == [Fraction(number, 50) for number in range(len(times))]
    mark = body.index(b"OpusHead") if name == "webm" else body.index(b"dOps") - 4
    assert body[mark + 10 : mark + 12] == b"\0\0"
    # CodecDelay, 0x56AA, would be a pre-skip by another name.
    assert b"\x56\xaa" not in body[:400]


def test_a_streamed_wav_has_no_chunk_but_its_format_and_data() -> None:
    body = encode([make_sound(10)], find_format("wav"), rate=22_050)
    assert body[:4] + body[8:16] == b"RIFFWAVEfmt "
    assert body[36:40] == b"data"
    assert body[4:8] == body[40:44] == b"\xff\xff\xff\xff"


@pytest.mark.parametrize("name", ["mp3", "webm", "mp4"])
def test_a_file_per_chunk_has_bytes_after_its_first_end(name: str) -> None:
    audio_format = find_format(name)
    pieces = cut(make_sound(48_000), [24_000])
    joined = encode(pieces, audio_format, rate=24_000, encoder=NaiveEncoder)
    whole = encode([np.concatenate(pieces)], audio_format, rate=24_000, encoder=NaiveEncoder)
    heard = decode(joined, audio_format, rate=24_000, every=True)
    assert heard.size > decode(whole, audio_format, rate=24_000, every=True).size
