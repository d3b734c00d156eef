"""Counts and parts the containers of a body by walking their structure, not by searching."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from app.audit.mpeg_frames import find_adts_starts, find_mp3_starts
from app.formats import AudioFormat, find_format

_EBML_HEAD: Final = 0x1A45DFA3
_EBML_DESCENDED: Final = frozenset({0x18538067, 0x1F43B675})
"""Segment and Cluster, entered instead of skipped: a stream does not know their sizes."""

_FLAC_START: Final = re.compile(rb"fLaC[\x00\x80]\x00\x00\x22", re.DOTALL)
_WAV_START: Final = re.compile(rb"RIFF....WAVEfmt ", re.DOTALL)


def count_containers(data: bytes, audio_format: AudioFormat | str) -> int:
    """Return how many containers `data` holds; a body without any byte holds none.

    PCM has no container and counts as one. Raises InvalidRequestError for an unknown name.
    """
    return len(split_containers(data, audio_format))


def split_containers(data: bytes, audio_format: AudioFormat | str) -> list[bytes]:
    """Part `data` where containers begin; joined again, the parts are `data`.

    What precedes the first start, as garbage would, stays with the first part. Raises
    InvalidRequestError for an unknown name.
    """
    found = find_format(audio_format) if isinstance(audio_format, str) else audio_format
    starts = _FINDERS[found.name if found.coding is None else found.coding.muxer](data)
    edges = [0, *starts[1:], len(data)] if starts else []
    return [data[start:end] for start, end in pairwise(edges)]


def _find_pcm_starts(data: bytes) -> list[int]:
    return [0] if data else []


def _find_ogg_starts(data: bytes) -> list[int]:
    """Find pages that begin a stream (RFC 3533, section 6); several in a row begin together."""
    starts: list[int] = []
    position, was_first = data.find(b"OggS"), False
    while 0 <= position <= len(data) - 27:
        is_first = bool(data[position + 5] & 2)
        if is_first and not was_first:
            starts.append(position)
        was_first = is_first
        lacing = data[position + 27 : position + 27 + data[position + 26]]
        position = data.find(b"OggS", position + 27 + len(lacing) + sum(lacing))
    return starts


def _find_flac_starts(data: bytes) -> list[int]:
    """Find the marker with the header of the STREAMINFO that must follow (RFC 9639, section 8)."""
    return [match.start() for match in _FLAC_START.finditer(data)]


def _find_wav_starts(data: bytes) -> list[int]:
    """Follow RIFF forms by their sizes, and search on where a stream's size says nothing."""
    starts: list[int] = []
    match = _WAV_START.search(data)
    while match:
        starts.append(match.start())
        size = int.from_bytes(data[match.start() + 4 : match.start() + 8], "little")
        end = match.start() + 8 + size
        match = _WAV_START.search(data, end if end <= len(data) else match.end())
    return starts


def _find_mp4_starts(data: bytes) -> list[int]:
    """Walk the boxes at the top (ISO 14496-12, 4.2) and keep those that open a file."""
    starts: list[int] = []
    position = 0
    while position + 8 <= len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        if size == 1:
            size = int.from_bytes(data[position + 8 : position + 16], "big")
        if data[position + 4 : position + 8] == b"ftyp":
            starts.append(position)
        if size < 8:
            break
        position += size
    return starts


def _find_ebml_starts(data: bytes) -> list[int]:
    return [start for start, identity in _walk_ebml(data) if identity == _EBML_HEAD]


def _walk_ebml(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and identity of every element down to a cluster's blocks (RFC 8794)."""
    position = 0
    while position < len(data):
        start, identity_bytes = position, _measure_vint(data[position])
        position += identity_bytes
        if position >= len(data):
            return
        identity = int.from_bytes(data[start:position], "big")
        yield start, identity
        size_bytes = _measure_vint(data[position])
        size = int.from_bytes(data[position : position + size_bytes], "big")
        position += size_bytes
        if identity not in _EBML_DESCENDED:
            position += size & (1 << 7 * size_bytes) - 1


def _measure_vint(first: int) -> int:
    """Return how many bytes a variable-size integer has, from its first one."""
    return 9 - first.bit_length() if first else 1


_FINDERS: Final[Mapping[str, Callable[[bytes], list[int]]]] = MappingProxyType(
    {
        "pcm": _find_pcm_starts,
        "raw": _find_pcm_starts,
        "wav": _find_wav_starts,
        "mp3": find_mp3_starts,
        "adts": find_adts_starts,
        "ogg": _find_ogg_starts,
        "flac": _find_flac_starts,
        "webm": _find_ebml_starts,
        "mp4": _find_mp4_starts,
    }
)
