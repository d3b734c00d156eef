"""A libav container and encoder held open for a whole response."""

import io
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import av
from av.audio.codeccontext import AudioCodecContext
from av.audio.stream import AudioStream
from av.container import OutputContainer

from app.formats import OPUS_LOOKAHEAD_SAMPLES, Coding
from app.speech.engine import Samples
from app.speech.resampling import make_frame
from app.speech.tracks import Sink

if TYPE_CHECKING:
    from av.packet import Packet

_PRE_SKIP: Final = slice(10, 12)
"""Where an OpusHead keeps its pre-skip (RFC 7845, section 5.1)."""


class LibavTrack:
    """Feeds one encoder and muxes its packets into one container as they come."""

    def __init__(
        self,
        coding: Coding,
        sample_rate: int,
        *,
        sink: Sink,
        options: Mapping[str, str],
        whole_packets: bool = False,
    ) -> None:
        """Open both and write the header; `options` go to the muxer.

        With `whole_packets` the last packet is as long as the others, however little is in it.
        """
        self._sample_rate = sample_rate
        self._written = 0
        # Without flush_packets the mp3 muxer writes nothing before the end.
        chosen = {name: value.format(rate=sample_rate) for name, value in options.items()}
        self._container = av.open(
            sink, "w", format=coding.muxer, options={**chosen, "flush_packets": "1"}
        )
        try:
            self._stream, self._codec = _add_stream(self._container, coding, sample_rate)
            self._container.start_encoding()
        except BaseException:
            self._container.close()
            raise
        self._shift = 0 if coding.pre_skip else OPUS_LOOKAHEAD_SAMPLES
        self._packet_samples = self._codec.frame_size if whole_packets else 0

    def write(self, samples: Samples) -> None:
        """Encode samples and write whatever packets became ready."""
        frame = make_frame(samples, self._sample_rate, start=self._written)
        self._written += samples.size
        self._mux(self._codec.encode(frame))

    def finish(self) -> None:
        """Flush the encoder and end the container; some muxers write only then."""
        self._mux(self._codec.encode(None))
        self._container.close()

    def close(self) -> None:
        """End the container, whatever state it is in."""
        # libav repeats the error of a failed write here, which its caller has already had.
        with suppress(av.FFmpegError, OSError, ValueError):
            self._container.close()

    def _mux(self, packets: "Iterable[Packet[AudioStream]]") -> None:
        for packet in packets:
            packet.stream = self._stream
            if self._shift and packet.pts is not None:
                packet.pts = packet.dts = packet.pts + self._shift
            if self._packet_samples:
                packet.duration = self._packet_samples
            self._container.mux(packet)


def _add_stream(
    container: OutputContainer, coding: Coding, sample_rate: int
) -> tuple[AudioStream, AudioCodecContext]:
    """Add the one stream, and return it with the encoder that feeds it."""
    if not coding.pre_skip:
        codec = _open_codec(coding, sample_rate)
        return _add_opus_without_pre_skip(container, codec), codec
    stream = cast("AudioStream", container.add_stream(coding.codec, rate=sample_rate))
    _configure(stream.codec_context, coding, sample_rate)
    return stream, stream.codec_context


def _configure(codec: AudioCodecContext, coding: Coding, sample_rate: int) -> None:
    codec.layout = "mono"
    codec.time_base = Fraction(1, sample_rate)
    codec.bit_rate = coding.choose_bit_rate(sample_rate)
    codec.options = dict(coding.codec_options)


def _open_codec(coding: Coding, sample_rate: int) -> AudioCodecContext:
    codec = cast("AudioCodecContext", av.CodecContext.create(coding.codec, "w"))
    codec.sample_rate = sample_rate
    codec.format = "flt"
    _configure(codec, coding, sample_rate)
    codec.open()
    return codec


def _add_opus_without_pre_skip(container: OutputContainer, codec: AudioCodecContext) -> AudioStream:
    """Add a stream that declares no pre-skip, so that block times fall on whole 20 ms.

    A muxer takes the pre-skip from an encoder that it opened. A stream made from a template has
    none, and the template's own container is never written.
    """
    with av.open(io.BytesIO(), "w", format=container.format.name) as scratch:
        template = cast("AudioStream", scratch.add_stream(codec.name, rate=codec.sample_rate))
        stream = container.add_stream_from_template(template)
    head = bytearray(codec.extradata or b"")
    head[_PRE_SKIP] = b"\0\0"
    stream.codec_context.layout = codec.layout
    stream.codec_context.extradata = bytes(head)
    stream.time_base = codec.time_base
    return stream
