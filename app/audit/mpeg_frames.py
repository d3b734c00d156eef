"""Where encoders begin in bodies that are frame after frame: mp3 and AAC in ADTS.

Neither has a container. A body of joined files still shows where each began: by its ID3 tag, by
its Xing frame, by an encoder that starts without its bit reservoir, or by an encoder's signature.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

_BIT_RATES: Final = {
    3: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Layer III's kbit/s by version, MPEG-1 and MPEG-2 (ISO 11172-3 and 13818-3); index 0 is free."""

_SAMPLE_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_LOST_BITS: Final = 64
"""A running encoder throws bits away only when its reservoir is full, alignment apart."""

_SIGNATURE: Final = re.compile(rb"(?:Lavc|Lavf|libfaac |FAAC )\d")
"""What AAC encoders write into a fill element of their first frame."""

_SIGNED_FRAMES: Final = 256
"""libavcodec signs again after as many frames (libavcodec/aacenc.c)."""


@dataclass(frozen=True, slots=True)
class Mp3Frame:
    """One Layer III frame at byte `start`, `size` bytes long.

    `borrowed_bytes` are those it takes from the frames before (main_data_begin), `left_bits`
    those of its main data, the borrowed ones included, that it leaves unused.
    """

    start: int
    size: int
    borrowed_bytes: int
    left_bits: int
    has_xing: bool
    tag_bytes: int = 0

    @property
    def tagged(self) -> bool:
        """Whether an ID3 tag stands right before it, `tag_bytes` long."""
        return self.tag_bytes > 0


def find_mp3_starts(data: bytes) -> list[int]:
    """Return the bytes at which an mp3 encoder began: tags, Xing frames and restarts."""
    frames = list(_walk_mp3(data))
    uses_reservoir = any(frame.borrowed_bytes for frame in frames)
    heads = [frame.tagged or frame.has_xing for frame in frames]
    resets = [uses_reservoir and _has_reset(*pair) for pair in pairwise(frames)]
    begins = [a or b for a, b in zip(heads, [True, *resets], strict=False)]
    # LAME's flush may end in one frame of its own, which no encoder's whole output is.
    runs_on = [*(not later for later in begins[1:]), False]
    return [
        frame.start - frame.tag_bytes
        for index, frame in enumerate(frames)
        if heads[index] or index == 0 or (begins[index] and runs_on[index])
    ]


def _has_reset(last: Mp3Frame, frame: Mp3Frame) -> bool:
    """Tell whether bits that a running encoder would have borrowed were thrown away."""
    return not last.has_xing and not frame.borrowed_bytes and last.left_bits >= _LOST_BITS


def _walk_mp3(data: bytes) -> Iterator[Mp3Frame]:
    position, tag_bytes = 0, 0
    while position + 4 <= len(data):
        if data.startswith(b"ID3", position):
            tag_bytes = 10 + _read_syncsafe(data[position + 6 : position + 10])
            position += tag_bytes
        elif frame := _parse_mp3(data, position):
            yield replace(frame, tag_bytes=tag_bytes)
            position, tag_bytes = position + frame.size, 0
        else:
            position += 1


def _read_syncsafe(data: bytes) -> int:
    size = 0
    for byte in data:
        size = size << 7 | byte & 0x7F
    return size


def _parse_mp3(data: bytes, start: int) -> Mp3Frame | None:
    """Parse a frame by ISO 11172-3, 2.4.1; None where none begins."""
    header = int.from_bytes(data[start : start + 4], "big")
    version, layer = header >> 19 & 3, header >> 17 & 3
    rate_index, bit_rate_index = header >> 10 & 3, header >> 12 & 15
    if header >> 21 != 0x7FF or version == 1 or layer != 1 or rate_index == 3:
        return None
    if not 1 <= bit_rate_index <= 14:
        return None
    bit_rate = _BIT_RATES[3 if version == 3 else 2][bit_rate_index - 1] * 1000
    slots = 144 if version == 3 else 72
    size = slots * bit_rate // _SAMPLE_RATES[version][rate_index] + (header >> 9 & 1)
    if start + size > len(data):
        return None
    return _parse_side_information(data, start, size=size, header=header)


def _parse_side_information(data: bytes, start: int, *, size: int, header: int) -> Mp3Frame:
    """Read how much main data the frame borrows and uses (ISO 11172-3, 2.4.1.7)."""
    first, mono = header >> 19 & 3 == 3, header >> 6 & 3 == 3
    length = (17 if mono else 32) if first else (9 if mono else 17)
    offset = start + 4 + (0 if header >> 16 & 1 else 2)
    side = int.from_bytes(data[offset : offset + length], "big")
    bits = length * 8
    channels = 1 if mono else 2
    private = (5 if mono else 3) + 4 * channels if first else channels
    granule = 59 if first else 63
    position = (9 if first else 8) + private
    used = 0
    for _ in range((2 if first else 1) * channels):
        used += side >> (bits - position - 12) & 0xFFF
        position += granule
    borrowed = side >> (bits - (9 if first else 8))
    body = start + size - offset - length
    mark = data[offset + length : offset + length + 4]
    left = (borrowed + body) * 8 - used
    return Mp3Frame(start, size, borrowed, left, has_xing=mark in {b"Xing", b"Info"})


def find_adts_starts(data: bytes) -> list[int]:
    """Return the bytes at which an AAC encoder began, as far as encoders sign their first frame.

    ADTS has no header, so a body of unsigned frames counts as one. So do two encoders of which
    the second begins where the first would have signed again.
    """
    starts: list[int] = []
    begun = 0
    for index, (start, size) in enumerate(_walk_adts(data)):
        signed = _SIGNATURE.search(data, start, start + size) is not None
        if index == 0 or (signed and (index - begun) % _SIGNED_FRAMES):
            starts.append(start)
            begun = index
    return starts


def _walk_adts(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and size in bytes of each frame (ISO 13818-7, 6.2)."""
    position = 0
    while position + 7 <= len(data):
        header = int.from_bytes(data[position : position + 7], "big")
        size = header >> 13 & 0x1FFF
        if header >> 44 != 0xFFF or size < 7:
            position += 1
            continue
        yield position, size
        position += size
