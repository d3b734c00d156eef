"""VITS (Kim et al. 2021) for inference: ids to latent frames, latent frames to samples."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from app.mlx_cpu import mx
from app.speech.engine import Samples
from app.speech.piper.decoder import Decoder
from app.speech.piper.duration import DurationPredictor
from app.speech.piper.flow import Flow
from app.speech.piper.text_encoder import TextEncoder
from app.speech.piper.weights import Weights

Durations = npt.NDArray[np.int64]

MOST_FRAMES_PER_ID: Final = 1000
"""About ten seconds: a guard against noise that asks for minutes of one phoneme."""


@dataclass(frozen=True, slots=True)
class Scales:
    """How much chance there is in the sound and in the rhythm, and how long all lasts."""

    noise: float
    length: float
    rhythm_noise: float


@dataclass(frozen=True, slots=True)
class Latents:
    """What a sentence sounds like before flow and decoder.

    `frames` is (frames, channels); `durations` counts the frames of each id; `speaker` is the
    voice's embedding (1, channels) in a model of several.
    """

    frames: mx.array
    durations: Durations
    speaker: mx.array | None


class Vits:
    """The model; it keeps no state between calls."""

    def __init__(self, weights: Weights) -> None:
        """Build the four parts from a voice's weights."""
        self.speakers = weights.arrays.get("emb_g.weight")
        self.encoder = TextEncoder(weights)
        self.predictor = DurationPredictor(weights)
        self.flow = Flow(weights)
        self.decoder = Decoder(weights)

    def plan(
        self, ids: list[int], speaker: int, *, scales: Scales, noise: np.random.Generator
    ) -> Latents:
        """Decide the rhythm and draw the latent frames of a whole sentence."""
        embedding = None if self.speakers is None else self.speakers[speaker][None]
        features, means, deviations = self.encoder(mx.array(ids))
        rhythm = mx.array(draw(noise, (len(ids), 2)) * np.float32(scales.rhythm_noise))
        logs = self.predictor(features, rhythm, embedding)
        durations = count_frames(np.array(logs), scales.length)
        owner = mx.array(np.repeat(np.arange(len(ids)), durations))
        frames = means[owner]
        if scales.noise:
            drawn = mx.array(draw(noise, (frames.shape[0], frames.shape[1])))
            frames = frames + drawn * (mx.exp(deviations) * scales.noise)[owner]
        return Latents(frames, durations, embedding)

    def render(self, latents: Latents) -> Samples:
        """Return all samples of a sentence in one pass."""
        voiced = self.flow(latents.frames, latents.speaker)
        return np.array(self.decoder(voiced, latents.speaker))


def draw(noise: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Draw standard normal numbers."""
    return noise.standard_normal(shape, dtype=np.float32)


def count_frames(logs: npt.NDArray[np.float32], length: float) -> Durations:
    """Turn log durations into whole frames, one at least."""
    frames = np.ceil(np.exp(logs) * np.float32(length))
    return np.clip(frames, 1, MOST_FRAMES_PER_ID).astype(np.int64)
