"""What a worker's tests work with: a piece to make, and waiting by turns, never by the clock."""

from dataclasses import dataclass

from app.worker import Worker

QUIET_CALLS = 5


@dataclass(frozen=True, slots=True)
class Parcel:
    """A piece whose size is that of its data."""

    data: bytes
    cost: float = 1.0

    @property
    def size(self) -> int:
        return len(self.data)


def is_due(worker: Worker) -> bool:
    """Tell whether any job is due; called on the thread, between two turns."""
    with worker._changed:  # noqa: SLF001 - what no reader needs to know
        return worker._schedule.is_due  # noqa: SLF001


async def settle(worker: Worker) -> None:
    """Let the thread come to rest: until no turn is due, and readers had time to ask for one."""
    quiet = 0
    while quiet < QUIET_CALLS:
        quiet = 0 if await worker.call(lambda: is_due(worker)) else quiet + 1
