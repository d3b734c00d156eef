"""How espeak-ng is started; each in a fresh process, since it starts only once."""

import subprocess
import sys
from pathlib import Path

import espeakng_loader

PROGRAM = """
import espeakng_loader, sys
espeakng_loader.get_data_path = lambda: sys.argv[1]
from app.errors import VoiceFileError
from app.speech.piper.espeak import read_clauses, select_voice
try:
    select_voice("en-us")
    print("".join(clause.ipa for clause in read_clauses("Go!")))
except VoiceFileError as error:
    print(error.message)
"""


def speak_with_data_at(path: Path) -> str:
    command = [sys.executable, "-c", PROGRAM, str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return result.stdout.strip()


def test_data_at_a_path_too_long_for_espeak_is_found(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    deep.mkdir(parents=True)
    data = deep / "espeak-ng-data"
    data.symlink_to(espeakng_loader.get_data_path())
    assert speak_with_data_at(data).startswith("ɡˈoʊ")


def test_missing_data_is_a_voice_file_error(tmp_path: Path) -> None:
    assert speak_with_data_at(tmp_path / "none") == (
        "espeak-ng finds no data: reinstall espeakng-loader."
    )
