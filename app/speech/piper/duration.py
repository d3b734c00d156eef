"""VITS's stochastic duration predictor, run backwards: noise to log durations."""

import math

from app.mlx_cpu import mx
from app.mlx_cpu.elementwise import gelu
from app.speech.piper.layers import Convolution, DepthwiseConvolution, LayerNorm, find_condition
from app.speech.piper.spline import invert_spline
from app.speech.piper.weights import Weights


class SeparableStack:
    """Dilated depthwise-separable convolutions with residuals (VITS's DDSConv)."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layers under `name`."""
        indices = range(weights.count(f"{name}.convs_sep"))
        self.layers = [
            (
                DepthwiseConvolution(weights, f"{name}.convs_sep.{index}"),
                LayerNorm(weights, f"{name}.norms_1.{index}"),
                Convolution(weights, f"{name}.convs_1x1.{index}"),
                LayerNorm(weights, f"{name}.norms_2.{index}"),
            )
            for index in indices
        ]

    def __call__(self, x: mx.array) -> mx.array:
        """Transform `x` (rows, channels)."""
        for separate, first, mix, second in self.layers:
            x = x + gelu(second(mix(gelu(first(separate(x))))))
        return x


class SplineFlow:
    """A coupling whose second channel goes through a spline that the first one shapes."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layers under `name`."""
        self.pre = Convolution(weights, f"{name}.pre")
        self.stack = SeparableStack(weights, f"{name}.convs")
        self.project = Convolution(weights, f"{name}.proj")
        self.channels = self.pre.bias.shape[0]
        self.bins = (self.project.bias.shape[0] + 1) // 3

    def __call__(self, kept: mx.array, moved: mx.array, features: mx.array) -> mx.array:
        """Return `moved` (rows, 1) as it was before the flow, given `kept` (rows, 1)."""
        shape = self.project(self.stack(self.pre(kept) + features))
        scale = 1 / math.sqrt(self.channels)
        return invert_spline(
            moved[:, 0],
            widths=shape[:, : self.bins] * scale,
            heights=shape[:, self.bins : 2 * self.bins] * scale,
            slopes=shape[:, 2 * self.bins :],
        )[:, None]


class DurationPredictor:
    """How many frames each id lasts, as a sample from the learned distribution."""

    def __init__(self, weights: Weights) -> None:
        """Take everything under `dp`."""
        self.pre = Convolution(weights, "dp.pre")
        self.stack = SeparableStack(weights, "dp.convs")
        self.project = Convolution(weights, "dp.proj")
        self.condition = find_condition(weights, "dp.cond")
        # flows.1 is left out by VITS itself ("remove a useless vflow"), the even ones are flips.
        odd = range(1, 99, 2)
        names = [f"dp.flows.{n}" for n in odd if f"dp.flows.{n}.pre.weight" in weights.arrays]
        self.flows = [SplineFlow(weights, name) for name in names if name != "dp.flows.1"][::-1]
        self.shift = weights.arrays["dp.flows.0.m"].reshape(1, 2)[:, :1]
        self.scale = weights.arrays["dp.flows.0.scale"].reshape(1, 2)[:, :1]

    def __call__(self, x: mx.array, noise: mx.array, speaker: mx.array | None) -> mx.array:
        """Return log durations in frames (rows,) of `x` (rows, channels), given `noise` (rows, 2).

        `speaker` is the voice's embedding (1, channels).
        """
        features = self.pre(x)
        if self.condition is not None and speaker is not None:
            features = features + self.condition(speaker)
        features = self.project(self.stack(features))
        first, second = noise[:, :1], noise[:, 1:]
        for flow in self.flows:
            first, second = second, first
            second = flow(first, second, features)
        first, second = second, first
        return ((first - self.shift) * self.scale)[:, 0]
