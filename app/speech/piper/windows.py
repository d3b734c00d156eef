"""A sentence's samples window by window, equal to the one-pass waveform.

A window is computed with as many frames on both sides as the flow and the decoder can see, and only
its inner part is kept. The flow's frames are kept from window to window, since the next window's
decoder looks back at them.
"""

from collections.abc import Generator
from contextlib import closing
from typing import Final

import numpy as np

from app.mlx_cpu import mx
from app.speech.engine import Samples
from app.speech.piper.vits import Latents, Vits

FIRST_SECONDS: Final = 0.2
"""The first window's length: as much as a browser needs to start."""
LONGEST_SECONDS: Final = 1.5
"""The windows' growth ends here: context is a waste in short ones, turns get long in long ones."""
GROWTH: Final = 2
"""A window is computed while the one before it plays: any voice faster than 2 x is in time."""


def render_chunks(
    model: Vits, latents: Latents, *, sample_rate: int, interval_seconds: float
) -> Generator[Samples, None, None]:
    """Yield the samples of a sentence in chunks of at most `interval_seconds`."""
    most = max(1, int(interval_seconds * sample_rate))
    first = min(FIRST_SECONDS, interval_seconds)
    rate = sample_rate / model.decoder.hop
    windows = render_windows(
        model, latents, first=max(1, int(first * rate)), longest=max(1, int(LONGEST_SECONDS * rate))
    )
    with closing(windows):
        for samples in windows:
            for start in range(0, len(samples), most):
                yield samples[start : start + most]


def render_windows(
    model: Vits, latents: Latents, *, first: int, longest: int
) -> Generator[Samples, None, None]:
    """Yield the samples of a sentence in windows that grow from `first` to `longest` frames."""
    total, reach, hop = latents.frames.shape[0], model.decoder.reach, model.decoder.hop
    kept, kept_start, start, length = latents.frames[:0], 0, 0, first
    while start < total:
        end = min(start + length, total)
        left, right = max(0, start - reach), min(end + reach, total)
        kept = kept[left - kept_start :]
        if left + kept.shape[0] < right:
            # The flow looks far to both sides: after the first window it runs one window ahead.
            ahead = min(right + (length if start else 0), total)
            fresh = _run_flow(model, latents, left + kept.shape[0], ahead)
            kept = mx.concatenate([kept, fresh])
        samples = model.decoder(kept[: right - left], latents.speaker)
        mx.eval(samples, kept)
        yield np.asarray(samples)[(start - left) * hop : (end - left) * hop].copy()
        kept_start, start, length = left, end, min(length * GROWTH, longest)


def _run_flow(model: Vits, latents: Latents, start: int, end: int) -> mx.array:
    """Return the flow's frames from `start` to `end`, computed within their context."""
    left = max(0, start - model.flow.reach)
    right = min(end + model.flow.reach, latents.frames.shape[0])
    flowed = model.flow(latents.frames[left:right], latents.speaker)
    return flowed[start - left : end - left]
