"""Counts everything and keeps the first few, so that a long bad body costs no more than a short."""

from typing import Final, Generic, TypeVar

T = TypeVar("T")

KEPT: Final = 100


class Tally(Generic[T]):
    """How many there were, and the first 100 of them."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self.kept: list[T] = []

    def add(self, item: T) -> None:
        """Count one more."""
        self.count += 1
        if len(self.kept) < KEPT:
            self.kept.append(item)
