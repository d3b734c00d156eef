"""What only a finished file knows: the lengths that its first bytes should tell."""

from typing import IO, Final

from app.formats import MP3_DECODER_DELAY_SAMPLES, MP3_ENCODER_DELAY_SAMPLES, AudioFormat
from app.speech.tracks import WAV_HEADER_BYTES, make_wav_header

_PADDING_OFFSET: Final = 141
"""Of the delay and padding in a LAME tag, 12 bits each, counted from its "Info"."""

_CRC_OFFSET: Final = 154
"""Of the tag's CRC, which covers the frame up to here, counted from its "Info"."""

_LONGEST_TAG_BYTES: Final = 4 + 32 + _CRC_OFFSET
"""The frame header and the longest side information stand before the "Info"."""


def complete_header(file: IO[bytes], audio_format: AudioFormat, *, samples: int, rate: int) -> None:
    """Tell the true length of a finished `file` of `samples` coded at `rate` Hz, from its start.

    Only where libav does not do it, which is in WAV, written without it, and mp3. The file's
    position is its start afterwards.
    """
    if audio_format.name == "wav":
        size = file.seek(0, 2)
        file.seek(0)
        file.write(make_wav_header(rate, data_bytes=size - WAV_HEADER_BYTES))
    if audio_format.name == "mp3":
        tail = audio_format.stream_priming.tail_samples(samples, rate)
        _correct_lame_tag(file, tail + MP3_DECODER_DELAY_SAMPLES)
    file.seek(0)


def _correct_lame_tag(file: IO[bytes], padding_samples: int) -> None:
    """Write the padding into the LAME tag.

    libav counts at most one frame and 529 samples, where LAME may pad by up to 46 more.
    """
    file.seek(0)
    frame = bytearray(file.read(_LONGEST_TAG_BYTES))
    info = frame.index(b"Info")
    packed = MP3_ENCODER_DELAY_SAMPLES << 12 | padding_samples
    frame[info + _PADDING_OFFSET : info + _PADDING_OFFSET + 3] = packed.to_bytes(3, "big")
    covered = frame[: info + _CRC_OFFSET]
    file.seek(0)
    file.write(covered + compute_crc16(covered).to_bytes(2, "big"))


def compute_crc16(data: bytes | bytearray) -> int:
    """Return the CRC-16/ARC of `data`, as a LAME tag ends in (polynomial 0x8005, reflected)."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
