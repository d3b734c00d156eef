"""How each kind of container is walked: by its structure, not by searching, where it has one."""

import re
from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import Final

from app.audit.arriving import Arriving, Walker
from app.audit.mpeg_frames import walk_adts, walk_mp3

_EBML_HEAD: Final = 0x1A45DFA3
_EBML_DESCENDED: Final = frozenset({0x18538067, 0x1F43B675})
"""Segment and Cluster, entered instead of skipped: a stream does not know their sizes."""

_EBML_HEADER_BYTES: Final = 16
"""The longest identity and the longest size of an element, 8 bytes each (RFC 8794)."""

_OGG_PAGE: Final = re.compile(rb"OggS")
_FLAC_START: Final = re.compile(rb"fLaC[\x00\x80]\x00\x00\x22", re.DOTALL)
_WAV_START: Final = re.compile(rb"RIFF....WAVEfmt ", re.DOTALL)
_ENDLESS_WAV_BYTES: Final = 0x7FFFF000
"""The size from which on a RIFF header means that its writer did not know; 0 means it too."""


def walk_pcm(body: Arriving) -> Generator[None]:
    """Begin at the first byte, if there is one: PCM has no container."""
    if (yield from body.await_bytes(1)):
        body.begin()


def walk_ogg(body: Arriving) -> Generator[None]:
    """Find pages that begin a stream (RFC 3533, section 6); several in a row begin together."""
    was_first, expected = False, 0
    while (yield from body.await_match(_OGG_PAGE, 4)):
        if not (yield from body.await_bytes(27)):
            body.torn = True
            return
        head = body.peek(27)
        yield from body.await_bytes(27 + head[26])
        is_first = bool(head[5] & 2)
        if is_first and not was_first:
            body.begin()
        body.stray_bytes += body.position - expected if body.starts_found and expected else 0
        was_first = is_first
        lacing = body.peek(27 + head[26])[27:]
        body.skip(27 + len(lacing) + sum(lacing))
        expected = body.position
        # Every stream ends in a page that says so.
        body.torn = not head[5] & 4


def walk_flac(body: Arriving) -> Generator[None]:
    """Find the marker with the header of the STREAMINFO that must follow (RFC 9639, section 8)."""
    while (yield from body.await_match(_FLAC_START, 8)):
        body.begin()
        body.skip(8)


def walk_wav(body: Arriving) -> Generator[None]:
    """Follow RIFF forms by their sizes, and search on where a stream's size says nothing.

    The forms within one that claims more than the whole body were joined on as well.
    """
    end, within = 0, list[int]()
    while (yield from body.await_match(_WAV_START, 16)):
        if body.position < end:
            within.append(body.position)
        else:
            within.clear()
            body.begin()
            size = int.from_bytes(body.peek(8)[4:], "little")
            end = body.position + 8 + size if 0 < size < _ENDLESS_WAV_BYTES else 0
        body.skip(16)
    body.torn = body.received < end
    for start in within if body.torn else ():
        body.begin(start)


def walk_mp4(body: Arriving) -> Generator[None]:
    """Walk the boxes at the top (ISO 14496-12, 4.2) and find those that open a file."""
    while (yield from body.await_bytes(8)):
        yield from body.await_bytes(16)
        head = body.peek(16)
        size = int.from_bytes(head[:4], "big")
        if size == 1:
            size = int.from_bytes(head[8:], "big")
        if head[4:8] == b"ftyp":
            body.begin()
        if size < 8:
            return
        body.skip(size)
    body.torn = body.received > body.position


def walk_ebml(body: Arriving) -> Generator[None]:
    """Find EBML heads among the elements down to a cluster's blocks (RFC 8794)."""
    while (yield from body.await_bytes(1)):
        yield from body.await_bytes(_EBML_HEADER_BYTES)
        head = body.peek(_EBML_HEADER_BYTES)
        identity_bytes = _measure_vint(head[0])
        if len(head) <= identity_bytes:
            body.torn = True
            return
        identity = int.from_bytes(head[:identity_bytes], "big")
        if identity == _EBML_HEAD:
            body.begin()
        size_bytes = _measure_vint(head[identity_bytes])
        size = int.from_bytes(head[identity_bytes : identity_bytes + size_bytes], "big")
        body.skip(identity_bytes + size_bytes)
        if identity not in _EBML_DESCENDED:
            body.skip(size & (1 << 7 * size_bytes) - 1)


def _measure_vint(first: int) -> int:
    """Return how many bytes a variable-size integer has, from its first one."""
    return 9 - first.bit_length() if first else 1


WALKERS: Final[Mapping[str, Walker]] = MappingProxyType(
    {
        "pcm": walk_pcm,
        "wav": walk_wav,
        "mp3": walk_mp3,
        "adts": walk_adts,
        "ogg": walk_ogg,
        "flac": walk_flac,
        "webm": walk_ebml,
        "mp4": walk_mp4,
    }
)
"""By kind: the muxer's name where libav has one."""
