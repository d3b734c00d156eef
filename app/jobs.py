"""What is asked of the worker, and what it tells the one who reads."""

import asyncio
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from math import inf
from typing import Final, Generic, Protocol, TypeVar

from app.errors import ShuttingDownError


class Piece(Protocol):
    """What a job makes, as far as the worker is concerned: it knows no audio."""

    @property
    def size(self) -> int:
        """Bytes held until the reader takes it; a piece of size 0 may still carry something."""

    @property
    def cost(self) -> float:
        """What it counts for in fair shares: seconds of audio, in practice."""


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, slots=True, eq=False)
class Job(Generic[P]):
    """Work for the thread. It is known by its identity.

    `open` is called on the thread and gives the pieces; None instead of one means that there is
    nothing to do until the worker is nudged. Jobs that name the same `exclusive` key run one after
    the other. Fair shares are between `client`s first, then between the jobs of one; all jobs that
    name no client are those of one.
    """

    open: Callable[[], Iterator[P | None]]
    exclusive: Hashable | None = None
    client: Hashable = None


class State(Enum):
    """Where a task is."""

    WAITING = auto()  # for a lane
    READY = auto()  # for its turn
    ACTIVE = auto()  # the thread is at it
    PARKED = auto()  # until its reader takes what lies there
    IDLE = auto()  # until it is nudged
    OVER = auto()  # or about to be closed: no state follows


@dataclass(frozen=True, slots=True)
class Made(Generic[P]):
    """A piece, with what it said of itself when it was made."""

    piece: P
    size: int
    cost: float

    @classmethod
    def weigh(cls, piece: P) -> "Made[P]":
        """Read size and cost once; raises ValueError where either is no quantity."""
        size, cost = piece.size, piece.cost
        if not (0 <= size < inf and 0 <= cost < inf):
            raise ValueError(f"A piece cannot have a size of {size} and a cost of {cost}.")
        return cls(piece, size, cost)


@dataclass(frozen=True, slots=True)
class Moved:
    """The job waits as the `position`-th, or begins: 0."""

    position: int


@dataclass(frozen=True, slots=True)
class Ended:
    """There is no more, for the reason that is given, if any is."""

    error: Exception | None = None


class Task(Generic[P]):
    """A job under way: its iterator belongs to the thread, its outbox to the reader's event loop.

    All else is guarded by the worker's lock.
    """

    def __init__(self, job: Job[P], loop: asyncio.AbstractEventLoop) -> None:
        """Prepare `job` for a reader on `loop`; nothing is opened yet."""
        self.job: Final = job
        self.client: Final = job.client
        self.exclusive: Final = job.exclusive
        self.outbox: Final[asyncio.Queue[Made[P] | Moved | Ended]] = asyncio.Queue()
        self.state = State.WAITING
        self.held_bytes = 0
        self.cost = 0.0
        self.is_nudged = False
        self.cancelled_by: Exception | None = None
        self._position: int | None = None
        self._loop: Final = loop
        self._pieces: Iterator[P | None] | None = None

    def advance(self) -> Made[P] | Ended | None:
        """Make the next piece, on the thread; raises nothing, whatever the job does."""
        try:
            if self._pieces is None:
                self._pieces = self.job.open()
            piece = next(self._pieces, Ended())
            return piece if piece is None or isinstance(piece, Ended) else Made.weigh(piece)
        except BaseException as error:  # noqa: BLE001 - raised again where the reader awaits
            return Ended(tame(error))

    def close(self) -> None:
        """Close the iterator, on the thread, so that its `finally` runs there."""
        pieces, self._pieces = self._pieces, None
        if (close := getattr(pieces, "close", None)) is not None:
            close()

    def tell(self, news: Made[P] | Moved | Ended) -> None:
        """Hand `news` to the event loop; a loop that has ended has no reader left to tell."""
        try:
            self._loop.call_soon_threadsafe(self.outbox.put_nowait, news)
        except RuntimeError:
            self.cancelled_by = ShuttingDownError("The reader is gone.")

    def move(self, position: int) -> None:
        """Tell the reader its position, where that is news."""
        if position != self._position:
            self._position = position
            self.tell(Moved(position))


def tame(error: BaseException) -> Exception:
    """Make an error fit to be raised in a coroutine, where some kinds mean something else.

    SystemExit would end the event loop, CancelledError looks like the reader's own, and
    StopIteration cannot leave a coroutine at all.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    tamed = RuntimeError(f"The work was ended by {type(error).__name__}.")
    tamed.__cause__ = error
    return tamed
