"""What turns coded-rate samples into a container's bytes: libav, or a few bytes of our own."""

import struct
from typing import Final, Protocol

import numpy as np

from app.formats import AudioFormat
from app.speech.engine import Samples

WAV_HEADER_BYTES: Final = 44
UNKNOWN_WAV_BYTES: Final = 0xFFFFFFFF
"""The size of a WAV stream whose end is not known when its header is sent.

It is what ffmpeg sends. ffmpeg, libsndfile, Python's `wave` and Chromium then read every sample to
the end of the body, though `wave` reports a length of hours. A size of 0 is no better a truth, and
`wave` refuses it while libsndfile finds no sample: a wrong clock loses less than a lost sentence.
"""


class Sink(Protocol):
    """Where a track writes. One that is a file (seek and tell) gets complete headers."""

    def write(self, data: bytes, /) -> object:
        """Take `data`, all of it."""


class Track(Protocol):
    """One open container with one audio stream in it."""

    def write(self, samples: Samples) -> None:
        """Encode samples of shape (n,) at the coded rate, within -1 and 1."""

    def finish(self) -> None:
        """Write the tail: what the codec held back, and the container's end."""

    def close(self) -> None:
        """Free everything; harmless twice."""


class PcmTrack:
    """16-bit little-endian PCM, with a WAV header where the format has one."""

    def __init__(self, audio_format: AudioFormat, sample_rate: int, sink: Sink) -> None:
        """Write the header, if there is one, at once."""
        self._sink = sink
        if audio_format.name == "wav":
            sink.write(make_wav_header(sample_rate))

    def write(self, samples: Samples) -> None:
        """Write the samples, rounded to 16 bits, 1.0 being 32768 as libav and libsndfile read."""
        scaled = np.multiply(samples, 32768.0)
        np.rint(scaled, out=scaled)
        np.minimum(scaled, 32767.0, out=scaled)
        self._sink.write(scaled.astype("<i2").tobytes())

    def finish(self) -> None:
        """Do nothing: PCM holds nothing back."""

    def close(self) -> None:
        """Do nothing: there is nothing to free."""


def make_wav_header(sample_rate: int, *, data_bytes: int | None = None) -> bytes:
    """Return the 44-byte RIFF header of mono 16-bit PCM; None when the length is not known."""
    riff = UNKNOWN_WAV_BYTES if data_bytes is None else data_bytes + WAV_HEADER_BYTES - 8
    data = UNKNOWN_WAV_BYTES if data_bytes is None else data_bytes
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, sample_rate, sample_rate * 2, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", riff, b"WAVE") + form + struct.pack("<4sI", b"data", data)
