"""Sentences that a voice can speak in one breath, from a text of any length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.speech.engine import Word
from app.speech.text.draft import Boundary, Token, divide
from app.speech.text.english import ENGLISH
from app.speech.text.language import Language
from app.speech.text.plain import PLAIN
from app.speech.text.scanning import scan

SENTENCE_PAUSE_SECONDS: Final = 0.3
PARAGRAPH_PAUSE_SECONDS: Final = 0.65
CUT_PAUSE_SECONDS: Final = 0.1
SHORTEST_LIMIT: Final = 16

_PAUSES: Final = {
    Boundary.NONE: CUT_PAUSE_SECONDS,
    Boundary.SENTENCE: SENTENCE_PAUSE_SECONDS,
    Boundary.PARAGRAPH: PARAGRAPH_PAUSE_SECONDS,
    Boundary.TEXT: 0.0,
}
"""Readers pause about 0.3 to 0.5 s at a full stop and twice that at a paragraph; a voice brings
some of it itself."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is spoken in one go, and the silence in seconds that follows it; 0.0 after the last."""

    words: tuple[Word, ...]
    pause_seconds: float


def sentences(text: str, *, longest: int = 300, language: str = "en-US") -> Iterator[Sentence]:
    """Yield the sentences of `text`, lazily and at a constant cost each.

    No sentence's text, its words joined by single spaces, has more than `longest` characters (at
    least 16, else ValueError). A longer one is cut after a semicolon, a colon or a comma, before a
    conjunction, between words, or within a word. `language` is a BCP 47 tag. Emoji are passed over:
    a name such as "face with tears of joy" is longer than what it decorates. Nothing is yielded for
    a text without a speakable character.
    """
    found = language_of(language)
    splitter = Splitter(longest, found)
    return (sentence for token in scan(text, found) for sentence in splitter.take(token))


def language_of(tag: str) -> Language:
    """Find what is known of a language by its BCP 47 tag."""
    return ENGLISH if tag.lower().replace("_", "-").split("-")[0] == "en" else PLAIN


class Splitter:
    """Joins words to sentences, of which none has more than so many characters."""

    def __init__(self, longest: int, language: Language) -> None:
        """Begin without a word; raises ValueError for a limit under 16 characters."""
        if longest < SHORTEST_LIMIT:
            raise ValueError(f"longest must be at least {SHORTEST_LIMIT} characters")
        self._longest = longest
        self._language = language
        self._waiting: list[Token] = []
        self._length = 0

    def take(self, token: Token) -> Iterator[Sentence]:
        """Take the next word and give the sentences that are complete with it."""
        for part in _shorten(token, self._longest):
            yield from self._make_room(part)
            self._waiting.append(part)
            self._length += _width(part)
            if part.boundary:
                yield _sentence(self._waiting)
                self._waiting.clear()
                self._length = 0

    def _make_room(self, token: Token) -> Iterator[Sentence]:
        needed = _width(token) + (not token.mark) - 1
        while self._waiting and self._length + needed > self._longest:
            cut = _best_cut(self._waiting, token, self._language)
            yield _sentence(self._waiting[:cut])
            del self._waiting[:cut]
            self._length = sum(map(_width, self._waiting))


def _shorten(token: Token, longest: int) -> list[Token]:
    """Part a word that alone is too long, leaving room for a mark."""
    room, spoken = longest - 1, token.spoken
    parts = [spoken[at : at + room] for at in range(0, len(spoken), room)]
    spans = divide(token.start, token.end, parts)
    pieces = [Token(part, *span) for part, span in zip(parts, spans, strict=True)]
    pieces[-1].mark, pieces[-1].boundary = token.mark, token.boundary
    return pieces


def _width(token: Token) -> int:
    """Count a token's characters with its mark and the space after it."""
    return len(token.spoken) + len(token.mark) + 1


def _best_cut(waiting: list[Token], following: Token, language: Language) -> int:
    """How many of the words to speak now: up to the best place in the later two thirds."""
    after = [*waiting[1:], following]
    least = sum(map(_width, waiting)) // 3
    reached = 0
    best, best_rank = len(waiting), 0
    for count, (token, upcoming) in enumerate(zip(waiting, after, strict=True), start=1):
        reached += _width(token)
        rank = _rank(token, upcoming, language)
        if reached >= least and rank and rank >= best_rank:
            best, best_rank = count, rank
    return best


def _rank(token: Token, upcoming: Token, language: Language) -> int:
    if token.mark:
        return 2 if token.mark == "," else 3
    return int(upcoming.spoken.lower() in language.conjunctions)


def _sentence(tokens: Sequence[Token]) -> Sentence:
    """Give the last word a mark, for a voice trained on whole sentences ends badly without one."""
    last = tokens[-1]
    if not last.boundary:
        last.mark = last.mark or ","
    elif last.mark in ("", ","):
        last.mark = "."
    words = tuple(Word(token.spoken + token.mark, token.start, token.end) for token in tokens)
    return Sentence(words, _PAUSES[last.boundary])
