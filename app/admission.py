"""Who may run, who waits and in which order, and when to come again for those turned away."""

from collections import Counter
from collections.abc import Hashable
from math import ceil
from typing import Final, Generic, Protocol, TypeVar

HALF_LIFE_COST: Final = 60.0
"""After so much more cost, what was measured before counts for half."""
MEAN_JOBS: Final = 32
"""The mean cost of a job is taken over about so many jobs, the last ones."""
LONGEST_RETRY_SECONDS: Final = 60


class Applicant(Hashable, Protocol):
    """What asks for a lane."""

    @property
    def client(self) -> Hashable:
        """Whose it is."""

    @property
    def exclusive(self) -> Hashable | None:
        """The key that one alone may hold, if it needs one."""


A = TypeVar("A", bound=Applicant)


class Lanes(Generic[A]):
    """Those that run, and those that wait because all lanes, or their exclusive key, are taken.

    The queue goes round by client: first the oldest waiting job of each client, in order of
    arrival, then the second oldest of each, and so on. So a client's tenth does not stand before
    another's first, and yet nobody is overtaken forever. A job whose exclusive key is held lets
    those behind it pass.
    """

    def __init__(self, *, max_running: int, max_waiting: int, max_per_client: int | None) -> None:
        """Bound what runs, what waits, and both together for one client."""
        self._max_running: Final = max_running
        self._max_waiting: Final = max_waiting
        self._max_per_client: Final = max_per_client
        self._running: Final[dict[A, None]] = {}
        self._waiting: Final[dict[A, None]] = {}
        self._keys: Final[set[Hashable]] = set()
        self._per_client: Final[Counter[Hashable]] = Counter()

    def __len__(self) -> int:
        """Count both."""
        return len(self._running) + len(self._waiting)

    @property
    def running(self) -> tuple[A, ...]:
        """Those that have a lane, in the order in which they got it."""
        return tuple(self._running)

    @property
    def waiting(self) -> tuple[A, ...]:
        """Those that wait, in the order in which they are to begin."""
        ahead: Counter[Hashable] = Counter()
        places = []
        for applicant in self._waiting:
            places.append((ahead[applicant.client], applicant))
            ahead[applicant.client] += 1
        return tuple(applicant for _, applicant in sorted(places, key=lambda place: place[0]))

    def explain_refusal(self, applicant: A) -> str | None:
        """Say why `applicant` cannot be admitted; None: it can."""
        limit = self._max_per_client
        if limit is not None and self._per_client[applicant.client] >= limit:
            return f"You have {limit} speeches being made already; let one of them end first."
        if len(self._waiting) >= self._max_waiting and not self._has_lane_for(applicant):
            return "Too many speeches are being made; try again in a moment."
        return None

    def enter(self, applicant: A) -> bool:
        """Admit `applicant`; True: it runs, False: it waits."""
        self._per_client[applicant.client] += 1
        if not self._has_lane_for(applicant):
            self._waiting[applicant] = None
            return False
        self._run(applicant)
        return True

    def leave(self, applicant: A) -> A | None:
        """Let `applicant` go, and give the one that begins in its stead, if one does."""
        self._per_client[applicant.client] -= 1
        if not self._per_client[applicant.client]:
            del self._per_client[applicant.client]
        if applicant in self._waiting:
            del self._waiting[applicant]
            return None
        del self._running[applicant]
        self._keys.discard(applicant.exclusive)
        # One lane and one key came free: at most one job was waiting for nothing else.
        successor = next(filter(self._has_lane_for, self.waiting), None)
        if successor is not None:
            del self._waiting[successor]
            self._run(successor)
        return successor

    def _has_lane_for(self, applicant: A) -> bool:
        return len(self._running) < self._max_running and applicant.exclusive not in self._keys

    def _run(self, applicant: A) -> None:
        self._running[applicant] = None
        if applicant.exclusive is not None:
            self._keys.add(applicant.exclusive)


class Pace:
    """How fast work gets done, measured."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._busy_seconds = 0.0
        self._cost = 0.0
        self._jobs = 0
        self._mean_cost = 0.0

    @property
    def cost_seconds(self) -> float:
        """Busy seconds per unit of cost: the ratio of two sums that forget with HALF_LIFE_COST."""
        return self._busy_seconds / self._cost if self._cost else 0.0

    @property
    def retry_after_seconds(self) -> int:
        """When a place should be free: 1 to LONGEST_RETRY_SECONDS.

        The jobs share one processor, which does `mean cost x cost_seconds` of work for each; while
        it is busy, one job ends in every such span, however many there are.
        """
        return min(LONGEST_RETRY_SECONDS, max(1, ceil(self._mean_cost * self.cost_seconds)))

    def note_turn(self, busy_seconds: float, cost: float) -> None:
        """Count a turn."""
        kept = 0.5 ** (cost / HALF_LIFE_COST)
        self._busy_seconds = self._busy_seconds * kept + busy_seconds
        self._cost = self._cost * kept + cost

    def note_end(self, cost: float) -> None:
        """Count a job that ran and is over, whichever way; `cost` is that of all its turns."""
        self._jobs = min(MEAN_JOBS, self._jobs + 1)
        self._mean_cost += (cost - self._mean_cost) / self._jobs
