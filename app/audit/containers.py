"""Counts and parts the containers of a body while it arrives."""

from collections import deque
from collections.abc import Generator, Iterator
from itertools import pairwise
from typing import Final

from app.audit.arriving import StartFinder
from app.audit.mpeg_frames import LONGEST_TAG_BYTES
from app.audit.walkers import WALKERS
from app.formats import AudioFormat, find_format

_HEAD_BYTES: Final = 1 << 12
_FURTHEST_START_BYTES: Final = LONGEST_TAG_BYTES + (1 << 20)


def find_kind(audio_format: AudioFormat) -> str:
    """Return the kind of body that a format makes, a key of `WALKERS`."""
    if audio_format.coding is None:
        return "wav" if audio_format.name == "wav" else "pcm"
    return audio_format.coding.muxer


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
    finder = StartFinder(WALKERS[find_kind(found)])
    starts = sorted([*finder.feed(data), *finder.finish()])
    edges = [0, *starts[1:], len(data)] if starts else []
    return [data[start:end] for start, end in pairwise(edges)]


class Part:
    """One container of a body: a file to be read once, from its start to its end.

    `head` keeps the first 4 KiB of what was read.
    """

    def __init__(self, parting: "BodyParting", start_byte: int) -> None:
        """Begin at a byte of the body."""
        self.start_byte = start_byte
        self.size_bytes = 0
        self.head = b""
        self._parting = parting

    def read(self, size: int = 1 << 16) -> bytes:
        """Return up to `size` of the next bytes, none at the part's end."""
        data = self._parting.read(size)
        if self.size_bytes < _HEAD_BYTES:
            self.head += data[: _HEAD_BYTES - self.size_bytes]
        self.size_bytes += len(data)
        return data

    def drain(self) -> None:
        """Read what nobody wanted, so that the next part can begin."""
        while self.read():
            pass


class BodyParting:
    """Parts a body that comes in pieces; it holds only the bytes that are not yet decided."""

    def __init__(self, pieces: Iterator[bytes], kind: str) -> None:
        """Part `pieces`, which stay the caller's to close, as bodies of that kind."""
        self._pieces = pieces
        self._finder = StartFinder(WALKERS[kind])
        self._held = bytearray()
        self._handed = 0
        self._edges = deque[int]()
        self._ended = False

    @property
    def containers(self) -> int:
        """How many containers have begun so far."""
        return self._finder.body.starts_found

    @property
    def received_bytes(self) -> int:
        """How many bytes have come so far."""
        return self._finder.body.received

    @property
    def stray_bytes(self) -> int:
        """How many bytes lay between frames or pages and belong to none, so far."""
        return self._finder.body.stray_bytes

    @property
    def torn(self) -> bool:
        """Whether the body ended within something; known when all of it is read."""
        return self._finder.body.torn

    def parts(self) -> Generator[Part]:
        """Yield each container, to be read before the next; none where no container begins."""
        while not (self._edges or self._ended or self.received_bytes > _FURTHEST_START_BYTES):
            self._pull()
        if not self._edges:
            return
        # What precedes the first start stays with the first part.
        self._edges.popleft()
        while True:
            part = Part(self, self._handed)
            yield part
            part.drain()
            if not self._edges:
                return
            self._edges.popleft()

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes that belong to the part being read, none at its end."""
        while not (ready := self._count_ready()):
            if self._edges or self._ended:
                return b""
            self._pull()
        taken = bytes(memoryview(self._held)[: min(size, ready)])
        del self._held[: len(taken)]
        self._handed += len(taken)
        return taken

    def _count_ready(self) -> int:
        end = self._edges[0] if self._edges else self._finder.body.settled
        return end - self._handed

    def _pull(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            self._ended = True
            starts = self._finder.finish()
        else:
            self._held += piece
            starts = self._finder.feed(piece)
        # A start that shows only at the end can lie in what was already handed on.
        first = self.containers == len(starts)
        self._edges.extend(start for start in starts if start >= self._handed or first)
