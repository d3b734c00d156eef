"""VITS's text encoder: a transformer whose attention knows relative positions (Shaw et al.)."""

import math

from app.mlx_cpu import mx
from app.mlx_cpu.elementwise import softmax
from app.speech.piper.layers import Convolution, LayerNorm
from app.speech.piper.weights import Weights


class Attention:
    """Self-attention with a learned key and value for each near distance."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the projections and the relative keys and values (1, 2 window + 1, head width)."""
        arrays = weights.arrays
        self.relative_keys = arrays[f"{name}.emb_rel_k"][0].T
        self.relative_values = arrays[f"{name}.emb_rel_v"][0]
        self.width = self.relative_values.shape[1]
        scale = 1 / math.sqrt(self.width)
        layers = [(f"{name}.conv_{part}", scale if part == "q" else 1.0) for part in "qkv"]
        self.weight = mx.concatenate([arrays[f"{n}.weight"][0] * s for n, s in layers], axis=1)
        self.bias = mx.concatenate([arrays[f"{n}.bias"] * s for n, s in layers])
        self.output = Convolution(weights, f"{name}.conv_o")

    def __call__(self, x: mx.array) -> mx.array:
        """Attend over `x` (rows, channels)."""
        rows, channels = x.shape
        heads = (x @ self.weight + self.bias).reshape(rows, 3, -1, self.width)
        query, key, value = heads.transpose(1, 2, 0, 3)
        scores = query @ key.swapaxes(1, 2) + spread_band(query @ self.relative_keys)
        shares = softmax(scores)
        near = gather_band(shares, self.relative_values.shape[0])
        mixed = shares @ value + near @ self.relative_values
        return self.output(mixed.swapaxes(0, 1).reshape(rows, channels))


def spread_band(band: mx.array) -> mx.array:
    """Put `band` (heads, n, 2 w + 1) around the diagonal of zeros (heads, n, n).

    Rows one longer than those of the padded square shift by one column each when they are read as
    the square's: reshaping alone moves the band onto the diagonal.
    """
    heads, rows, width = band.shape
    square = mx.pad(band, [(0, 0), (0, 0), (0, rows)]).reshape(heads, -1)
    square = square[:, : rows * (rows + width - 1)].reshape(heads, rows, rows + width - 1)
    return square[:, :, width // 2 : width // 2 + rows]


def gather_band(square: mx.array, width: int) -> mx.array:
    """Take the `width` columns around the diagonal of `square` (heads, n, n): (heads, n, width)."""
    heads, rows, _ = square.shape
    edged = mx.pad(square, [(0, 0), (0, 0), (width // 2, width // 2)]).reshape(heads, -1)
    return mx.pad(edged, [(0, 0), (0, rows)]).reshape(heads, rows, rows + width)[:, :, :width]


class EncoderLayer:
    """Attention and a convolutional feed-forward, each added and then normalised."""

    def __init__(self, weights: Weights, index: int) -> None:
        """Take layer `index` of the encoder."""
        name = "enc_p.encoder"
        self.attention = Attention(weights, f"{name}.attn_layers.{index}")
        self.widen = Convolution(weights, f"{name}.ffn_layers.{index}.conv_1")
        self.narrow = Convolution(weights, f"{name}.ffn_layers.{index}.conv_2")
        self.norms = [LayerNorm(weights, f"{name}.norm_layers_{part}.{index}") for part in (1, 2)]

    def __call__(self, x: mx.array) -> mx.array:
        """Transform `x` (rows, channels)."""
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.narrow(mx.maximum(self.widen(x), 0)))


class TextEncoder:
    """Phoneme ids to features, and to the mean and log deviation of the latent frames."""

    def __init__(self, weights: Weights) -> None:
        """Take everything under `enc_p`."""
        self.embedding = weights.arrays["enc_p.emb.weight"]
        count = weights.count("enc_p.encoder.attn_layers")
        self.layers = [EncoderLayer(weights, index) for index in range(count)]
        self.project = Convolution(weights, "enc_p.proj")

    def __call__(self, ids: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        """Return features, means and log deviations, each (ids, channels)."""
        x = self.embedding[ids] * math.sqrt(self.embedding.shape[1])
        for layer in self.layers:
            x = layer(x)
        means, deviations = mx.split(self.project(x), 2, axis=1)
        return x, means, deviations
