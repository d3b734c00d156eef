"""Whose turn it is: start-time fair queueing, between clients first, then between a client's jobs.

After Goyal, Vin and Cheng, "Start-time Fair Queueing" (SIGCOMM 1996), with equal weights. Everyone
who is ready has a tag; the smallest is next, and of equal ones the one that was ready first.
- Who goes on after a turn is tagged with the tag of that turn plus what it cost. So costs come out
  equal within one piece, and equal costs are a plain round robin.
- Who comes back from a rest goes on from there too, but not from before the turn that is under way:
  what it left unused is gone.
- Who is new is tagged with LEAST_COST more than the smallest tag: each of the others gets one turn
  at most before it. (The paper takes the tag of the turn under way. With that, ever new clients of
  one piece each would keep an old one waiting forever.)
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
    """One level: those that are ready, by their tags."""

    def __init__(self) -> None:
        """Start with nobody ready."""
        self._now = 0.0  # the tag of the turn that is under way, or was the last
        self._is_serving = False
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
        """Let `key`, which is not ready, take part from now on."""
        finish = self._finish.get(key)
        self._put(key, self._find_place() if finish is None else max(self._now, finish))

    def take(self) -> K:
        """Take out the one whose turn it is; raises ValueError when nobody is ready."""
        key = min(self._ready, key=self._ready.__getitem__)
        self._now, _ = self._ready.pop(key)
        self._is_serving = True
        return key

    def charge(self, key: K, cost: float, *, again: bool) -> None:
        """Note what the turn cost that `key` took last; `again`: it is ready for the next."""
        self._is_serving = False
        self._finish[key] = self._now + max(LEAST_COST, cost)
        if again:
            self._put(key, self._finish[key])

    def remove(self, key: K) -> None:
        """Take `key` out, if it is ready."""
        self._ready.pop(key, None)

    def forget(self, key: K) -> None:
        """Remove `key` and what is known of it."""
        self.remove(key)
        self._finish.pop(key, None)

    def expire(self) -> None:
        """Drop what would hold nobody back any more, since all tags are beyond it."""
        for key in [key for key, finish in self._finish.items() if finish < self._now]:
            del self._finish[key]

    def _find_place(self) -> float:
        """Give the tag of one that is new."""
        if self._is_serving or not self._ready:
            return self._now + LEAST_COST
        return min(self._ready.values())[0] + LEAST_COST

    def _put(self, key: K, start: float) -> None:
        self._ready[key] = (start, next(self._arrivals))


class FairTurns(Generic[M]):
    """Both levels: a client is ready while a job of it is."""

    def __init__(self) -> None:
        """Start with nobody ready."""
        self._clients = FairQueue[Hashable]()
        self._members: Final[dict[Hashable, FairQueue[M]]] = {}

    def __bool__(self) -> bool:
        """Whether any client is ready, but for the one whose turn is under way."""
        return bool(self._clients)

    def add(self, member: M) -> None:
        """Let `member`, which is not ready, take part from now on."""
        client = member.client
        self._of(client).add(member)
        # If the client's turn is under way it gets another tag when the cost of that is known.
        if client not in self._clients:
            self._clients.add(client)

    def take(self) -> M | None:
        """Take out the one whose turn it is, whose `charge` must follow; None: nobody is ready."""
        if not self._clients:
            # With the thread idle nobody was kept waiting, so that nobody owes anything.
            self._clients = FairQueue()
            self._members.clear()
            return None
        return self._of(self._clients.take()).take()

    def charge(self, member: M, cost: float, *, again: bool) -> None:
        """End the turn that `member` took, which cost `cost`; at least LEAST_COST is counted.

        `again`: it is ready for its next turn.
        """
        members = self._of(member.client)
        members.charge(member, cost, again=again)
        self._clients.charge(member.client, cost, again=bool(members))

    def forget(self, member: M) -> None:
        """Take out a `member` that is over; what its client owes is kept while it matters."""
        members = self._of(member.client)
        members.forget(member)
        if not members:
            self._clients.remove(member.client)
        if members.is_forgettable:
            del self._members[member.client]
        self._clients.expire()

    def _of(self, client: Hashable) -> FairQueue[M]:
        return self._members.setdefault(client, FairQueue())
