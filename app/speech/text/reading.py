"""A text that is still being written, read sentence by sentence as it comes."""

from collections.abc import Iterator
from typing import Final

from app.speech.text.certainty import is_certain
from app.speech.text.draft import Boundary, Token
from app.speech.text.scanning import Scanner
from app.speech.text.splitting import Sentence, Splitter, language_of

_KEPT_CHARACTERS: Final = 64
"""What stays of the text that was read: rules look back over a few characters."""

_READ_CHARACTERS: Final = 4_096
"""So many are read before they are forgotten together."""


class SentenceReader:
    """Takes a text in pieces and gives each sentence as soon as nothing that follows can change it.

    All together they are what `sentences` gives of the whole text. Offsets count from the start of
    the first piece.
    """

    def __init__(self, *, longest: int = 300, language: str = "en-US") -> None:
        """Begin without a text; see `sentences` for the limits, and the ValueError."""
        self._language: Final = language_of(language)
        self._longest: Final = longest
        self._base = 0
        self._text = ""
        self._begin()

    @property
    def pending_characters(self) -> int:
        """How much of the text is not understood yet."""
        return len(self._text) - self._scanner.position

    def feed(self, piece: str) -> list[Sentence]:
        """Take the next piece, cut anywhere, and give the sentences that are certain now."""
        passed = self._scanner.position - _KEPT_CHARACTERS
        passed = passed if passed > _READ_CHARACTERS else 0
        self._text = self._text[passed:] + piece
        self._base += passed
        self._scanner.see(self._text, passed=passed)
        return [*self._read(complete=False)]

    def flush(self) -> list[Sentence]:
        """Give what is there as if the text ended here; what follows begins like a new text."""
        found = [*self._read(complete=True), *self._end()]
        self._base += len(self._text)
        self._text = ""
        self._begin()
        return found

    def finish(self) -> list[Sentence]:
        """Give the rest: the text is complete."""
        return self.flush()

    def _begin(self) -> None:
        self._scanner = Scanner(self._text, self._language)
        self._splitter = Splitter(self._longest, self._language)

    def _read(self, *, complete: bool) -> Iterator[Sentence]:
        scanner, text = self._scanner, self._text
        while scanner.position < len(text) and (
            complete
            or is_certain(text, scanner.position, self._language, begins_line=scanner.begins_line)
        ):
            scanner.step()
            yield from self._pass_on(scanner.draft.finished())
        if not complete and self._is_before_word():
            yield from self._pass_on(scanner.draft.take_ended())

    def _is_before_word(self) -> bool:
        """Tell whether a word follows for certain, which leaves the one before it as it is."""
        position = self._scanner.position
        return (
            position < len(self._text)
            and self._text[position].isalnum()
            and not self._scanner.begins_line
        )

    def _end(self) -> Iterator[Sentence]:
        draft = self._scanner.draft
        draft.close(Boundary.TEXT)
        if draft.last:
            yield from self._pass_on(iter([draft.last]))

    def _pass_on(self, tokens: Iterator[Token]) -> Iterator[Sentence]:
        for token in tokens:
            token.start += self._base
            token.end += self._base
            yield from self._splitter.take(token)
