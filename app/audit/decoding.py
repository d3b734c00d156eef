"""Decodes a whole body, each container in it apart, so that nothing joined on is overlooked."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import av
import numpy as np
from av.codec.context import Flags2
from av.container import InputContainer

from app.audit.containers import find_kind, split_containers
from app.formats import AudioFormat, find_format
from app.speech.engine import Samples

_FULL_SCALE: Final = {"u8": 128.0, "s16": 32768.0, "s32": 2147483648.0, "s64": 2.0**63}
DEMUXERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "wav": "wav",
        "mp3": "mp3",
        "adts": "aac",
        "ogg": "ogg",
        "flac": "flac",
        "webm": "matroska",
        "mp4": "mp4",
    }
)
"""libav's names for reading each kind of body that has a container."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What each container of a body decodes to, at the coded rate in Hz."""

    segments: tuple[Samples, ...]
    sample_rate: int

    @property
    def samples(self) -> Samples:
        """All segments, one after the other."""
        return np.concatenate(self.segments or (np.zeros(0, np.float32),))

    @property
    def total_samples(self) -> int:
        """The length of all segments together."""
        return sum(segment.size for segment in self.segments)

    @property
    def seconds(self) -> float:
        """The time that all segments take to play."""
        return self.total_samples / self.sample_rate


def decode_body(
    data: bytes,
    audio_format: AudioFormat | str,
    *,
    pcm_rate: int = 24_000,
    every_coded_sample: bool = False,
) -> Decoded:
    """Decode `data` to mono float samples; `pcm_rate` in Hz is for PCM, which does not say.

    As a plain decoder does it, without what the headers tell it to skip; with
    `every_coded_sample`, all that the frames hold, which is what MediaSource plays of joined files.
    Raises av.FFmpegError for what libav cannot read and InvalidRequestError for an unknown name.
    """
    found = find_format(audio_format) if isinstance(audio_format, str) else audio_format
    parts = split_containers(data, found)
    if found.name in {"pcm", "raw"}:
        return Decoded(tuple(read_pcm(part) for part in parts), pcm_rate)
    demuxer = find_demuxer(found)
    decoded = [_decode_container(part, demuxer, every=every_coded_sample) for part in parts]
    return Decoded(tuple(samples for samples, _ in decoded), decoded[0][1] if decoded else pcm_rate)


def find_demuxer(audio_format: AudioFormat) -> str:
    """Return libav's name of the demuxer that reads a format; PCM is "s16le"."""
    kind = find_kind(audio_format)
    return "s16le" if kind == "pcm" else DEMUXERS[kind]


def read_pcm(data: bytes) -> Samples:
    """Return 16-bit little-endian PCM as floats; half a sample at the end is left out."""
    return np.frombuffer(data, "<i2", len(data) // 2).astype(np.float32) / np.float32(32768)


def to_float(frame: av.AudioFrame) -> Samples:
    """Return the first channel of a frame in floats, what is not a number as silence."""
    values = frame.to_ndarray()
    if not frame.format.is_planar:
        values = values.reshape(-1, len(frame.layout.channels)).T
    name = frame.format.name.removesuffix("p")
    first: Samples = values[0].astype(np.float32)
    if name in _FULL_SCALE:
        # Of these only 8 bits are without a sign.
        return (first - np.float32(128 * (name == "u8"))) / np.float32(_FULL_SCALE[name])
    return np.nan_to_num(first, copy=False, posinf=0.0, neginf=0.0)


def _decode_container(data: bytes, demuxer: str, *, every: bool) -> tuple[Samples, int]:
    options = {"ignore_editlist": "1"} if every and demuxer == "mp4" else {}
    with av.open(io.BytesIO(data), "r", format=demuxer, options=options) as container:
        codec = container.streams.audio[0].codec_context
        if every:
            codec.flags2 |= Flags2.skip_manual
        return _read_frames(container), codec.sample_rate


def _read_frames(container: InputContainer) -> Samples:
    pieces = [to_float(frame) for frame in container.decode(audio=0)]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
