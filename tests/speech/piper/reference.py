"""VITS's inference in plain numpy, channel-first and in double precision, as its authors wrote it.

A second opinion on what the embedded voice's own weights cannot show: several speakers, residual
blocks of type 1, dilated flows. Weights have PyTorch's names and shapes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TAIL, SMALLEST = 5.0, 1e-3


@dataclass
class Shape:
    """Hyper-parameters of a small VITS with several speakers."""

    vocabulary: int = 256
    hidden: int = 8
    heads: int = 2
    window: int = 4
    layers: int = 2
    inter: int = 6
    speakers: int = 3
    speaker_channels: int = 5
    bins: int = 10
    couplings: int = 4
    flow_layers: int = 3
    flow_dilation: int = 2
    initial: int = 16
    strides: tuple[int, ...] = (4, 3)
    kernels: tuple[int, ...] = (8, 7)
    block_kernels: tuple[int, ...] = (3, 7)
    block_dilations: tuple[int, ...] = (1, 3, 5)
    block_type: int = 1


def convolve(x: Array, weight: Array, bias: Array | None, *, dilation: int = 1) -> Array:
    """Convolve (channels, time), keeping the length; a weight of one input is depthwise."""
    outputs, inputs, taps = weight.shape
    reach = dilation * (taps - 1) // 2
    padded = np.pad(x, ((0, 0), (reach, reach)))
    y = np.zeros((outputs, x.shape[1]))
    for tap in range(taps):
        part = padded[:, tap * dilation : tap * dilation + x.shape[1]]
        depthwise = inputs == 1 and x.shape[0] == outputs > 1
        y += weight[:, :, tap] * part if depthwise else weight[:, :, tap] @ part
    return y if bias is None else y + bias[:, None]


def upsample(x: Array, weight: Array, bias: Array, *, stride: int) -> Array:
    """Transposed convolution of (channels, time), cropped to stride times the length or so."""
    _, outputs, taps = weight.shape
    crop = (taps - stride) // 2
    y = np.zeros((outputs, (x.shape[1] - 1) * stride + taps))
    for time in range(x.shape[1]):
        y[:, time * stride : time * stride + taps] += np.einsum("i,iot->ot", x[:, time], weight)
    return y[:, crop : y.shape[1] - crop] + bias[:, None]


def normalise(x: Array, gamma: Array, beta: Array) -> Array:
    centred = x - x.mean(axis=0)
    deviation = np.sqrt((centred * centred).mean(axis=0) + 1e-5)
    y: Array = centred / deviation * gamma[:, None] + beta[:, None]
    return y


def gelu(x: Array) -> Array:
    y: Array = x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    return y


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def leak(x: Array, slope: float) -> Array:
    return np.where(x > 0, x, x * slope)


class Reference:
    """The model over a mapping of weights."""

    def __init__(self, weights: dict[str, npt.NDArray[np.float32]], shape: Shape) -> None:
        self.weights = {name: array.astype(np.float64) for name, array in weights.items()}
        self.shape = shape

    def layer(self, x: Array, name: str, *, dilation: int = 1) -> Array:
        bias = self.weights.get(f"{name}.bias")
        return convolve(x, self.weights[f"{name}.weight"], bias, dilation=dilation)

    def norm(self, x: Array, name: str) -> Array:
        return normalise(x, self.weights[f"{name}.gamma"], self.weights[f"{name}.beta"])

    def speak(self, ids: Sequence[int], speaker: int, length: float = 1.0) -> Array:
        """Return the samples without any noise."""
        voice = self.weights["emb_g.weight"][speaker][:, None]
        features, means = self.encode(ids)
        logs = self.predict(features, voice)
        durations = np.ceil(np.exp(logs) * length).astype(int)
        return self.decode(self.flow(np.repeat(means, durations, axis=1), voice), voice)

    def encode(self, ids: Sequence[int]) -> tuple[Array, Array]:
        x = self.weights["enc_p.emb.weight"][list(ids)].T * math.sqrt(self.shape.hidden)
        for index in range(self.shape.layers):
            name = "enc_p.encoder"
            x = self.norm(x + self.attend(x, index), f"{name}.norm_layers_1.{index}")
            wide = np.maximum(self.layer(x, f"{name}.ffn_layers.{index}.conv_1"), 0)
            narrow = self.layer(wide, f"{name}.ffn_layers.{index}.conv_2")
            x = self.norm(x + narrow, f"{name}.norm_layers_2.{index}")
        return x, self.layer(x, "enc_p.proj")[: self.shape.inter]

    def attend(self, x: Array, index: int) -> Array:
        name = f"enc_p.encoder.attn_layers.{index}"
        query, key, value = (self.layer(x, f"{name}.conv_{part}") for part in "qkv")
        near_keys, near_values = (self.weights[f"{name}.emb_rel_{part}"][0] for part in "kv")
        width, time, window = near_keys.shape[1], x.shape[1], self.shape.window
        heads = []
        for head in range(self.shape.heads):
            cut = slice(head * width, (head + 1) * width)
            q, k, v = query[cut].T / math.sqrt(width), key[cut].T, value[cut].T
            scores = q @ k.T
            pairs = [(i, j) for i in range(time) for j in range(time) if abs(i - j) <= window]
            for i, j in pairs:
                scores[i, j] += q[i] @ near_keys[j - i + window]
            shares = softmax(scores)
            mixed = shares @ v
            for i, j in pairs:
                mixed[i] += shares[i, j] * near_values[j - i + window]
            heads.append(mixed.T)
        return self.layer(np.concatenate(heads), f"{name}.conv_o")

    def stack(self, x: Array, name: str) -> Array:
        for index in range(3):
            y = self.layer(x, f"{name}.convs_sep.{index}", dilation=3**index)
            y = gelu(self.norm(y, f"{name}.norms_1.{index}"))
            y = self.layer(y, f"{name}.convs_1x1.{index}")
            x = x + gelu(self.norm(y, f"{name}.norms_2.{index}"))
        return x

    def predict(self, features: Array, voice: Array) -> Array:
        x = self.layer(features, "dp.pre") + self.layer(voice, "dp.cond")
        x = self.layer(self.stack(x, "dp.convs"), "dp.proj")
        z = np.zeros((2, x.shape[1]))
        for number in (7, 5, 3):
            z = z[::-1]
            name = f"dp.flows.{number}"
            h = self.layer(z[:1], f"{name}.pre") + x
            h = self.layer(self.stack(h, f"{name}.convs"), f"{name}.proj")
            moved = [self.invert(z[1, t], h[:, t]) for t in range(x.shape[1])]
            z = np.stack([z[0], np.array(moved)])
        z = z[::-1]
        shift, log_scale = (self.weights[f"dp.flows.0.{part}"][0, 0] for part in ("m", "logs"))
        logs: Array = (z[0] - shift) * np.exp(-log_scale)
        return logs

    def invert(self, y: float, raw: Array) -> float:
        """Invert one spline by bisection: its forward form is the paper's equation 4."""
        if abs(y) > TAIL:
            return y
        bins, scale = self.shape.bins, math.sqrt(self.shape.hidden)
        xs, ys = (
            np.concatenate([[-TAIL], 2 * TAIL * np.cumsum(sizes) - TAIL])
            for sizes in (
                SMALLEST + (1 - SMALLEST * bins) * softmax(part / scale)
                for part in (raw[:bins], raw[bins : 2 * bins])
            )
        )
        slopes = np.concatenate([[1], SMALLEST + np.log1p(np.exp(raw[2 * bins :])), [1]])
        low, high = -TAIL, TAIL
        for _ in range(60):
            middle = (low + high) / 2
            if self.evaluate(middle, xs, ys, slopes) < y:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def evaluate(self, x: float, xs: Array, ys: Array, slopes: Array) -> float:
        k = min(max(int(np.searchsorted(xs, x, side="right")) - 1, 0), self.shape.bins - 1)
        width, height = xs[k + 1] - xs[k], ys[k + 1] - ys[k]
        s, t = height / width, (x - xs[k]) / width
        top = height * (s * t * t + slopes[k] * t * (1 - t))
        bottom = s + (slopes[k] + slopes[k + 1] - 2 * s) * t * (1 - t)
        return float(ys[k] + top / bottom)

    def flow(self, x: Array, voice: Array) -> Array:
        half, hidden = self.shape.inter // 2, self.shape.hidden
        for number in reversed(range(0, 2 * self.shape.couplings, 2)):
            x = x[::-1]
            name = f"flow.flows.{number}"
            h = self.layer(x[:half], f"{name}.pre")
            added = self.layer(voice, f"{name}.enc.cond_layer")
            skips = np.zeros((hidden, x.shape[1]))
            for index in range(self.shape.flow_layers):
                dilation = self.shape.flow_dilation**index
                both = self.layer(h, f"{name}.enc.in_layers.{index}", dilation=dilation)
                both = both + added[index * 2 * hidden : (index + 1) * 2 * hidden]
                gated = np.tanh(both[:hidden]) / (1 + np.exp(-both[hidden:]))
                out = self.layer(gated, f"{name}.enc.res_skip_layers.{index}")
                if index < self.shape.flow_layers - 1:
                    h = h + out[:hidden]
                skips += out[-hidden:]
            x = np.concatenate([x[:half], x[half:] - self.layer(skips, f"{name}.post")])
        return x

    def decode(self, x: Array, voice: Array) -> Array:
        x = self.layer(x, "dec.conv_pre") + self.layer(voice, "dec.cond")
        kinds = len(self.shape.block_kernels)
        for index, stride in enumerate(self.shape.strides):
            names = [f"dec.ups.{index}.{part}" for part in ("weight", "bias")]
            x = upsample(leak(x, 0.1), *(self.weights[name] for name in names), stride=stride)
            blocks = range(index * kinds, (index + 1) * kinds)
            x = np.mean([self.block(x, f"dec.resblocks.{number}") for number in blocks], axis=0)
        samples: Array = np.tanh(self.layer(leak(x, 0.01), "dec.conv_post"))[0]
        return samples

    def block(self, x: Array, name: str) -> Array:
        for index, dilation in enumerate(self.shape.block_dilations):
            if self.shape.block_type == 1:
                y = self.layer(leak(x, 0.1), f"{name}.convs1.{index}", dilation=dilation)
                x = x + self.layer(leak(y, 0.1), f"{name}.convs2.{index}")
            else:
                x = x + self.layer(leak(x, 0.1), f"{name}.convs.{index}", dilation=dilation)
        return x
