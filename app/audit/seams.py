"""Where containers end, and the breaks in the sound that this explains."""

from collections import deque
from dataclasses import dataclass

from app.audit.stretch import Located


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the sound does not go on as it was made.

    `at_seconds` is where it is heard and `made_seconds` where it lies in the reference; the size is
    positive where sound was inserted and negative where it was lost. `seam` is the number of the
    container that ends there.
    """

    at_seconds: float
    made_seconds: float
    size_seconds: float
    seam: int | None


class Seams:
    """The ends of containers that a break can still turn out to lie at."""

    def __init__(self, rate: int) -> None:
        """Begin with none, in a sound at `rate` Hz."""
        self._rate = rate
        self._ends = deque[tuple[int, int]]()

    def note(self, number: int, at: int) -> None:
        """Tell that container `number` ended at a sample of what is heard."""
        self._ends.append((at, number))

    def forget(self, before: int) -> None:
        """Let go of those before a sample of what is heard."""
        while self._ends and self._ends[0][0] < before:
            self._ends.popleft()

    def name(self, change: Located) -> Break:
        """Return the break that a change of lag is, at the nearest seam that it can lie at."""
        near = [end for end in self._ends if change.earliest <= end[0] <= change.latest]
        at, seam = min(
            near, key=lambda end: abs(end[0] - change.heard_at), default=(change.heard_at, None)
        )
        size_seconds = change.size / self._rate
        return Break(at / self._rate, change.made_at / self._rate, size_seconds, seam)
