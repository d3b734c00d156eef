"""What a Piper voice's JSON says about it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.errors import VoiceFileError
from app.speech.engine import Voice
from app.speech.piper.phonemes import END, PAD, START
from app.speech.piper.vits import Scales

DEFAULT_SCALES: Final = {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8}
"""Piper's own, for a voice that does not say."""


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """A voice's rate in Hz, its espeak voice, scales, phoneme ids and speakers, by name."""

    sample_rate: int
    espeak_voice: str
    scales: Scales
    id_map: Mapping[str, Sequence[int]]
    speakers: Mapping[str, int]
    language: str


def read_config(onnx_path: Path) -> VoiceConfig:
    """Read `<onnx_path>.json`; VoiceFileError if it is missing, damaged or not a Piper voice's."""
    path = onnx_path.with_name(f"{onnx_path.name}.json")
    try:
        return _parse(json.loads(path.read_text("utf-8")), onnx_path.stem)
    except OSError as error:
        raise VoiceFileError(f"The voice's settings {path.name} cannot be read.") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise VoiceFileError(f"{path.name} is damaged or not a Piper voice's.") from error


def _parse(found: dict[str, Any], stem: str) -> VoiceConfig:
    inference = DEFAULT_SCALES | found.get("inference", {})
    id_map = {key: tuple(map(int, ids)) for key, ids in found["phoneme_id_map"].items()}
    for symbol in (START, END, PAD):
        id_map[symbol]
    return VoiceConfig(
        sample_rate=int(found["audio"]["sample_rate"]),
        espeak_voice=str(found["espeak"]["voice"]),
        scales=Scales(
            noise=float(inference["noise_scale"]),
            length=float(inference["length_scale"]),
            rhythm_noise=float(inference["noise_w"]),
        ),
        id_map=id_map,
        speakers={str(name): int(id_) for name, id_ in found.get("speaker_id_map", {}).items()},
        language=stem.split("-", maxsplit=1)[0].replace("_", "-"),
    )


def name_voices(config: VoiceConfig, stem: str) -> tuple[Voice, ...]:
    """Return the voices of a model: its speakers, or the one that its file is named after.

    Piper's files are named language-name-quality, for example en_US-joe-medium.
    """
    parts = stem.split("-")
    alone = "-".join(parts[1:-1]) if len(parts) > 2 else stem
    names = sorted(config.speakers, key=config.speakers.__getitem__) or [alone]
    return tuple(Voice(name, name.replace("_", " ").title(), config.language) for name in names)
