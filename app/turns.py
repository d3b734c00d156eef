"""Whose turn it is: start-time fair queueing, between clients first, then between a client's jobs.

After Goyal, Vin and Cheng, "Start-time Fair Queuing" (SIGCOMM 1996), with equal weights. Virtual
time is the start tag of the turn that is under way. One that becomes ready is tagged with the later
of the virtual time and its own finish tag, which is the start of its last turn plus what that turn
cost; the smallest tag is next, and of equal ones the one that was ready first. So a newcomer waits
for at most one turn of each of the others, absence gains nothing, and equal costs are a plain round
robin.
"""

from collections.abc import Hashable
from itertools import count
from typing import Final, Generic, Protocol, TypeVar

LEAST_COST: Final = 0.01
"""What any turn counts for, in units of cost: turns that cost nothing must not go on forever."""


class Member(Hashable, Protocol):
    """What takes turns on behalf of a client."""

    @property
    def client(self) -> Hashable:
        """Who shares with the others."""


K = TypeVar("K", bound=Hashable)
M = TypeVar("M", bound=Member)


class FairQueue(Generic[K]):
    """One level: those that are ready, by their tags. A scan of 100 takes about 10 microseconds."""

    def __init__(self) -> None:
        """Start at virtual time 0 with nobody ready."""
        self._now = 0.0
        self._arrivals: Final = count()
        self._ready: Final[dict[K, tuple[float, int]]] = {}
        self._finish: Final[dict[K, float]] = {}

    def __contains__(self, key: K) -> bool:
        """Whether it is ready."""
        return key in self._ready

    def __len__(self) -> int:
        """Count those that are ready."""
        return len(self._ready)

    @property
    def is_forgettable(self) -> bool:
        """Whether it holds nothing that a new queue would not."""
        return not self._ready and not self._finish

    def add(self, key: K) -> None:
        """Let `key`, which is not ready yet, take part from now on."""
        start = max(self._now, self._finish.get(key, 0.0))
        self._ready[key] = (start, next(self._arrivals))

    def take(self) -> K:
        """Take out the one whose turn it is; raises ValueError when nobody is ready."""
        key = min(self._ready, key=self._ready.__getitem__)
        self._now, _ = self._ready.pop(key)
        return key

    def charge(self, key: K, cost: float) -> None:
        """Note what the turn cost that was taken last, by `key`."""
        self._finish[key] = self._now + max(LEAST_COST, cost)

    def remove(self, key: K) -> None:
        """Take `key` out, if it is ready."""
        self._ready.pop(key, None)

    def forget(self, key: K) -> None:
        """Remove `key` and what is known of it."""
        self.remove(key)
        self._finish.pop(key, None)

    def expire(self) -> None:
        """Drop the finish tags that virtual time has passed: they say nothing any more."""
        for key in [key for key, finish in self._finish.items() if finish <= self._now]:
            del self._finish[key]


class FairTurns(Generic[M]):
    """Both levels: a client is ready while a job of it is."""

    def __init__(self) -> None:
        """Start with nobody ready."""
        self._clients = FairQueue[Hashable]()
        self._members: Final[dict[Hashable, FairQueue[M]]] = {}
        self._serving: M | None = None

    def __len__(self) -> int:
        """Count the jobs that are ready."""
        return sum(map(len, self._members.values()))

    def add(self, member: M) -> None:
        """Let `member`, which is not ready yet, take part from now on."""
        client = member.client
        self._of(client).add(member)
        # A client whose turn is under way gets its next tag when that turn's cost is known.
        is_served = self._serving is not None and self._serving.client == client
        if not is_served and client not in self._clients:
            self._clients.add(client)

    def take(self) -> M | None:
        """Take out the one whose turn it is, whose `charge` must follow; None: nobody is ready."""
        if not self._clients:
            # With the thread idle nobody was kept waiting, so that nobody owes anything.
            self._clients = FairQueue()
            self._members.clear()
            return None
        self._serving = self._of(self._clients.take()).take()
        return self._serving

    def charge(self, cost: float) -> None:
        """End the turn that was taken, which cost `cost`; at least LEAST_COST is counted."""
        member, self._serving = self._serving, None
        if member is None:
            return
        members = self._of(member.client)
        members.charge(member, cost)
        self._clients.charge(member.client, cost)
        if members:
            self._clients.add(member.client)

    def remove(self, member: M) -> None:
        """Take `member` out, if it is ready; what it owes is kept."""
        members = self._of(member.client)
        members.remove(member)
        if not members:
            self._clients.remove(member.client)

    def forget(self, member: M) -> None:
        """Remove a `member` that is over; what its client owes is kept while it matters."""
        self.remove(member)
        members = self._of(member.client)
        members.forget(member)
        if members.is_forgettable:
            del self._members[member.client]
        self._clients.expire()

    def _of(self, client: Hashable) -> FairQueue[M]:
        return self._members.setdefault(client, FairQueue())
