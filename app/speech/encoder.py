"""One open container for a whole response: samples in, the bytes that they made ready out."""

from typing import IO, Final

import numpy as np

from app.errors import EncoderClosedError
from app.formats import AudioFormat
from app.speech.engine import Samples
from app.speech.file_headers import complete_header
from app.speech.libav_track import LibavTrack
from app.speech.resampling import create_resampler
from app.speech.tracks import PcmTrack, Sink, Track

SLICE_SAMPLES: Final = 4_800
"""What libav is given at once: its buffers grow with what they are given, to three times this
memory for each stream where they get a whole second (measured on mp3, Opus and AAC)."""


class StreamEncoder:
    """Encodes mono samples into one container, a piece at a time.

    It belongs to one thread at a time. `sample_rate` is the coded rate in Hz.
    """

    def __init__(self, audio_format: AudioFormat, sample_rate: int) -> None:
        """Open the container for input at `sample_rate` Hz.

        Raises InvalidRequestError for a rate outside 8 to 192 kHz.
        """
        self._outbox = _Outbox()
        self._pipeline = _Pipeline(audio_format, sample_rate, self._outbox)
        self.sample_rate = self._pipeline.sample_rate

    def feed(self, samples: Samples) -> bytes:
        """Encode float samples of shape (n,) and return the bytes that became ready, if any.

        Samples beyond full scale are clipped, and what is not a number is silence. Raises
        EncoderClosedError after finish() or close().
        """
        self._pipeline.feed(samples)
        return self._outbox.take()

    def finish(self) -> bytes:
        """End the container and return its last bytes; raises EncoderClosedError when repeated."""
        self._pipeline.finish()
        return self._outbox.take()

    def close(self) -> None:
        """Free everything, finished or not; what was not yet returned is lost."""
        self._pipeline.close()
        self._outbox.take()


class FileEncoder:
    """Encodes mono samples into a file whose headers know its length.

    It is fed as a StreamEncoder is, so that one generation step serves both, but its bytes go to
    `file` and it returns none.
    """

    def __init__(self, audio_format: AudioFormat, sample_rate: int, file: IO[bytes]) -> None:
        """Write to `file`, empty and seekable, which stays the caller's to close.

        Raises InvalidRequestError for a rate outside 8 to 192 kHz.
        """
        self._format = audio_format
        self._file = file
        self._pipeline = _Pipeline(audio_format, sample_rate, file, complete=True)

    def feed(self, samples: Samples) -> bytes:
        """Encode float samples of shape (n,); see StreamEncoder.feed."""
        self._pipeline.feed(samples)
        return b""

    def finish(self) -> bytes:
        """End the container and complete its headers; the file is left at its start."""
        self._pipeline.finish()
        complete_header(
            self._file,
            self._format,
            samples=self._pipeline.coded_samples,
            rate=self._pipeline.sample_rate,
        )
        return b""

    def close(self) -> None:
        """Free everything but the file."""
        self._pipeline.close()


class _Pipeline:
    """Samples made safe, resampled and put into a track; `coded_samples` counts these."""

    def __init__(
        self, audio_format: AudioFormat, sample_rate: int, sink: Sink, *, complete: bool = False
    ) -> None:
        self.sample_rate = audio_format.coded_rate(sample_rate)
        self._track: Track | None = _open_track(
            audio_format, self.sample_rate, sink, complete=complete
        )
        self._resampler = create_resampler(sample_rate, self.sample_rate)
        self.coded_samples = 0

    def feed(self, samples: Samples) -> None:
        track = self._get_open_track()
        for start in range(0, samples.size, SLICE_SAMPLES):
            part = samples[start : start + SLICE_SAMPLES]
            self._write(track, self._resampler.feed(make_safe(part)))

    def finish(self) -> None:
        track = self._get_open_track()
        self._write(track, self._resampler.finish())
        track.finish()
        self.close()

    def close(self) -> None:
        track, self._track = self._track, None
        if track is not None:
            track.close()
            del self._resampler

    def _get_open_track(self) -> Track:
        if self._track is None:
            raise EncoderClosedError("The encoder is closed and takes no more samples.")
        return self._track

    def _write(self, track: Track, samples: Samples) -> None:
        self.coded_samples += samples.size
        if samples.size:
            track.write(samples)


class _Outbox:
    """Bytes on their way out; only `write`, so that libav cannot seek back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> None:
        self._pieces.append(data)

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _open_track(
    audio_format: AudioFormat, sample_rate: int, sink: Sink, *, complete: bool
) -> Track:
    coding = audio_format.coding
    if coding is None:
        return PcmTrack(audio_format, sample_rate, sink)
    options = coding.file_options if complete else coding.stream_options
    whole_packets = coding.whole_packets and not complete
    return LibavTrack(coding, sample_rate, sink=sink, options=options, whole_packets=whole_packets)


def make_safe(samples: Samples) -> Samples:
    """Return samples within -1 and 1, NaN as 0, without a copy where they already are."""
    samples = np.ascontiguousarray(samples, dtype=np.float32)
    # Any comparison with NaN is false, so this also finds it.
    if samples.min() >= -1.0 and samples.max() <= 1.0:
        return samples
    return np.clip(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
