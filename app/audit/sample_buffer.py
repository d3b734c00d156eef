"""The stretch of a long sound that is still needed, by positions in the whole of it."""

import numpy as np

from app.speech.engine import Samples


class SampleBuffer:
    """Samples from `start` to `end` of a sound; those before were let go."""

    def __init__(self) -> None:
        """Begin with none."""
        self.start = 0
        self.end = 0
        self._blocks: list[Samples] = []

    def append(self, block: Samples) -> None:
        """Add the samples (n,) that follow."""
        self._blocks.append(block)
        self.end += len(block)

    def cut(self, first: int, last: int) -> Samples:
        """Return the samples (last - first,), with silence for what is not held."""
        held = self._join()[max(first - self.start, 0) : max(last - self.start, 0)]
        before = min(max(self.start - first, 0), last - first)
        return np.pad(held, (before, last - first - before - len(held)))

    def forget(self, before: int) -> None:
        """Let go of what lies before a position."""
        passed = min(max(before, self.start), self.end) - self.start
        self._blocks = [self._join()[passed:].copy()]
        self.start += passed

    def _join(self) -> Samples:
        if len(self._blocks) != 1:
            self._blocks = [np.concatenate([np.zeros(0, np.float32), *self._blocks])]
        return self._blocks[0]
