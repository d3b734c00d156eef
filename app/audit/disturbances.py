"""What a lag does not show: places where the sound is gone for a moment, or bursts out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from app.speech.engine import Samples

_BLOCK_SECONDS: Final = 1e-3
_DIP_SHARE: Final = 0.03
_CLICK_SHARE: Final = 8.0
_AROUND_BLOCKS: Final = 15
_LOUD_SHARE: Final = 0.02
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A dip or a click, in seconds from the start of the samples that it was found in."""

    kind: Literal["dip", "click"]
    start_seconds: float
    length_seconds: float


def find_disturbances(
    found: Samples, made: Samples, *, rate: int, level: float
) -> Iterator[Disturbance]:
    """Find where `found` (n,), which should be `made` (n,), is far quieter or far louder.

    By the energy of blocks of 1 ms, so that a codec's phase does not matter. A dip has less than
    a thirtieth of the least energy that was made within 1 ms around, where that is audible beside
    `level`, the effective level of the whole; a click has eight times the most within 15 ms.
    """
    size = round(_BLOCK_SECONDS * rate)
    ours, theirs = _measure_energy(made, size), _measure_energy(found, size)
    audible = _LOUD_SHARE * level**2 * size
    least = -_spread(-ours, 1)
    loud = least > audible
    gain = float(np.median(theirs[loud] / ours[loud])) if loud.any() else 1.0
    dips = loud & (theirs < _DIP_SHARE * gain * least)
    most = np.maximum(_spread(ours, _AROUND_BLOCKS), audible)
    clicks = theirs > _CLICK_SHARE * max(gain, 1e-6) * most
    for start, end in _find_runs(dips):
        yield Disturbance("dip", start * size / rate, (end - start) * size / rate)
    for start, end in _find_runs(clicks):
        yield Disturbance("click", start * size / rate, (end - start) * size / rate)


def _measure_energy(samples: Samples, size: int) -> _Floats:
    count = len(samples) // size
    blocks = samples[: count * size].astype(np.float64).reshape(count, size)
    energy: _Floats = np.square(blocks).sum(axis=1)
    return energy


def _spread(values: _Floats, around: int) -> _Floats:
    """Give each place the greatest value within `around` places."""
    if not len(values):
        return values
    padded = np.pad(values, around, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1)
    greatest: _Floats = windows.max(axis=1)
    return greatest


def _find_runs(marked: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], marked.astype(np.int8), [0]))))
    for start, end in edges.reshape(-1, 2):
        yield int(start), int(end)
