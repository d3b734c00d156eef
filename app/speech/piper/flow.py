"""VITS's normalising flow, run backwards: latent frames of the text to those of the voice."""

from app.mlx_cpu import mx
from app.mlx_cpu.elementwise import tanh
from app.speech.piper.layers import Convolution, find_condition
from app.speech.piper.weights import Weights


class GatedLayer:
    """One layer of a WaveNet: a gated convolution, and what it adds to its two sums.

    The gate's sigmoid(z) is written (1 + tanh(z / 2)) / 2 with both halvings folded into the
    weights, so that one tanh does for all.
    """

    def __init__(self, weights: Weights, name: str, index: int) -> None:
        """Take layer `index` of the network `name`."""
        arrays = weights.arrays
        self.convolution = Convolution(weights, f"{name}.in_layers.{index}")
        channels = self.convolution.bias.shape[0] // 2
        self.halving = mx.concatenate([mx.ones(channels), mx.full(channels, 0.5)])
        self.convolution.taps = [tap * self.halving for tap in self.convolution.taps]
        kernel = arrays[f"{name}.res_skip_layers.{index}.weight"][0] * 0.5
        bias = arrays[f"{name}.res_skip_layers.{index}.bias"]
        self.skip, self.skip_bias = kernel[:, -channels:], bias[-channels:]
        self.residual, self.residual_bias = kernel[:, :-channels], bias[:-channels]

    def gate(self, x: mx.array, bias: mx.array) -> mx.array:
        """Return twice the gated activations (rows, channels); `bias` is the convolution's."""
        both = tanh(self.convolution(x, bias * self.halving))
        value, gate = mx.split(both, 2, axis=1)
        return value * gate + value


class GatedNetwork:
    """A WaveNet without growth of dilation beyond what its layers say."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layers under `name`, and its speaker conditioning if it has one."""
        indices = range(weights.count(f"{name}.in_layers"))
        self.layers = [GatedLayer(weights, name, index) for index in indices]
        self.condition = find_condition(weights, f"{name}.cond_layer")

    @property
    def reach(self) -> int:
        """How many frames before and after it a frame depends on."""
        return sum(layer.convolution.reach for layer in self.layers)

    def __call__(self, x: mx.array, speaker: mx.array | None) -> mx.array:
        """Return the sum of all layers' skips (rows, channels)."""
        biases = self._biases(speaker)
        skips = mx.zeros_like(x)
        for layer, bias in zip(self.layers, biases, strict=True):
            gated = layer.gate(x, bias)
            skips = mx.addmm(skips + layer.skip_bias, gated, layer.skip)
            if layer is not self.layers[-1]:
                x = mx.addmm(x + layer.residual_bias, gated, layer.residual)
        return skips

    def _biases(self, speaker: mx.array | None) -> list[mx.array]:
        own = [layer.convolution.bias for layer in self.layers]
        if self.condition is None or speaker is None:
            return own
        added = mx.split(self.condition(speaker)[0], len(own))
        return [bias + extra for bias, extra in zip(own, added, strict=True)]


class Coupling:
    """Shifts one half of the channels by what the network makes of the other half."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layers under `name`."""
        self.pre = Convolution(weights, f"{name}.pre")
        self.network = GatedNetwork(weights, f"{name}.enc")
        self.post = Convolution(weights, f"{name}.post")

    def __call__(self, x: mx.array, speaker: mx.array | None) -> mx.array:
        """Undo the shift in `x` (rows, channels)."""
        kept, moved = mx.split(x, 2, axis=1)
        shift = self.post(self.network(self.pre(kept), speaker))
        return mx.concatenate([kept, moved - shift], axis=1)


class Flow:
    """All couplings, each seeing the channels in the other order."""

    def __init__(self, weights: Weights) -> None:
        """Take everything under `flow`; its odd members are flips and hold no weights."""
        count = weights.count("flow.flows", step=2)
        names = [f"flow.flows.{2 * index}" for index in reversed(range(count))]
        self.couplings = [Coupling(weights, name) for name in names]

    @property
    def reach(self) -> int:
        """How many frames before and after it a frame depends on."""
        return sum(coupling.network.reach for coupling in self.couplings)

    def __call__(self, x: mx.array, speaker: mx.array | None) -> mx.array:
        """Map `x` (frames, channels) to the decoder's latents of the same shape."""
        for coupling in self.couplings:
            x = coupling(x[:, ::-1], speaker)
        return x
