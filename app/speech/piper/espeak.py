"""espeak-ng through ctypes: text to IPA, clause by clause.

The library keeps global state: all of it belongs to one thread, and a voice is selected before
each sentence.
"""

import atexit
import ctypes
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import espeakng_loader

from app.errors import VoiceFileError

SYNCHRONOUS: Final = 2
DONT_EXIT: Final = 0x8000
UTF8: Final = 1
IPA: Final = 2
"""espeak-ng's speak_lib.h: AUDIO_OUTPUT_SYNCHRONOUS, espeakINITIALIZE_DONT_EXIT, the modes."""

LONGEST_PATH_BYTES: Final = 120
"""espeak-ng cuts the path of its data, with a file's name added, at 160 bytes (N_PATH_HOME)."""

LANGUAGE_SWITCH: Final = re.compile(r"\([^)]*\)")
"""What espeak puts around a word that it says in another language."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause's IPA, and the characters of the text that it covers."""

    ipa: str
    start: int
    end: int


@cache
def load_espeak() -> ctypes.CDLL:
    """Load and start espeak-ng; VoiceFileError if its library or data are not there."""
    try:
        library = ctypes.CDLL(espeakng_loader.get_library_path())
    except OSError as error:
        raise VoiceFileError("espeak-ng cannot be loaded: reinstall espeakng-loader.") from error
    library.espeak_SetVoiceByName.argtypes = [ctypes.c_char_p]
    library.espeak_TextToPhonemes.argtypes = [
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    data = shorten_path(espeakng_loader.get_data_path()).encode()
    if library.espeak_Initialize(SYNCHRONOUS, 0, data, DONT_EXIT) <= 0:
        raise VoiceFileError("espeak-ng finds no data: reinstall espeakng-loader.")
    return library


def shorten_path(path: str) -> str:
    """Return `path`, or a link to it that is short enough for espeak and lasts as long as we do."""
    if len(path.encode()) <= LONGEST_PATH_BYTES:
        return path
    folder = Path(tempfile.mkdtemp(prefix="espeak-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = folder / "espeak-ng-data"
    link.symlink_to(path)
    return str(link)


def select_voice(voice: str) -> None:
    """Choose the voice of the calls that follow; VoiceFileError if espeak-ng has no such one."""
    if load_espeak().espeak_SetVoiceByName(voice.encode()) != 0:
        raise VoiceFileError(f"espeak-ng has no voice {voice!r}, which the Piper voice needs.")


def read_clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of `text` as the selected voice says them; exhaust it before any other."""
    library = load_espeak()
    # A zero character would end the text early.
    encoded = text.replace("\0", " ").encode()
    buffer = ctypes.create_string_buffer(encoded)
    pointer = ctypes.c_void_p(ctypes.addressof(buffer))
    start = 0
    while pointer.value is not None:
        ipa = library.espeak_TextToPhonemes(ctypes.byref(pointer), UTF8, IPA).decode()
        end = _find_end(encoded, pointer.value, ctypes.addressof(buffer))
        yield Clause(LANGUAGE_SWITCH.sub("", ipa), start, end)
        start = end


def _find_end(encoded: bytes, position: int | None, base: int) -> int:
    """Return the character offset at which a clause ended.

    espeak has read one character further, to see that the clause was over; it keeps that one.
    """
    if position is None:
        return len(encoded.decode())
    return len(encoded[: position - base].decode()) - 1
