"""The few layers that a VITS is made of, over rows of frames: arrays are (frames, channels)."""

from app.mlx_cpu import mx
from app.speech.piper.weights import Weights

NORM_EPSILON = 1e-5


class Convolution:
    """A convolution that keeps the length: a sum of products over shifted rows.

    Slices of rows are contiguous, so nothing is gathered and dilation is free.
    """

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layer's weight (taps, in, out), its bias if it has one, and its dilation."""
        weight = weights.arrays[f"{name}.weight"]
        self.taps = [weight[tap] for tap in range(weight.shape[0])]
        self.bias = weights.arrays.get(f"{name}.bias", mx.zeros(weight.shape[2]))
        self.dilation = weights.dilations.get(name, 1)

    @property
    def reach(self) -> int:
        """How many rows before and after it a row depends on."""
        return self.dilation * (len(self.taps) - 1) // 2

    def __call__(
        self, x: mx.array, bias: mx.array | None = None, *, onto: mx.array | None = None
    ) -> mx.array:
        """Convolve `x` (rows, in) to (rows, out), adding `bias` in place of the layer's own.

        The result is added to `onto`, if given. The bias comes last: MLX would first write it out
        to all rows, which takes as long as a product.
        """
        rows = x.shape[0]
        padded = mx.pad(x, [(self.reach, self.reach), (0, 0)]) if self.reach else x
        first, *others = self.taps
        y = padded[:rows] @ first if onto is None else mx.addmm(onto, padded[:rows], first)
        for tap, kernel in enumerate(others, 1):
            start = tap * self.dilation
            y = mx.addmm(y, padded[start : start + rows], kernel)
        return y + (self.bias if bias is None else bias)


def find_condition(weights: Weights, name: str) -> Convolution | None:
    """Return the layer that lets a speaker's embedding in; a voice alone has none."""
    return Convolution(weights, name) if f"{name}.weight" in weights.arrays else None


class DepthwiseConvolution:
    """A convolution of each channel by itself that keeps the length."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layer's weight (taps, 1, channels), bias and dilation."""
        self.weight = weights.arrays[f"{name}.weight"]
        self.bias = weights.arrays[f"{name}.bias"]
        self.dilation = weights.dilations.get(name, 1)

    def __call__(self, x: mx.array) -> mx.array:
        """Convolve `x` (rows, channels)."""
        taps, rows = self.weight.shape[0], x.shape[0]
        reach = self.dilation * (taps - 1) // 2
        padded = mx.pad(x, [(reach, reach), (0, 0)])
        y = self.bias
        for tap in range(taps):
            start = tap * self.dilation
            y = y + padded[start : start + rows] * self.weight[tap]
        return y


class LayerNorm:
    """Normalisation of each row, its sums taken as products since MLX's reductions are slow."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layer's gamma and beta (channels,)."""
        self.gamma = weights.arrays[f"{name}.gamma"]
        self.beta = weights.arrays[f"{name}.beta"]
        self.average = mx.full((self.gamma.shape[0], 1), 1 / self.gamma.shape[0])

    def __call__(self, x: mx.array) -> mx.array:
        """Normalise `x` (rows, channels)."""
        centred = x - x @ self.average
        variance = (centred * centred) @ self.average
        return centred * mx.rsqrt(variance + NORM_EPSILON) * self.gamma + self.beta
