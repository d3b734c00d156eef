"""espeak-ng through ctypes: text to IPA, clause by clause.

The library keeps global state: all of it belongs to one thread, and a voice is selected before
each sentence.
"""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import espeakng_loader

from app.errors import VoiceFileError

SYNCHRONOUS: Final = 2
DONT_EXIT: Final = 0x8000
UTF8: Final = 1
IPA: Final = 2
"""espeak-ng's speak_lib.h: AUDIO_OUTPUT_SYNCHRONOUS, espeakINITIALIZE_DONT_EXIT, the modes."""

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
    data = espeakng_loader.get_data_path().encode()
    if library.espeak_Initialize(SYNCHRONOUS, 0, data, DONT_EXIT) < 0:
        raise VoiceFileError("espeak-ng finds no data: reinstall espeakng-loader.")
    return library


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
