"""What one stream has done so far, and those who are told of it as it goes."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from app.speech.stream import EncodedChunk
from app.web.problems import describe_error

Outcome = Literal["completed", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asked for, as it was understood; rates are in Hz."""

    id: str
    client: str
    model: str
    voice: str
    format_name: str
    sample_rate: int
    coded_rate: int


@dataclass(slots=True)
class Progress:
    """How far a stream is. Times are on the monotonic clock, in seconds; None: not yet."""

    asked: Asked
    samples: int = 0
    sent_bytes: int = 0
    opened_at: float = field(default_factory=time.monotonic)
    begun_at: float | None = None
    first_byte_at: float | None = None
    ended_at: float | None = None
    outcome: Outcome | None = None
    error: BaseException | None = None

    @property
    def audio_seconds(self) -> float:
        """How much sound was made and handed over."""
        return self.samples / self.asked.sample_rate

    @property
    def message(self) -> str:
        """What a person may be told of the failure; empty where there was none."""
        return describe_error(self.error).message if self.error else ""


class Observer(Protocol):
    """Is told what happens to streams, on the event loop, and must not wait."""

    def opened(self, progress: Progress) -> None:
        """Note that it was asked for; only here may an error be raised, which refuses it."""

    def queued(self, progress: Progress, position: int) -> None:
        """Note that it waits with `position - 1` others before it, or, with 0, begins."""

    def made(self, progress: Progress, piece: EncodedChunk) -> None:
        """Note a piece that is about to be sent; `progress` counts it already."""

    def ended(self, progress: Progress) -> None:
        """Note that it is over, one way or another; told once."""


class Follower:
    """Keeps one stream's progress and passes it on."""

    def __init__(self, asked: Asked, observers: Sequence[Observer]) -> None:
        """Follow a stream that was asked for just now."""
        self.progress: Final = Progress(asked)
        self._observers: Final = tuple(observers)

    def queue(self, position: int) -> None:
        """Note the position in the queue, 0 for having left it."""
        if position == 0:
            self.progress.begun_at = time.monotonic()
        for observer in self._observers:
            observer.queued(self.progress, position)

    async def follow(self, pieces: AsyncGenerator[EncodedChunk]) -> AsyncGenerator[EncodedChunk]:
        """Pass `pieces` on, noting each, and how they end; closes them."""
        for observer in self._observers:
            observer.opened(self.progress)
        outcome: Outcome = "cancelled"
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    self._note(piece)
                    yield piece
            outcome = "completed"
        except Exception as error:
            outcome, self.progress.error = "failed", error
            raise
        finally:
            self._end(outcome)

    def _note(self, piece: EncodedChunk) -> None:
        progress = self.progress
        progress.samples += piece.samples
        progress.sent_bytes += len(piece.data)
        if piece.data and progress.first_byte_at is None:
            progress.first_byte_at = time.monotonic()
        for observer in self._observers:
            observer.made(progress, piece)

    def _end(self, outcome: Outcome) -> None:
        self.progress.ended_at = time.monotonic()
        self.progress.outcome = outcome
        for observer in self._observers:
            observer.ended(self.progress)
