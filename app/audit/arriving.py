"""A body as it arrives, seen through the few bytes that a walker still has to look at.

A walker follows the structure of one kind of body and tells where containers begin. It is a
generator that yields whenever it needs more bytes, so that it reads like a function over the whole
body and yet holds only a frame, a page or a header of it.
"""

from collections.abc import Callable, Generator
from re import Pattern

Wait = Generator[None, None, bool]
"""What a walker delegates to with `yield from`: true once there is what it waited for."""


class Arriving:
    """The bytes from the walker's position on; all positions count from the body's first byte."""

    def __init__(self) -> None:
        """Begin with no byte."""
        self.position = 0
        self.stray_bytes = 0
        self.torn = False
        self.starts_found = 0
        self._starts: list[int] = []
        self._held = bytearray()
        self._end = 0
        self._ended = False
        self._undecided: int | None = None

    @property
    def received(self) -> int:
        """How many bytes have come so far."""
        return self._end

    @property
    def settled(self) -> int:
        """The position before which no container will be found to begin any more."""
        return min(self.position if self._undecided is None else self._undecided, self._end)

    def take_starts(self) -> list[int]:
        """Return the starts that were found since the last call."""
        taken, self._starts = self._starts, []
        return taken

    def receive(self, data: bytes) -> None:
        """Append what came."""
        self._end += len(data)
        self._held += data
        self._forget()

    def end(self) -> None:
        """Tell that nothing more comes."""
        self._ended = True

    def peek(self, size: int) -> bytes:
        """Return up to `size` bytes from the position on, those that are there."""
        return bytes(memoryview(self._held)[:size])

    def skip(self, size: int) -> None:
        """Go `size` bytes on, which need not have come yet."""
        self.position += size
        self._forget()

    def begin(self, at: int | None = None) -> None:
        """Note that a container begins at the position, or `at` one before it."""
        self._starts.append(self.position if at is None else at)
        self.starts_found += 1

    def hold(self, at: int | None) -> None:
        """Leave it open whether a container begins `at` that position; None decides it."""
        self._undecided = at

    def await_bytes(self, size: int) -> Wait:
        """Wait for `size` bytes from the position on; false when the body ends before."""
        while self._end - self.position < size:
            if self._ended:
                return False
            yield
        return True

    def await_match(self, pattern: Pattern[bytes], longest: int) -> Wait:
        """Go to the next match of a `pattern` of at most `longest` bytes; false if none comes."""
        while True:
            match = pattern.search(self._held)
            if match:
                self.skip(match.start())
                return True
            kept = 0 if self._ended else longest - 1
            self.skip(max(len(self._held) - kept, 0))
            if self._ended:
                return False
            yield

    def close_walk(self) -> None:
        """Note a torn end, where the last thing that was gone over is longer than the body."""
        self.torn = self.torn or self.position > self._end

    def _forget(self) -> None:
        passed = len(self._held) - max(self._end - self.position, 0)
        if passed > 0:
            del self._held[:passed]


Walker = Callable[[Arriving], Generator[None]]


class StartFinder:
    """Runs a walker over a body that is fed in pieces."""

    def __init__(self, walker: Walker) -> None:
        """Begin before the first byte."""
        self.body = Arriving()
        self._walk = self._run(walker)
        next(self._walk)

    def feed(self, data: bytes) -> list[int]:
        """Take the next bytes and return the starts that they settle."""
        self.body.receive(data)
        return self._go_on()

    def finish(self) -> list[int]:
        """Return the starts that only the end settles; the body's `torn` is known from here on."""
        self.body.end()
        found = self._go_on()
        self.body.close_walk()
        return found

    def _go_on(self) -> list[int]:
        next(self._walk, None)
        return self.body.take_starts()

    def _run(self, walker: Walker) -> Generator[None]:
        yield
        yield from walker(self.body)
        # A walker that has seen all that it looks for leaves the rest to the last container.
        self.body.hold(None)
        while True:
            self.body.skip(max(self.body.received - self.body.position, 0))
            yield
