"""Decodes one container at a time while its bytes arrive, and holds no more than a frame of it."""

import re
import tempfile
from collections.abc import Generator
from contextlib import suppress
from typing import IO, Final, Protocol

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.codec.context import Flags2
from av.container import InputContainer

from app.audit.containers import Part
from app.audit.decoding import DEMUXERS, read_pcm, to_float
from app.speech.engine import Samples

LOWEST_RATE: Final = 1_000
HIGHEST_RATE: Final = 768_000
_SPOOL_MEMORY_BYTES: Final = 1 << 20
UNREADABLE: Final = (av.FFmpegError, ValueError, IndexError, OverflowError, MemoryError)
"""What PyAV raises for bytes that it cannot make sense of."""


_LAME_PADDING: Final = re.compile(rb"(?:Xing|Info).{137}(...)", re.DOTALL)
"""The encoder's delay and padding in a Xing frame, 12 bits each (LAME's VbrTag.c)."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Segment:
    """What a container holds, as far as it was decoded.

    `samples` are all that its frames hold, as MediaSource plays them, and `hidden_samples` those
    among them that its header tells a plain player to skip: the encoder's delay and padding. Both
    are at `rate` Hz, 0 before the first block. `fault` says what is wrong with it.
    """

    def __init__(self, part: Part, kind: str, *, pcm_rate: int) -> None:
        """Decode a part of a body of that kind; `pcm_rate` in Hz is for PCM, which has none."""
        self.rate = 0
        self.samples = 0
        self.hidden_samples = 0
        self.fault: str | None = None
        self.start_byte = part.start_byte
        self._part = part
        self._kind = kind
        self._pcm_rate = pcm_rate

    @property
    def size_bytes(self) -> int:
        """How many bytes of it were read."""
        return self._part.size_bytes

    @property
    def seconds(self) -> float:
        """How long it plays, with all that its frames hold."""
        return self.samples / self.rate if self.rate else 0.0

    def decode(self) -> Generator[Samples]:
        """Yield its mono float samples, frame by frame, to the part's end."""
        for block in self._choose_decoder():
            self.samples += block.size
            yield block
        self._part.drain()
        if self._kind == "mp3":
            # libav reads the padding at the end only of what it can seek in.
            self.hidden_samples = max(self.hidden_samples, _read_lame_padding(self._part.head))

    def _choose_decoder(self) -> Generator[Samples]:
        if self._kind == "pcm":
            return self._decode_pcm()
        return self._decode_spooled() if self._kind == "mp4" else self._decode_file(self._part)

    def _decode_pcm(self) -> Generator[Samples]:
        self.rate = self._pcm_rate
        odd = b""
        while data := self._part.read():
            whole = odd + data
            odd = whole[len(whole) & ~1 :]
            yield read_pcm(whole)
        if odd:
            self.fault = "it ends within a sample"

    def _decode_spooled(self) -> Generator[Samples]:
        """Decode an MP4 from a temporary file, since its index may stand at its end."""
        with tempfile.SpooledTemporaryFile(_SPOOL_MEMORY_BYTES) as file:
            while data := self._part.read():
                file.write(data)
            file.seek(0)
            yield from self._decode_file(file)
            file.seek(0)
            plain = _count_plain_samples(file)
        self.hidden_samples = max(self.samples - plain, 0) if plain is not None else 0

    def _decode_file(self, file: "_Readable | IO[bytes]") -> Generator[Samples]:
        options = {"ignore_editlist": "1"} if self._kind == "mp4" else {}
        try:
            with av.open(file, "r", format=DEMUXERS[self._kind], options=options) as container:
                find_codec(container).flags2 |= Flags2.skip_manual
                yield from self._decode_packets(container)
        except UNREADABLE as error:
            self._blame(error)

    def _decode_packets(self, container: InputContainer) -> Generator[Samples]:
        for packet in container.demux(audio=0):
            if packet.has_sidedata("skip_samples"):
                self.hidden_samples += _count_skipped(packet)
            frames: list[av.AudioFrame] = []
            try:
                frames = list(packet.decode())
            except UNREADABLE as error:
                self._blame(error)
            for frame in frames:
                yield self._read_frame(frame)

    def _read_frame(self, frame: av.AudioFrame) -> Samples:
        if not LOWEST_RATE <= frame.sample_rate <= HIGHEST_RATE:
            raise ValueError(f"a sample rate of {frame.sample_rate} Hz")
        if self.rate not in {0, frame.sample_rate}:
            self.fault = self.fault or f"its rate changes to {frame.sample_rate} Hz"
        self.rate = self.rate or frame.sample_rate
        return to_float(frame)

    def _blame(self, error: Exception) -> None:
        said = error.strerror if isinstance(error, av.FFmpegError) else str(error)
        self.fault = self.fault or f"cannot be decoded: {said}"


def find_codec(container: InputContainer) -> AudioCodecContext:
    """Return the decoder of the first audio stream; raises ValueError where there is none."""
    for stream in container.streams.audio[:1]:
        # PyAV leaves it out for a codec that it does not know, though its types say otherwise.
        codec: AudioCodecContext | None = stream.codec_context
        if codec is not None:
            return codec
    raise ValueError("it holds no sound in a known codec")


def _count_skipped(packet: "av.Packet[av.AudioStream]") -> int:
    """Add up how much a decoder is told to skip: two numbers of 32 bits, at the start and end."""
    return int(np.frombuffer(bytes(packet.get_sidedata("skip_samples")), "<u4", 2).sum())


def _read_lame_padding(head: bytes) -> int:
    found = _LAME_PADDING.search(head)
    packed = int.from_bytes(found[1], "big") if found else 0
    return (packed >> 12) + (packed & 0xFFF)


def _count_plain_samples(file: IO[bytes]) -> int | None:
    """Count what a player hears that heeds the edit list; None where libav cannot say."""
    with suppress(*UNREADABLE), av.open(file, "r", format="mp4") as container:
        find_codec(container)
        return sum(frame.samples for frame in container.decode(audio=0))
    return None
