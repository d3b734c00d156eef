"""Writes small Piper voices with random weights, for what the real voice does not have."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from tests.speech.piper.reference import Shape

Weights = dict[str, npt.NDArray[np.float32]]
RATE = 8_000


def list_layers(shape: Shape) -> Iterator[tuple[str, tuple[int, int, int], int]]:
    """Yield each convolution's name, PyTorch shape and dilation, in a Piper export's order."""
    hidden, speaker = shape.hidden, shape.speaker_channels
    for index in range(shape.layers):
        name = "enc_p.encoder"
        for part in "qkvo":
            yield f"{name}.attn_layers.{index}.conv_{part}", (hidden, hidden, 1), 1
        yield f"{name}.ffn_layers.{index}.conv_1", (2 * hidden, hidden, 3), 1
        yield f"{name}.ffn_layers.{index}.conv_2", (hidden, 2 * hidden, 3), 1
    yield "enc_p.proj", (2 * shape.inter, hidden, 1), 1
    yield from _list_predictor(shape)
    for number in range(0, 2 * shape.couplings, 2):
        yield from _list_coupling(shape, f"flow.flows.{number}")
    yield "dec.conv_pre", (shape.initial, shape.inter, 7), 1
    yield "dec.cond", (shape.initial, speaker, 1), 1
    yield from _list_blocks(shape)
    yield "dec.conv_post", (1, shape.initial >> len(shape.strides), 7), 1


def _list_predictor(shape: Shape) -> Iterator[tuple[str, tuple[int, int, int], int]]:
    hidden = shape.hidden
    yield "dp.pre", (hidden, hidden, 1), 1
    yield "dp.cond", (hidden, shape.speaker_channels, 1), 1
    yield "dp.proj", (hidden, hidden, 1), 1
    yield from _list_stack(hidden, "dp.convs")
    for number in (3, 5, 7):
        yield f"dp.flows.{number}.pre", (hidden, 1, 1), 1
        yield from _list_stack(hidden, f"dp.flows.{number}.convs")
        yield f"dp.flows.{number}.proj", (3 * shape.bins - 1, hidden, 1), 1


def _list_stack(hidden: int, name: str) -> Iterator[tuple[str, tuple[int, int, int], int]]:
    for index in range(3):
        yield f"{name}.convs_sep.{index}", (hidden, 1, 3), 3**index
        yield f"{name}.convs_1x1.{index}", (hidden, hidden, 1), 1


def _list_coupling(shape: Shape, name: str) -> Iterator[tuple[str, tuple[int, int, int], int]]:
    hidden, half = shape.hidden, shape.inter // 2
    yield f"{name}.pre", (hidden, half, 1), 1
    outputs = 2 * hidden * shape.flow_layers
    yield f"{name}.enc.cond_layer", (outputs, shape.speaker_channels, 1), 1
    for index in range(shape.flow_layers):
        last = index == shape.flow_layers - 1
        dilation = shape.flow_dilation**index
        yield f"{name}.enc.in_layers.{index}", (2 * hidden, hidden, 5), dilation
        outputs = hidden if last else 2 * hidden
        yield f"{name}.enc.res_skip_layers.{index}", (outputs, hidden, 1), 1
    yield f"{name}.post", (half, hidden, 1), 1


def _list_blocks(shape: Shape) -> Iterator[tuple[str, tuple[int, int, int], int]]:
    parts = ("convs1", "convs2") if shape.block_type == 1 else ("convs",)
    for number in range(len(shape.strides) * len(shape.block_kernels)):
        channels = shape.initial >> (number // len(shape.block_kernels) + 1)
        taps = shape.block_kernels[number % len(shape.block_kernels)]
        for part in parts:
            for index, dilation in enumerate(shape.block_dilations):
                name = f"dec.resblocks.{number}.{part}.{index}"
                yield name, (channels, channels, taps), 1 if part == "convs2" else dilation


def draw_weights(shape: Shape, seed: int) -> Weights:
    """Draw all weights of a voice, large enough that every layer matters."""
    random = np.random.default_rng(seed)

    def draw(*size: int, scale: float = 1.0) -> npt.NDArray[np.float32]:
        return (random.standard_normal(size) * scale).astype(np.float32)

    hidden, width = shape.hidden, shape.hidden // shape.heads
    weights = {
        "enc_p.emb.weight": draw(shape.vocabulary, hidden),
        "emb_g.weight": draw(shape.speakers, shape.speaker_channels),
        "dp.flows.0.m": draw(2, 1, scale=0.3),
        "dp.flows.0.logs": 1.5 + draw(2, 1, scale=0.3),
    }
    for name, size, _ in list_layers(shape):
        weights[f"{name}.weight"] = draw(*size, scale=1.2 / np.sqrt(size[1] * size[2]))
        if name != "dec.conv_post":
            weights[f"{name}.bias"] = draw(size[0], scale=0.3)
    for index, stride_taps in enumerate(shape.kernels):
        inputs = shape.initial >> index
        weights[f"dec.ups.{index}.weight"] = draw(inputs, inputs // 2, stride_taps, scale=0.4)
        weights[f"dec.ups.{index}.bias"] = draw(inputs // 2, scale=0.3)
    for norm in _list_norms(shape):
        weights[f"{norm}.gamma"] = 1 + draw(hidden, scale=0.3)
        weights[f"{norm}.beta"] = draw(hidden, scale=0.3)
    for index in range(shape.layers):
        for part in "kv":
            name = f"enc_p.encoder.attn_layers.{index}.emb_rel_{part}"
            weights[name] = draw(1, 2 * shape.window + 1, width)
    return weights


def _list_norms(shape: Shape) -> Iterator[str]:
    for part in (1, 2):
        for index in range(shape.layers):
            yield f"enc_p.encoder.norm_layers_{part}.{index}"
        for stack in ("dp.convs", *(f"dp.flows.{number}.convs" for number in (3, 5, 7))):
            for index in range(3):
                yield f"{stack}.norms_{part}.{index}"


def write_voice(folder: Path, weights: Weights, shape: Shape, *, folded: bool) -> Path:
    """Write the weights as the nodes of a Piper export, with its settings; return the ONNX's path.

    `folded` exports hide the names of weight-normed layers and the affine's logarithm.
    """
    tensors = dict(weights)
    nodes: list[onnx.NodeProto] = []
    for name, _, dilation in list_layers(shape):
        taken = f"{name}.weight"
        if folded and (".enc." in name or name.startswith("dec.resblocks")):
            taken = f"onnx::Conv_{1000 + len(nodes)}"
            tensors[taken] = tensors.pop(f"{name}.weight")
        nodes.append(_make_convolution(name, taken, tensors, dilations=[dilation]))
    for index, stride in enumerate(shape.strides):
        name, crop = f"dec.ups.{index}", (shape.kernels[index] - stride) // 2
        made = _make_convolution(
            name, f"{name}.weight", tensors, strides=[stride], pads=[crop, crop]
        )
        made.op_type = "ConvTranspose"
        nodes.append(made)
    nodes += _make_tables(tensors, folded=folded)
    graph = helper.make_graph(
        nodes, "voice", [], [], [numpy_helper.from_array(a, n) for n, a in tensors.items()]
    )
    path = folder / "xx_YY-tiny-high.onnx"
    onnx.save(helper.make_model(graph), path)
    _write_settings(path, shape)
    return path


def _make_convolution(
    name: str, weight: str, tensors: Weights, **numbers: list[int]
) -> onnx.NodeProto:
    bias = [f"{name}.bias"] if f"{name}.bias" in tensors else []
    inputs = [f"{name}.input", weight, *bias]
    path = f"/{name.replace('.', '/')}/Conv"
    return helper.make_node(
        "Conv",
        inputs,
        [f"{name}.output"],
        name=path,
        domain=None,
        doc_string=None,
        overload=None,
        **numbers,
    )


def _make_tables(tensors: Weights, *, folded: bool) -> list[onnx.NodeProto]:
    tensors["some_table"] = tensors.pop("enc_p.emb.weight")
    if folded:
        tensors["/dp/flows.0/Exp_output_0"] = np.exp(-tensors.pop("dp.flows.0.logs"))
    return [
        helper.make_node("Gather", ["some_table", "input"], ["embedded"]),
        helper.make_node("Gather", ["emb_g.weight", "sid"], ["speaker"]),
        helper.make_node("Sub", ["z", "dp.flows.0.m"], ["shifted"]),
        helper.make_node("Mul", ["shifted", "/dp/flows.0/Exp_output_0"], ["scaled"]),
    ]


def _write_settings(path: Path, shape: Shape) -> None:
    symbols = "_^$ .,;:?!abcdefghijklmnopqrstuvwxyzəɛɪʊʌɔɑæðθʃʒŋɹɡˈˌː"
    settings = {
        "audio": {"sample_rate": RATE, "quality": "high"},
        "espeak": {"voice": "en-us"},
        "inference": {"noise_scale": 0.667, "length_scale": 1.5, "noise_w": 0.8},
        "phoneme_id_map": {symbol: [number] for number, symbol in enumerate(symbols)},
        "num_speakers": shape.speakers,
        "speaker_id_map": {"zoe": 2, "amy": 0, "bob": 1},
    }
    path.with_name(f"{path.name}.json").write_text(json.dumps(settings), "utf-8")
