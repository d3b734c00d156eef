"""A script that is still being written: text goes in on one thread and is spoken on another."""

from collections import deque
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from app.speech.stream import LONGEST_SENTENCE
from app.speech.text import Sentence, SentenceReader

_SLICE_CHARACTERS: Final = 512
"""Text that is read at once, between two turns of the thread that speaks."""


class _Sign(Enum):
    FLUSH = auto()
    END = auto()


class ArrivingText:
    """Text in pieces, and the script that gives each sentence as soon as it is certain to be one.

    `put`, `flush` and `end` belong to the one who writes, and may be called while another thread
    runs the script. Whoever calls them nudges the speaker afterwards.
    """

    def __init__(self, *, language: str) -> None:
        """Expect text in a language, a BCP 47 tag."""
        self._reader: Final = SentenceReader(longest=LONGEST_SENTENCE, language=language)
        self._arrived: Final[deque[str | _Sign]] = deque()
        self._put_characters = 0
        self._read_characters = 0

    @property
    def pending_characters(self) -> int:
        """How much of the text no sentence was made of yet."""
        unread = self._put_characters - self._read_characters
        return unread + self._reader.pending_characters

    @property
    def is_waiting(self) -> bool:
        """Whether all that came was read, so that only more can go on."""
        return not self._arrived

    def put(self, text: str) -> None:
        """Add a piece of text, cut anywhere."""
        self._put_characters += len(text)
        for start in range(0, len(text), _SLICE_CHARACTERS):
            self._arrived.append(text[start : start + _SLICE_CHARACTERS])

    def flush(self) -> None:
        """Let all that was put so far be spoken, as if the text ended here."""
        self._arrived.append(_Sign.FLUSH)

    def end(self) -> None:
        """Nothing follows."""
        self._arrived.append(_Sign.END)

    def script(self) -> Iterator[Sentence | None]:
        """Give the sentences, and None where the next one is not certain yet."""
        while True:
            if not self._arrived:
                yield None
                continue
            match self._arrived.popleft():
                case _Sign.END:
                    yield from self._reader.finish()
                    return
                case _Sign.FLUSH:
                    yield from self._reader.flush()
                case str(text):
                    self._read_characters += len(text)
                    yield from self._reader.feed(text)
