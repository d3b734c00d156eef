"""Where encoders begin in bodies that are frame after frame: mp3 and AAC in ADTS.

Neither has a container. A body of joined files still shows where each began: by its ID3 tag, by
its Xing frame, or by an encoder's signature. An mp3 that begins with neither tag nor Xing frame
cannot be told from one that goes on after silence, since LAME empties its bit reservoir in both;
what such a join inserts is for the comparison of sound to find.
"""

import re
from collections.abc import Iterator
from typing import Final

_BIT_RATES: Final = {
    3: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Layer III's kbit/s by version, MPEG-1 and MPEG-2 (ISO 11172-3 and 13818-3); index 0 is free."""

_SAMPLE_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_SIGNATURE: Final = re.compile(rb"(?:Lavc|Lavf|libfaac |FAAC )\d")
"""What AAC encoders write into a fill element of their first frame."""

_SIGNED_FRAMES: Final = 256
"""libavcodec signs again after as many frames (libavcodec/aacenc.c)."""


def find_mp3_starts(data: bytes) -> list[int]:
    """Return the bytes at which an mp3 began: its first frame, or ID3 tag, or Xing frame."""
    starts: list[int] = []
    position, tag = 0, -1
    while position + 4 <= len(data):
        if data.startswith(b"ID3", position):
            tag = position
            position += 10 + _read_syncsafe(data[position + 6 : position + 10])
        elif size := _measure_mp3_frame(data, position):
            if tag >= 0 or not starts or _has_xing(data, position):
                starts.append(position if tag < 0 else tag)
            position, tag = position + size, -1
        else:
            position += 1
    return starts


def _read_syncsafe(data: bytes) -> int:
    size = 0
    for byte in data:
        size = size << 7 | byte & 0x7F
    return size


def _measure_mp3_frame(data: bytes, start: int) -> int:
    """Return a frame's size in bytes by ISO 11172-3, 2.4.1.3; 0 where no whole one begins."""
    header = int.from_bytes(data[start : start + 4], "big")
    version, layer = header >> 19 & 3, header >> 17 & 3
    bit_rate_index, rate_index = header >> 12 & 15, header >> 10 & 3
    if header >> 21 != 0x7FF or version == 1 or layer != 1 or rate_index == 3:
        return 0
    if not 1 <= bit_rate_index <= 14:
        return 0
    bit_rate = _BIT_RATES[3 if version == 3 else 2][bit_rate_index - 1] * 1000
    slots = 144 if version == 3 else 72
    size = slots * bit_rate // _SAMPLE_RATES[version][rate_index] + (header >> 9 & 1)
    return size if start + size <= len(data) else 0


def _has_xing(data: bytes, start: int) -> bool:
    """Tell whether a Xing or Info mark follows the side information of the frame at `start`."""
    first, mono = data[start + 1] >> 3 & 3 == 3, data[start + 3] >> 6 == 3
    side_bytes = (17 if mono else 32) if first else (9 if mono else 17)
    return data[start + 4 + side_bytes : start + 8 + side_bytes] in {b"Xing", b"Info"}


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
