"""What a track of lags cannot see: runs of zeros, dips, and how much of the sound was heard at all.

An underrun is heard as exact zeros. A short hole that a codec has smoothed is a dip in the envelope
of a sound that has none of its own. And the first or the last syllable can be missing while all the
rest lies where it should.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from app.audit.alignment import LagTrack, Samples

_BLOCK_SECONDS: Final = 0.5e-3
# The envelope of a stretch that begins or ends at full level rings at its ends.
_RINGING_SECONDS: Final = 0.02
_HEARD_SHARE: Final = 0.5
_LOUD_SHARE: Final = 0.01
_FITTING: Final = 0.5
_NEIGHBOURS: Final = 10
_NEIGHBOUR_SHARE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of sound, in seconds from the start of the samples that it was found in."""

    start_seconds: float
    end_seconds: float

    @property
    def length_seconds(self) -> float:
        """How long it is."""
        return self.end_seconds - self.start_seconds


def find_zero_runs(
    captured: Samples, *, rate: int, shortest_seconds: float = 0.3e-3
) -> tuple[Span, ...]:
    """Find exact zeros that last `shortest_seconds` or more between the first and last sound."""
    sounding = np.flatnonzero(captured)
    gaps = np.flatnonzero(np.diff(sounding) > max(shortest_seconds * rate, 1.0))
    return tuple(
        Span((int(sounding[gap]) + 1) / rate, int(sounding[gap + 1]) / rate) for gap in gaps
    )


def find_dips(
    captured: Samples,
    within: Span,
    *,
    rate: int,
    depth: float = 0.5,
    shortest_seconds: float = 0.3e-3,
) -> tuple[Span, ...]:
    """Find where a sound of constant envelope falls below `depth` times its own median level.

    `within` is where it sounds; 20 ms at its ends, where the envelope rings, are left out.
    """
    first = round((within.start_seconds + _RINGING_SECONDS) * rate)
    last = round((within.end_seconds - _RINGING_SECONDS) * rate)
    envelope = measure_envelope(captured)[max(first, 0) : max(last, 0)]
    if not len(envelope):
        return ()
    low = np.concatenate(([False], envelope < depth * np.median(envelope), [False]))
    starts, ends = np.flatnonzero(np.diff(low.astype(np.int8))).reshape(-1, 2).T
    return tuple(
        Span((first + int(start)) / rate, (first + int(end)) / rate)
        for start, end in zip(starts, ends, strict=True)
        if end - start >= shortest_seconds * rate
    )


def measure_envelope(samples: Samples) -> npt.NDArray[np.float64]:
    """Give the magnitude of the analytic signal of `samples` (n,), by Hilbert's transform."""
    size = 1 << max(len(samples) - 1, 1).bit_length()
    spectrum = np.fft.fft(samples, size)
    spectrum[1 : size // 2] *= 2
    spectrum[size // 2 + 1 :] = 0
    envelope: npt.NDArray[np.float64] = np.abs(np.fft.ifft(spectrum)[: len(samples)])
    return envelope


def find_heard(
    captured: Samples,
    reference: Samples,
    track: LagTrack,
    *,
    block_seconds: float = _BLOCK_SECONDS,
) -> Span:
    """Give the part of `reference` that was heard: from its first to its last block that was.

    A block is heard where at least half of it is found again at the lag of the nearest window that
    fits, and where most of its neighbours further in are heard too: alone it may fit by chance.
    Blocks quieter than a tenth of the reference's level say nothing.
    """
    size = max(round(block_seconds * track.rate), 1)
    count = len(reference) // size
    made = reference[: count * size].astype(np.float64)
    found = np.interp(
        np.arange(len(made)) + _give_each_its_lag(len(made), track),
        np.arange(-1, len(captured) + 1),
        np.pad(captured, 1),
    )
    level = np.square(made).reshape(count, size).sum(axis=1)
    shares = (made * found).reshape(count, size).sum(axis=1) / np.maximum(level, 1e-12)
    telling = np.flatnonzero(level > _LOUD_SHARE * np.mean(level))
    heard = shares[telling] > _HEARD_SHARE
    first, last = _find_first(heard), _find_first(heard[::-1])
    if first is None or last is None:
        return Span(0.0, 0.0)
    seconds = size / track.rate
    start, end = int(telling[first]), int(telling[len(telling) - 1 - last]) + 1
    return Span(start * seconds, end * seconds)


def _give_each_its_lag(count: int, track: LagTrack) -> npt.NDArray[np.float64]:
    fitting = [window for window in track.windows if window.correlation > _FITTING]
    windows = fitting or track.windows
    starts = np.array([window.start for window in windows])
    lags = np.array([window.lag_samples for window in windows])
    borders = (starts[1:] + starts[:-1]) / 2
    chosen: npt.NDArray[np.float64] = lags[np.searchsorted(borders, np.arange(count))]
    return chosen


def _find_first(heard: npt.NDArray[np.bool_]) -> int | None:
    counts = np.concatenate(([0], np.cumsum(heard)))
    ends = np.minimum(np.arange(len(heard)) + _NEIGHBOURS, len(heard))
    enough = counts[ends] - counts[: len(heard)] >= _NEIGHBOUR_SHARE * _NEIGHBOURS
    firsts = np.flatnonzero(heard & enough)
    return int(firsts[0]) if len(firsts) else None
