"""An encoder ends once, says so when it is used afterwards, and leaves nothing behind."""

import gc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import av
import numpy as np
import pytest
from av.container import OutputContainer

from app.errors import EncoderClosedError, InvalidRequestError
from app.formats import FORMATS, AudioFormat, find_format
from app.speech.encoder import StreamEncoder
from app.speech.libav_track import LibavTrack
from tests.speech.encoding import decode, encode, make_sound

EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)


def count_libav_objects() -> int:
    gc.collect()
    kinds = (OutputContainer, av.CodecContext, av.AudioResampler, av.filter.Graph)
    return sum(isinstance(thing, kinds) for thing in gc.get_objects())


def count_descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def leave_fed(encoder: StreamEncoder) -> None:
    encoder.feed(make_sound(5_000))


def leave_closed(encoder: StreamEncoder) -> None:
    encoder.feed(make_sound(5_000))
    encoder.close()


def leave_finished(encoder: StreamEncoder) -> None:
    encoder.feed(make_sound(5_000))
    encoder.finish()


def leave_unused(_encoder: StreamEncoder) -> None:
    pass


@EVERY
@pytest.mark.parametrize("leave", [leave_fed, leave_closed, leave_finished, leave_unused])
def test_an_encoder_leaves_nothing_behind(
    audio_format: AudioFormat, leave: Callable[[StreamEncoder], None]
) -> None:
    objects, descriptors = count_libav_objects(), count_descriptors()
    leave(StreamEncoder(audio_format, 22_050))
    assert count_libav_objects() == objects
    assert count_descriptors() == descriptors


def test_a_held_encoder_is_seen_by_the_count_of_what_is_left() -> None:
    objects = count_libav_objects()
    encoder = StreamEncoder(find_format("mp3"), 20_000)
    encoder.feed(make_sound(100))
    assert count_libav_objects() > objects
    encoder.close()
    assert count_libav_objects() == objects


@EVERY
def test_closing_twice_is_harmless(audio_format: AudioFormat) -> None:
    encoder = StreamEncoder(audio_format, 24_000)
    encoder.feed(make_sound(100))
    encoder.close()
    encoder.close()


@EVERY
def test_feed_and_finish_after_close_are_named_errors(audio_format: AudioFormat) -> None:
    encoder = StreamEncoder(audio_format, 24_000)
    encoder.close()
    with pytest.raises(EncoderClosedError):
        encoder.feed(make_sound(1))
    with pytest.raises(EncoderClosedError):
        encoder.finish()


@EVERY
def test_feed_and_finish_after_finish_are_named_errors(audio_format: AudioFormat) -> None:
    encoder = StreamEncoder(audio_format, 24_000)
    encoder.finish()
    with pytest.raises(EncoderClosedError):
        encoder.feed(make_sound(1))
    with pytest.raises(EncoderClosedError):
        encoder.finish()
    encoder.close()


@EVERY
def test_an_empty_chunk_changes_nothing(audio_format: AudioFormat) -> None:
    sound, nothing = make_sound(3_000), np.zeros(0, np.float32)
    padded = encode(
        [nothing, sound[:700], nothing, sound[700:], nothing], audio_format, rate=24_000
    )
    plain = encode([sound], audio_format, rate=24_000)
    np.testing.assert_array_equal(
        decode(padded, audio_format, rate=24_000), decode(plain, audio_format, rate=24_000)
    )


@EVERY
@pytest.mark.parametrize("rate", [0, 7_999, 192_001])
def test_a_rate_beyond_the_range_is_refused(audio_format: AudioFormat, rate: int) -> None:
    with pytest.raises(InvalidRequestError):
        StreamEncoder(audio_format, rate)


class BrokenSink:
    """A sink that takes `left` writes, and fails from then on."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write(self, _data: bytes, /) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError("The disk is full.")


def test_a_track_whose_sink_fails_can_be_closed() -> None:
    coding = FORMATS["mp3"].coding
    assert coding is not None
    track = LibavTrack(coding, 24_000, sink=BrokenSink(1), options=coding.stream_options)
    with pytest.raises(OSError, match="disk is full"):
        track.write(make_sound(24_000))
    track.close()
    track.close()


def test_a_container_whose_end_cannot_be_written_is_not_finished_politely() -> None:
    coding = FORMATS["opus"].coding
    assert coding is not None
    sink = BrokenSink(1_000)
    track = LibavTrack(coding, 48_000, sink=sink, options={})
    track.write(make_sound(1_000))
    sink.left = 0
    with pytest.raises(OSError, match="disk is full"):
        track.finish()
    track.close()


def test_a_track_whose_header_cannot_be_written_leaves_nothing_behind() -> None:
    coding = FORMATS["flac"].coding
    assert coding is not None
    objects = count_libav_objects()
    with pytest.raises(OSError, match="disk is full"):
        LibavTrack(coding, 24_000, sink=BrokenSink(0), options={})
    assert count_libav_objects() == objects


@pytest.mark.parametrize(
    ("name", "rate", "coded"),
    [("mp3", 22_050, 22_050), ("webm", 22_050, 48_000), ("mp4", 22_050, 44_100)],
)
def test_an_encoder_tells_its_coded_rate(name: str, rate: int, coded: int) -> None:
    with closing(StreamEncoder(find_format(name), rate)) as encoder:
        assert encoder.sample_rate == coded
