"""HiFi-GAN's generator (Kong et al. 2020): latent frames to samples."""

import math
from typing import Final

from app.mlx_cpu import mx
from app.speech.piper.layers import Convolution, find_condition
from app.speech.piper.weights import Weights

SLOPE: Final = 0.1
LAST_SLOPE: Final = 0.01
"""HiFi-GAN's leak, and PyTorch's default, which it uses before the last convolution."""


class Upsampling:
    """A transposed convolution as a plain one with `stride` times as many channels.

    The `stride` rows that begin at one input row are the channels of one row of a product of the
    ceil(taps / stride) inputs that overlap there.
    """

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layer's weight (taps, in, out), bias, stride and crop."""
        weight = weights.arrays[f"{name}.weight"]
        self.stride, self.crop = weights.strides[name], weights.crops[name]
        self.count, inputs, self.outputs = weight.shape
        pieces = -(-self.count // self.stride)
        even = mx.pad(weight, [(0, pieces * self.stride - self.count), (0, 0), (0, 0)])
        kernel = even.reshape(pieces, self.stride, inputs, self.outputs).swapaxes(1, 2)
        self.kernels = list(mx.contiguous(kernel.reshape(pieces, inputs, -1))[::-1])
        self.bias = mx.tile(weights.arrays[f"{name}.bias"], self.stride)

    def context(self, rows: int) -> int:
        """Return how many input rows on each side are needed for `rows` output rows of context."""
        return math.ceil((rows + max(self.crop, self.count - 1 - self.crop)) / self.stride)

    def __call__(self, x: mx.array) -> mx.array:
        """Upsample `x` (rows, in)."""
        edge = len(self.kernels) - 1
        padded = mx.pad(x, [(edge, edge), (0, 0)])
        rows = x.shape[0] + edge
        y = padded[:rows] @ self.kernels[0]
        for shift, kernel in enumerate(self.kernels[1:], 1):
            y = mx.addmm(y, padded[shift : shift + rows], kernel)
        length = (x.shape[0] - 1) * self.stride + self.count - 2 * self.crop
        return (y + self.bias).reshape(-1, self.outputs)[self.crop : self.crop + length]


class ResidualBlock:
    """Convolutions of growing dilation, each added to its input: HiFi-GAN's types 1 and 2."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layers under `name`: pairs (`convs1`, `convs2`) for type 1, else `convs`."""
        parts = ("convs1", "convs2") if weights.count(f"{name}.convs1") else ("convs",)
        count = weights.count(f"{name}.{parts[0]}")
        self.steps = [
            [Convolution(weights, f"{name}.{part}.{index}") for part in parts]
            for index in range(count)
        ]

    @property
    def reach(self) -> int:
        """How many rows before and after it a row depends on."""
        return sum(convolution.reach for step in self.steps for convolution in step)

    def __call__(self, x: mx.array) -> mx.array:
        """Transform `x` (rows, channels)."""
        for step in self.steps:
            y = x
            for convolution in step[:-1]:
                y = convolution(leak(y, SLOPE))
            x = step[-1](leak(y, SLOPE), onto=x)
        return x


class Stage:
    """One upsampling and the mean of the residual blocks after it."""

    def __init__(self, weights: Weights, index: int, *, blocks: int) -> None:
        """Take stage `index`, which has `blocks` residual blocks."""
        self.upsampling = Upsampling(weights, f"dec.ups.{index}")
        first = index * blocks
        names = [f"dec.resblocks.{number}" for number in range(first, first + blocks)]
        self.blocks = [ResidualBlock(weights, name) for name in names]

    def context(self, rows: int) -> int:
        """Return how many input rows on each side are needed for `rows` output rows of context."""
        return self.upsampling.context(rows + max(block.reach for block in self.blocks))

    def __call__(self, x: mx.array) -> mx.array:
        """Upsample and refine `x` (rows, channels)."""
        x = self.upsampling(leak(x, SLOPE))
        y = self.blocks[0](x)
        for block in self.blocks[1:]:
            y = y + block(x)
        return y * (1 / len(self.blocks))


class Decoder:
    """Latent frames to samples."""

    def __init__(self, weights: Weights) -> None:
        """Take everything under `dec`."""
        self.pre, self.post = (Convolution(weights, f"dec.conv_{end}") for end in ("pre", "post"))
        self.condition = find_condition(weights, "dec.cond")
        count = weights.count("dec.ups")
        blocks = weights.count("dec.resblocks") // count
        self.stages = [Stage(weights, index, blocks=blocks) for index in range(count)]

    @property
    def hop(self) -> int:
        """Samples per frame."""
        return math.prod(stage.upsampling.stride for stage in self.stages)

    @property
    def reach(self) -> int:
        """How many frames before and after it a frame's samples depend on."""
        rows = self.post.reach
        for stage in reversed(self.stages):
            rows = stage.context(rows)
        return rows + self.pre.reach

    def __call__(self, x: mx.array, speaker: mx.array | None) -> mx.array:
        """Return the samples (frames x hop,) of `x` (frames, channels)."""
        bias = self.pre.bias
        if self.condition is not None and speaker is not None:
            bias = bias + self.condition(speaker)[0]
        x = self.pre(x, bias)
        for stage in self.stages:
            x = stage(x)
        return mx.tanh(self.post(leak(x, LAST_SLOPE))[:, 0])


def leak(x: mx.array, slope: float) -> mx.array:
    """Leaky ReLU."""
    return mx.maximum(x, x * slope)
