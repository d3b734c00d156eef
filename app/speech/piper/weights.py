"""A Piper voice's weights, converted once from ONNX to safetensors and checked by hash.

The cache file's name holds the hash of the ONNX file, the converter's version and the hash of the
cache file itself: a changed voice, a newer converter and a damaged cache all read as no cache.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.errors import VoiceFileError
from app.mlx_cpu import mx

CONVERTER: Final = "1"
"""Raise it whenever the layout of the cached weights changes."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A voice's arrays under their PyTorch names, and its strides, dilations and crops by layer.

    Convolutions are (taps, in, out), transposed ones (taps, in, out), depthwise ones (taps, 1, out)
    and embedding tables (entries, channels).
    """

    arrays: Mapping[str, mx.array]
    strides: Mapping[str, int]
    dilations: Mapping[str, int]
    crops: Mapping[str, int]

    def count(self, prefix: str, *, step: int = 1) -> int:
        """Return how many layers are numbered `prefix`.0, `prefix`.step, ... without a hole."""
        number = 0
        while any(name.startswith(f"{prefix}.{number * step}.") for name in self.arrays):
            number += 1
        return number


def load_weights(onnx_path: Path, *, cache: Path) -> Weights:
    """Return the voice's weights from `cache`, converting `onnx_path` first if need be.

    VoiceFileError if the ONNX file is missing, damaged or not a Piper voice.
    """
    try:
        source = hash_file(onnx_path)
    except OSError as error:
        raise VoiceFileError(f"The voice file {onnx_path.name} cannot be read.") from error
    prefix = f"{source}-{CONVERTER}-"
    for path in sorted(cache.glob(f"{prefix}*.safetensors")):
        if path.stem.removeprefix(prefix) == hash_file(path):
            return _read(path)
    return _read(convert(onnx_path, cache=cache, prefix=prefix))


def convert(onnx_path: Path, *, cache: Path, prefix: str) -> Path:
    """Write the weights of `onnx_path` into `cache` in one step, and return the file's path."""
    # The parser is only needed here: a start from the cache does not pay for importing it.
    from app.speech.piper.onnx_graph import read_graph  # noqa: PLC0415 - see above

    graph = read_graph(onnx_path)
    cache.mkdir(parents=True, exist_ok=True)
    arrays = {name: mx.array(array) for name, array in graph.weights.items()}
    numbers = {
        "strides": json.dumps(graph.strides),
        "dilations": json.dumps(graph.dilations),
        "crops": json.dumps(graph.crops),
    }
    with _scratch_file(cache) as scratch:
        mx.save_safetensors(str(scratch), arrays, numbers)
        path = cache / f"{prefix}{hash_file(scratch)}.safetensors"
        scratch.replace(path)
    return path


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> Weights:
    # MLX's stub gives the pair's parts every type that they can have for any kind of file.
    loaded: tuple[Any, Any] = mx.load(str(path), return_metadata=True)  # type: ignore[assignment]
    arrays, numbers = loaded
    mx.eval(arrays)
    return Weights(arrays, *(json.loads(numbers[key]) for key in ("strides", "dilations", "crops")))


@contextmanager
def _scratch_file(folder: Path) -> Iterator[Path]:
    """Give an empty file in `folder` that is gone afterwards, unless it was moved into place."""
    handle, name = tempfile.mkstemp(".safetensors", "scratch-", folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
