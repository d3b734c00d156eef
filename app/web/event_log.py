"""What a client may read of its streams beside the sound: numbered events, kept for a while."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import anyio
import msgspec

from app.errors import StreamInUseError, UnknownStreamError
from app.speech.stream import EncodedChunk
from app.web.problems import describe_error
from app.web.progress import Progress

LARGEST_LOG_BYTES: Final = 2**20
"""What one stream's events may hold: about 10,000 words with their times."""

MOST_ENDED_LOGS: Final = 256


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its number from 1, its name, and its data as JSON."""

    number: int
    name: str
    data: bytes


class EventLog:
    """The events of one stream. The oldest give way once there are too many bytes of them."""

    def __init__(self, owner: str) -> None:
        """Keep events for the client named `owner`."""
        self.owner: Final = owner
        self.ended_at: float | None = None
        self._events: Final[deque[Event]] = deque()
        self._bytes = 0
        self._next_number = 1
        self._changed = anyio.Event()

    def add(self, name: str, fields: Mapping[str, Any]) -> None:
        """Append an event and wake whoever waits for one."""
        event = Event(self._next_number, name, msgspec.json.encode(fields))
        self._next_number += 1
        self._events.append(event)
        self._bytes += len(event.data)
        while self._bytes > LARGEST_LOG_BYTES:
            self._bytes -= len(self._events.popleft().data)
        self._wake()

    def end(self, at: float) -> None:
        """Nothing follows; `at` is a time on the clock of those who keep the log, in seconds."""
        self.ended_at = at
        self._wake()

    def read(self, after: int) -> list[Event]:
        """Give the events there are that follow number `after`.

        Where some of them are gone already, an event `lost` says so and comes first.
        """
        if not self._events:
            return []
        first = self._events[0].number
        if after + 1 < first:
            lost = Event(first - 1, "lost", msgspec.json.encode({"before": first}))
            return [lost, *self._events]
        seen = min(after + 1 - first, len(self._events))
        return list(islice(self._events, seen, None))

    async def wait(self, after: int, *, seconds: float) -> list[Event]:
        """Wait until an event follows number `after`, the log ends, or `seconds` have passed."""
        with anyio.move_on_after(seconds):
            while self._next_number <= after + 1 and self.ended_at is None:
                await self._changed.wait()
        return self.read(after)

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class EventLogs:
    """The logs of the streams that run, and of those that ended lately; an Observer."""

    def __init__(self, *, keep_seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        """Keep a log for `keep_seconds` after its stream's end."""
        self._keep_seconds: Final = keep_seconds
        self._now: Final = now
        self._logs: Final[OrderedDict[str, EventLog]] = OrderedDict()
        self._opened = anyio.Event()

    def opened(self, progress: Progress) -> None:
        """Begin a log; raises StreamInUseError where that id's stream still runs."""
        self._forget_old()
        stream_id = progress.asked.id
        log = self._logs.get(stream_id)
        if log is not None and log.ended_at is None:
            raise StreamInUseError("A speech with this X-Request-Id is still being made.")
        self._logs.pop(stream_id, None)
        self._logs[stream_id] = EventLog(progress.asked.client)
        opened, self._opened = self._opened, anyio.Event()
        opened.set()

    async def find(self, stream_id: str, *, reader: str, wait_seconds: float) -> EventLog:
        """Find the log of a client's stream, or wait for it: the events may be asked for first.

        Raises UnknownStreamError where `reader` has none of that id after `wait_seconds`.
        """
        with anyio.move_on_after(wait_seconds):
            while stream_id not in self._logs:
                await self._opened.wait()
        self._forget_old()
        log = self._logs.get(stream_id)
        if log is None or log.owner != reader:
            raise UnknownStreamError(f"There is no speech {stream_id}, or it ended a while ago.")
        return log

    def queued(self, progress: Progress, position: int) -> None:
        """Tell the position, or that it begins."""
        if position:
            self._add(progress, "queued", {"position": position})
        else:
            asked = progress.asked
            facts = {"model": asked.model, "voice": asked.voice, "format": asked.format_name}
            self._add(progress, "started", {**facts, "sample_rate": asked.sample_rate})

    def made(self, progress: Progress, piece: EncodedChunk) -> None:
        """Tell what was made, and the total as soon as it is known: before the last bytes leave."""
        if piece.last:
            self._add(progress, "total", count_total(progress))
        else:
            made = {"samples": progress.samples, "bytes": progress.sent_bytes}
            self._add(progress, "chunk", {**made, "marks": time_words(piece)})

    def ended(self, progress: Progress) -> None:
        """Tell how it ended."""
        if progress.outcome == "completed":
            self._add(progress, "done", count_total(progress))
        elif progress.outcome == "failed":
            self._add(progress, "failed", {"error": describe_error(progress.error)})
        else:
            self._add(progress, "cancelled", {"samples": progress.samples})
        self._logs[progress.asked.id].end(self._now())

    def _add(self, progress: Progress, name: str, fields: Mapping[str, Any]) -> None:
        self._logs[progress.asked.id].add(name, fields)

    def _forget_old(self) -> None:
        """Drop logs that ended long ago, and the oldest ended ones where there are too many."""
        ended = [(key, log.ended_at) for key, log in self._logs.items() if log.ended_at is not None]
        too_many = len(ended) - MOST_ENDED_LOGS
        latest = self._now() - self._keep_seconds
        for index, (key, ended_at) in enumerate(ended):
            if ended_at < latest or index < too_many:
                del self._logs[key]


def count_total(progress: Progress) -> dict[str, Any]:
    """Count all the sound there is so far, in samples of the voice and of the container."""
    asked = progress.asked
    coded = -(-progress.samples * asked.coded_rate // asked.sample_rate)
    return {
        "samples": progress.samples,
        "sample_rate": asked.sample_rate,
        "coded_samples": coded,
        "coded_rate": asked.coded_rate,
        "seconds": progress.audio_seconds,
    }


def time_words(piece: EncodedChunk) -> list[dict[str, Any]]:
    """Give the words that begin in a piece: their places in the text, in characters, and seconds.

    The times count from the start of the sound.
    """
    return [
        {
            "text": mark.text,
            "text_start": mark.text_start,
            "text_end": mark.text_end,
            "start": round(mark.start / piece.sample_rate, 4),
            "end": round(mark.end / piece.sample_rate, 4),
        }
        for mark in piece.marks
        if mark.kind == "word"
    ]
