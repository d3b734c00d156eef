"""What the encoder's tests share: cut, encode, decode, compare."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np

from app.audit.decoding import decode_body
from app.formats import AudioFormat
from app.speech.encoder import StreamEncoder
from app.speech.engine import Samples
from app.speech.resampling import create_resampler
from tests.audit.sounds import make_noise

RATES: Final = (16_000, 22_050, 24_000, 44_100, 48_000)
LOSSLESS: Final = frozenset({"vorbis", "flac", "wav", "mp4-flac", "pcm", "raw"})
QUIETEST: Final = 0.5 / 32768
NOISE: Final = make_noise(480_000, 48_000)


class Encoder(Protocol):
    def feed(self, samples: Samples) -> bytes: ...
    def finish(self) -> bytes: ...
    def close(self) -> None: ...


class MakesEncoder(Protocol):
    def __call__(self, audio_format: AudioFormat, sample_rate: int, /) -> Encoder: ...


def make_sound(count: int) -> Samples:
    """Give up to ten seconds of noise at 48 kHz, which is noise at any other rate too."""
    return NOISE[:count]


def cut(samples: Samples, cuts: Iterable[int]) -> list[Samples]:
    return np.split(samples, sorted(position % (samples.size + 1) for position in cuts))


def encode(
    pieces: Sequence[Samples],
    audio_format: AudioFormat,
    *,
    rate: int,
    encoder: MakesEncoder = StreamEncoder,
) -> bytes:
    opened = encoder(audio_format, rate)
    try:
        return b"".join([*map(opened.feed, pieces), opened.finish()])
    finally:
        opened.close()


def decode(body: bytes, audio_format: AudioFormat, *, rate: int, every: bool = False) -> Samples:
    """Decode as a plain decoder does or, with `every`, as MediaSource plays joined files."""
    return decode_body(body, audio_format, pcm_rate=rate, every_coded_sample=every).samples


def resample(samples: Samples, audio_format: AudioFormat, *, rate: int) -> Samples:
    resampler = create_resampler(rate, audio_format.coded_rate(rate))
    return np.concatenate([resampler.feed(samples), resampler.finish()])


def find_worst_match(heard: Samples, made: Samples, *, window: int = 2048) -> tuple[float, int]:
    """Return the lowest correlation of any window at lag 0, and the greatest lag of any."""
    lowest, furthest = 1.0, 0
    for start in range(0, made.size - window + 1, window):
        reference = made[start : start + window].astype(np.float64)
        if start + window > heard.size:
            return 0.0, window
        found = heard[start : start + window].astype(np.float64)
        # What a codec leaves of silence, below 16 bits on both sides, correlates with nothing.
        if max(np.abs(reference).max(), np.abs(found).max()) < QUIETEST:
            continue
        power = max(np.sqrt(np.dot(reference, reference) * np.dot(found, found)), 1e-12)
        lowest = min(lowest, float(np.dot(reference, found) / power))
        spectrum = np.fft.rfft(found, 2 * window) * np.conj(np.fft.rfft(reference, 2 * window))
        lag = int(np.argmax(np.fft.irfft(spectrum)))
        furthest = max(furthest, min(lag, 2 * window - lag))
    return lowest, furthest
