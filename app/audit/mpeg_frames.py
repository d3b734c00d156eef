"""Where encoders begin in bodies that are frame after frame: mp3 and AAC in ADTS.

Neither has a container. A body of joined files still shows where each began: by its ID3 tag, by
its Xing frame, or by an encoder's signature. An mp3 that begins with neither tag nor Xing frame
cannot be told from one that goes on after silence, since LAME empties its bit reservoir in both;
what such a join inserts is for the comparison of sound to find.
"""

import re
from collections.abc import Generator
from typing import Final

from app.audit.arriving import Arriving

_BIT_RATES: Final = {
    3: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Layer III's kbit/s by version, MPEG-1 and MPEG-2 (ISO 11172-3 and 13818-3); index 0 is free."""

_SAMPLE_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_MP3_MARK: Final = re.compile(rb"ID3|\xff[\xe0-\xff]")
_ADTS_MARK: Final = re.compile(rb"\xff[\xf0-\xff]")
LONGEST_TAG_BYTES: Final = 1 << 24
"""A tag counts if a frame follows, so all of it is held; no picture in one is as large."""

_SIGNATURE: Final = re.compile(rb"(?:Lavc|Lavf|libfaac |FAAC )\d")
"""What AAC encoders write into a fill element of their first frame."""

_SIGNED_FRAMES: Final = 256
"""libavcodec signs again after as many frames (libavcodec/aacenc.c)."""


def walk_mp3(body: Arriving) -> Generator[None]:
    """Find where an mp3 began: its first frame, or ID3 tag, or Xing frame."""
    tag: int | None = None
    expected = 0
    while (yield from body.await_match(_MP3_MARK, 3)):
        yield from body.await_bytes(10)
        head = body.peek(10)
        tag_bytes, size = _measure_tag(head), _measure_mp3_frame(head)
        if tag_bytes:
            tag = body.position
        elif not (size and (yield from body.await_bytes(size))):
            body.torn = body.torn or (size > 0 and body.position == expected)
            body.skip(1)
            continue
        elif tag is not None or not body.starts_found or _has_xing(body.peek(40)):
            body.begin(tag)
            tag = None
        expected = _go_past(body, tag_bytes or size, expected=expected, undecided=tag)
    _note_a_cut_header(body, expected)


def _go_past(body: Arriving, size: int, *, expected: int, undecided: int | None = None) -> int:
    """Pass a tag or frame, count what lay before it and was none; return where the next begins."""
    if body.starts_found and expected:
        body.stray_bytes += body.position - expected
    body.torn = False
    body.hold(undecided)
    body.skip(size)
    return body.position


def _note_a_cut_header(body: Arriving, expected: int) -> None:
    """Note less than a header at the end: too short to be one of the tags that may follow."""
    body.torn = body.torn or 0 < body.received - expected < 4 <= expected


def _measure_tag(head: bytes) -> int:
    """Return the size of the ID3v2 tag that ten bytes begin, 0 for none (id3v2.4.0, 3.1)."""
    if not head.startswith(b"ID3") or len(head) < 10:
        return 0
    size = 10 + _read_syncsafe(head[6:])
    return size if size <= LONGEST_TAG_BYTES else 0


def _read_syncsafe(data: bytes) -> int:
    size = 0
    for byte in data:
        size = size << 7 | byte & 0x7F
    return size


def _measure_mp3_frame(head: bytes) -> int:
    """Return a frame's size in bytes from its first four, by ISO 11172-3, 2.4.1.3; 0 if none."""
    header = int.from_bytes(head[:4], "big")
    version, layer = header >> 19 & 3, header >> 17 & 3
    bit_rate_index, rate_index = header >> 12 & 15, header >> 10 & 3
    if header >> 21 != 0x7FF or version == 1 or layer != 1 or rate_index == 3:
        return 0
    if not 1 <= bit_rate_index <= 14:
        return 0
    bit_rate = _BIT_RATES[3 if version == 3 else 2][bit_rate_index - 1] * 1000
    slots = 144 if version == 3 else 72
    return slots * bit_rate // _SAMPLE_RATES[version][rate_index] + (header >> 9 & 1)


def _has_xing(frame: bytes) -> bool:
    """Tell whether a Xing or Info mark follows the side information of a frame."""
    first, mono = frame[1] >> 3 & 3 == 3, frame[3] >> 6 == 3
    side_bytes = (17 if mono else 32) if first else (9 if mono else 17)
    return frame[4 + side_bytes : 8 + side_bytes] in {b"Xing", b"Info"}


def walk_adts(body: Arriving) -> Generator[None]:
    """Find where an AAC encoder began, as far as encoders sign their first frame.

    ADTS has no header, so a body of unsigned frames counts as one. So do two encoders of which
    the second begins where the first would have signed again.
    """
    index = begun = expected = 0
    while (yield from body.await_match(_ADTS_MARK, 2)):
        size = _measure_adts_frame(body.peek(7)) if (yield from body.await_bytes(7)) else 0
        if not size:
            body.skip(1)
            continue
        whole = yield from body.await_bytes(size)
        signed = _SIGNATURE.search(body.peek(size)) is not None
        if index == 0 or (signed and (index - begun) % _SIGNED_FRAMES):
            body.begin()
            begun = index
        index += 1
        expected = _go_past(body, size, expected=expected)
        body.torn = not whole
    _note_a_cut_header(body, expected)


def _measure_adts_frame(head: bytes) -> int:
    """Return a frame's size in bytes from its first seven, 0 if none (ISO 13818-7, 6.2)."""
    header = int.from_bytes(head, "big")
    size = header >> 13 & 0x1FFF
    # The layer is always 0, which tells it from mp3.
    return size if header >> 44 == 0xFFF and not header >> 41 & 3 and size >= 7 else 0
