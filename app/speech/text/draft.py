"""The words found so far, the last of which is still open to what follows it."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final

from app.speech.text.characters import respell
from app.speech.text.language import Context

_MARKS: Final = ",;:.!?"
"""From the weakest to the strongest."""

_LONGEST_JOINED: Final = 256


class Boundary(IntEnum):
    """What ends after a word."""

    NONE = 0
    SENTENCE = 1
    PARAGRAPH = 2
    TEXT = 3


@dataclass(slots=True)
class Token:
    """What is said, its span in the written text, its punctuation mark and what ends with it."""

    spoken: str
    start: int
    end: int
    mark: str = ""
    boundary: Boundary = Boundary.NONE


class Draft:
    """Collects tokens; all but the last are final."""

    def __init__(self) -> None:
        """Begin without a word."""
        self._tokens: deque[Token] = deque()
        self._before: tuple[str, ...] = ()
        self._open_end = -1
        self._joint = -1

    @property
    def last(self) -> Token | None:
        """The word that may still change."""
        return self._tokens[-1] if self._tokens else None

    @property
    def context(self) -> Context:
        """The words before the next one."""
        return Context(() if self.last and self.last.boundary else self._before)

    def touches(self, position: int) -> bool:
        """Tell whether nothing visible stands between the last word's letters and `position`."""
        last = self.last
        near = position in (self._open_end, self._joint)
        return bool(near and last and last.end - last.start < _LONGEST_JOINED)

    def joins(self, position: int) -> bool:
        """Tell whether a run at `position` goes on with the last word, over what has vanished."""
        return position == self._joint and self.touches(position)

    def add(self, written: str, spoken: str, start: int) -> None:
        """Add a word that is spoken otherwise than written; ", " parts it, a last "." ends."""
        self._remember(written)
        parts = spoken.removesuffix(".").split(", ")
        spans = divide(start, start + len(written), parts)
        tokens = [Token(part, *span, ",") for part, span in zip(parts, spans, strict=True)]
        tokens[-1].mark = ""
        self._tokens.extend(tokens)
        if spoken.endswith("."):
            self.mark(".")
            self.close(Boundary.SENTENCE)

    def add_run(self, written: str, spoken: str, start: int) -> None:
        """Add letters as they stand, to which more may be joined."""
        self._remember(written)
        self._tokens.append(Token(spoken, start, start + len(written)))
        self._open_end = start + len(written)

    def extend(self, spoken: str, end: int) -> None:
        """Go on with the last word up to `end`."""
        last = self._tokens[-1]
        last.spoken = respell(last.spoken + spoken)
        last.end = self._open_end = self._joint = end

    def vanish(self, start: int, end: int) -> None:
        """Leave out what stands from `start` to `end` without parting the letters around it."""
        if self.touches(start):
            self._joint = end

    def mark(self, mark: str) -> None:
        """Give the last word a punctuation mark, unless it has a stronger one."""
        last = self.last
        if last and not last.boundary and _MARKS.find(mark) > _MARKS.find(last.mark or " "):
            last.mark = mark
            self._open_end = self._joint = -1

    def close(self, boundary: Boundary) -> None:
        """End a sentence, a paragraph or the text after the last word."""
        if self.last:
            self.last.boundary = max(self.last.boundary, boundary)
            self._open_end = self._joint = -1

    def shift(self, distance: int) -> None:
        """Count positions from another place of the text."""
        self._open_end += distance
        self._joint += distance
        for token in self._tokens:
            token.start += distance
            token.end += distance

    def take_ended(self) -> Iterator[Token]:
        """Hand out the last word too, where it ends a sentence; only before another word."""
        yield from self.finished()
        if self.last and self.last.boundary:
            yield self._tokens.popleft()
            self._before = ()

    def finished(self) -> Iterator[Token]:
        """Hand out the words that can no longer change."""
        while len(self._tokens) > 1:
            yield self._tokens.popleft()

    def _remember(self, written: str) -> None:
        self._before = (*self.context.words[-2:], written)
        self._open_end = self._joint = -1


def divide(start: int, end: int, parts: list[str]) -> list[tuple[int, int]]:
    """Spans from `start` to `end` in proportion to the parts' lengths, exact for literal text."""
    total = sum(map(len, parts)) or 1
    edges = [start]
    said = 0
    for part in parts:
        said += len(part)
        edges.append(start + (end - start) * said // total)
    return list(pairwise(edges))
