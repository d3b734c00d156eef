"""Reads the weights of a Piper voice out of its ONNX graph, under their PyTorch names.

Exporters rename some weights (`onnx::Conv_8168`) and fold others, but a convolution's bias keeps
its name, and the graph says which weight goes with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it ships no stubs
from onnx import numpy_helper

from app.errors import VoiceFileError

Weights = dict[str, npt.NDArray[np.float32]]

EMBEDDINGS: Final = {"input": "enc_p.emb.weight", "sid": "emb_g.weight"}
"""The graph's inputs, and the tables that are indexed by them."""
AFFINE: Final = "dp.flows.0"


@dataclass(slots=True)
class Graph:
    """A voice as read: convolution weights channel-last, strides and dilations by layer."""

    weights: Weights = field(default_factory=dict)
    strides: dict[str, int] = field(default_factory=dict)
    dilations: dict[str, int] = field(default_factory=dict)
    crops: dict[str, int] = field(default_factory=dict)


def read_graph(path: Path) -> Graph:
    """Read the voice at `path`; VoiceFileError if it is missing, damaged or no Piper voice."""
    try:
        model = onnx.load(path)
    except OSError as error:
        raise VoiceFileError(f"The voice file {path.name} cannot be read.") from error
    except (DecodeError, ValueError) as error:
        raise VoiceFileError(f"The voice file {path.name} is damaged or not ONNX.") from error
    graph = _collect(model.graph)
    missing = [name for name in _expected() if name not in graph.weights]
    if missing:
        raise VoiceFileError(
            f"The voice file {path.name} is not a Piper voice: it has no {missing[0]}."
        )
    return graph


def _expected() -> Iterator[str]:
    yield from ("enc_p.emb.weight", "enc_p.proj.weight", "dp.proj.weight", "dp.flows.0.scale")
    yield from ("flow.flows.0.pre.weight", "dec.conv_pre.weight", "dec.conv_post.weight")


def _collect(source: onnx.GraphProto) -> Graph:
    tensors = {tensor.name: tensor for tensor in source.initializer}
    tensors |= dict(_constants(source))
    graph = Graph()
    for name, tensor in tensors.items():
        if name.rpartition(".")[2] in {"gamma", "beta", "emb_rel_k", "emb_rel_v", "m"}:
            graph.weights[name] = _floats(tensor)
    for node in source.node:
        if node.op_type in {"Conv", "ConvTranspose"}:
            _add_convolution(graph, node, tensors)
        elif node.op_type == "Gather" and node.input[1] in EMBEDDINGS:
            graph.weights[EMBEDDINGS[node.input[1]]] = _floats(tensors[node.input[0]])
    _add_affine(graph, source, tensors)
    return graph


def _constants(source: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Yield the tensors that some exporters keep in Constant nodes."""
    for node in source.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    yield node.output[0], attribute.t


def _add_convolution(
    graph: Graph, node: onnx.NodeProto, tensors: Mapping[str, onnx.TensorProto]
) -> None:
    names = list(node.input[1:])
    layer = _layer_name(node, names)
    weight = _floats(tensors[names[0]])
    transposed = node.op_type == "ConvTranspose"
    graph.weights[f"{layer}.weight"] = np.ascontiguousarray(
        weight.transpose(2, 0, 1) if transposed else weight.transpose(2, 1, 0)
    )
    if len(names) > 1:
        graph.weights[f"{layer}.bias"] = _floats(tensors[names[1]])
    numbers = {item.name: list(item.ints) for item in node.attribute if item.ints}
    graph.dilations[layer] = numbers.get("dilations", [1])[0]
    if transposed:
        graph.strides[layer] = numbers.get("strides", [1])[0]
        graph.crops[layer] = numbers.get("pads", [0])[0]


def _layer_name(node: onnx.NodeProto, names: list[str]) -> str:
    """Return the PyTorch path of a convolution, from whichever of its parts still tells it."""
    for name in names:
        layer, _, part = name.rpartition(".")
        if part in {"weight", "bias"}:
            return layer
    return ".".join(node.name.strip("/").split("/")[:-1])


def _add_affine(
    graph: Graph, source: onnx.GraphProto, tensors: Mapping[str, onnx.TensorProto]
) -> None:
    """Add exp(-logs) of the duration predictor's last flow, which the exporter may have folded."""
    if f"{AFFINE}.logs" in tensors:
        graph.weights[f"{AFFINE}.scale"] = np.exp(-_floats(tensors[f"{AFFINE}.logs"]))
        return
    shifted = {node.output[0] for node in source.node if f"{AFFINE}.m" in node.input}
    for node in source.node:
        if node.op_type == "Mul" and shifted & set(node.input):
            for name in set(node.input) & set(tensors):
                graph.weights[f"{AFFINE}.scale"] = _floats(tensors[name])


def _floats(tensor: onnx.TensorProto) -> npt.NDArray[np.float32]:
    return numpy_helper.to_array(tensor).astype(np.float32)
