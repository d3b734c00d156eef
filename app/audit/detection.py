"""Which kind of body it is, by its own first bytes, else by what it was called."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.audit.arriving import StartFinder
from app.audit.containers import find_kind
from app.audit.sources import Body
from app.audit.walkers import WALKERS
from app.errors import UnreadableAudioError
from app.formats import FORMATS

_PEEKED_BYTES: Final = 1 << 13
"""Enough for two frames of the largest mp3, and for what says that a body is text."""

_MAGIC: Final = (
    ("ogg", re.compile(rb"OggS")),
    ("flac", re.compile(rb"fLaC")),
    ("wav", re.compile(rb"RIFF....WAVE", re.DOTALL)),
    ("webm", re.compile(rb"\x1a\x45\xdf\xa3")),
    ("mp4", re.compile(rb"....ftyp", re.DOTALL)),
    ("mp3", re.compile(rb"ID3[\x02-\x04]")),
)
_BARE_FRAMES: Final = (
    ("mp3", re.compile(rb"\xff[\xe2-\xfb]")),
    ("adts", re.compile(rb"\xff[\xf0\xf1\xf8\xf9]")),
)
"""Kinds without a mark, which are told by a whole frame."""

_TEXT: Final = re.compile(rb"[\t\r\n\x20-\x7e]{1,64}")
_OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "oga": "ogg",
        "mka": "webm",
        "mkv": "webm",
        "m4b": "mp4",
        "wave": "wav",
        "x-wav": "wav",
        "vnd.wave": "wav",
        "mpeg": "mp3",
        "mpga": "mp3",
        "x-flac": "flac",
        "aacp": "adts",
        "x-m4a": "mp4",
        "l16": "pcm",
    }
)
"""File name endings and subtypes of audio that are not names of ours."""


def recognise(first: bytes) -> str | None:
    """Return the kind of body that begins with these bytes, None if they do not say."""
    for kind, magic in _MAGIC:
        if magic.match(first):
            return kind
    for kind, sync in _BARE_FRAMES:
        if sync.match(first) and StartFinder(WALKERS[kind]).feed(first)[:1] == [0]:
            return kind
    return None


def choose_kind(body: Body, *, format_name: str | None) -> str:
    """Return the kind of a body, by its bytes, else by the format's name, else by its own names.

    PCM has no mark, so to call it that is believed. Raises UnreadableAudioError if nothing tells.
    """
    first = body.peek(_PEEKED_BYTES)
    if not first:
        raise UnreadableAudioError(f"There is no byte in it{body.tell_why_it_ended()}.")
    names = [name for name in (format_name, *body.names) if name]
    named = next((kind for kind in map(_find_named_kind, names) if kind is not None), None)
    recognised = recognise(first)
    if format_name is not None and named == "pcm":
        return named
    if recognised is not None:
        return recognised
    text = _quote_text(first)
    if text is not None:
        raise UnreadableAudioError(f"This is text and no audio: {text}")
    if named is None:
        raise UnreadableAudioError("It begins as no known audio does; --format can name it.")
    return named


def _find_named_kind(name: str) -> str | None:
    """Return the kind that a format, a file name or a media type means, None for an unknown one."""
    word = re.split(r"[./]", name.partition(";")[0].strip().lower())[-1]
    for audio_format in FORMATS.values():
        if word in {audio_format.name, audio_format.extension}:
            return find_kind(audio_format)
    other = _OTHER_NAMES.get(word, word)
    return other if other in WALKERS else None


def _quote_text(first: bytes) -> str | None:
    """Return the first line of a body that is text, as an error message is; None for another."""
    text = _TEXT.match(first.strip())
    if text is None or len(text[0]) < min(len(first.strip()), 16):
        return None
    return text[0].decode("ascii").splitlines()[0]
