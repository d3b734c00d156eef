"""From written text to the words that are spoken, one step at a time."""

import html
from collections.abc import Callable, Iterator, Mapping
from re import Match
from typing import ClassVar, Final, cast

from app.speech.text.characters import is_joiner, is_mark, respell
from app.speech.text.draft import Boundary, Draft, Token
from app.speech.text.judging import (
    CLAUSE_MARKS,
    TERMINAL_MARKS,
    char_at,
    is_spoken,
    judge_dash,
    judge_stars,
    judge_stop,
)
from app.speech.text.language import Language
from app.speech.text.lines import LineReader
from app.speech.text.markup import BLOCK_TAGS, CELL_TAGS, INLINE, LONGEST_TARGET

_ENTITY_MARKS: Final = {**CLAUSE_MARKS, **TERMINAL_MARKS, "—": ",", "–": ","}
_COMPARISONS: Final = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "="}


def scan(text: str, language: Language) -> Iterator[Token]:
    """Yield the words of `text` in order, each as soon as the next one is found."""
    scanner = Scanner(text, language)
    while scanner.position < len(text):
        scanner.step()
        yield from scanner.draft.finished()
    scanner.draft.close(Boundary.TEXT)
    if scanner.draft.last:
        yield scanner.draft.last


class Scanner:
    """Reads a text from `position` on, and drafts the words that it finds."""

    def __init__(self, text: str, language: Language) -> None:
        """Begin at the start of `text`."""
        self.position = 0
        self.draft = Draft()
        self._text = text
        self._language = language
        self._lines = LineReader(text, self.draft)
        self._stars = self._brackets = self._asides = 0

    @property
    def begins_line(self) -> bool:
        """Whether the next step looks for what begins a line."""
        return self._lines.at_start

    def see(self, text: str, *, passed: int) -> None:
        """Go on in `text`, which has more at its end and lacks `passed` characters at its start."""
        self._text = text
        self._lines.see(text)
        self.position -= passed
        self.draft.shift(-passed)

    def step(self) -> None:
        """Read whatever stands at the position, and move past it."""
        if self._text[self.position].isspace():
            self._read_at_position()
        elif self._lines.at_start:
            self.position = self._lines.begin(self.position)
        elif not self._expand():
            self._read_at_position()

    def _expand(self) -> bool:
        start = self.position
        if char_at(self._text, start - 1).isalnum() or self.draft.joins(start):
            return False
        found = self._language.expand(self._text, start, self.draft.context)
        if found:
            spoken, self.position = found
            self.draft.add(self._text[start : self.position], spoken, start)
        return found is not None

    def _read_at_position(self) -> None:
        # The last alternative is any character, so something always matches.
        match = cast("Match[str]", INLINE.match(self._text, self.position))
        self.position = match.end()
        self._READERS[match.lastgroup or ""](self, match)

    def _read_run(self, match: Match[str]) -> None:
        if self.draft.joins(match.start()):
            self.draft.extend(match[0], match.end())
        else:
            self.draft.add_run(match[0], respell(match[0]), match.start())

    def _read_space(self, match: Match[str]) -> None:
        if self._lines.end(match[0]):
            self._stars = self._brackets = self._asides = 0

    def _read_entity(self, match: Match[str]) -> None:
        char = html.unescape(match[0])
        if char == match[0]:
            self.position = match.start() + 1
            self._say("&", match.start(), self.position)
        elif char.isalnum():
            self._read_letter(char, match)
        elif mark := _ENTITY_MARKS.get(char):
            self.draft.mark(mark)
        else:
            self._say(char, *match.span())

    def _read_letter(self, letter: str, match: Match[str]) -> None:
        """Take a letter that is written as an entity, or an accent, into the word around it."""
        if self.draft.touches(match.start()):
            self.draft.extend(letter, match.end())
        elif letter.isalnum():
            self.draft.add_run(match[0], respell(letter), match.start())
            self.draft.vanish(match.end(), match.end())

    def _read_tag(self, match: Match[str]) -> None:
        name = match["name"].lower()
        if name in BLOCK_TAGS:
            self.draft.close(Boundary.PARAGRAPH)
        elif name in CELL_TAGS or name == "br":
            self.draft.mark(",")
        else:
            self._vanish(match)

    def _read_target(self, match: Match[str]) -> None:
        """Pass over a link's address, if there is a link."""
        if self._brackets and len(match[0]) <= LONGEST_TARGET:
            self._brackets -= 1
            self._vanish(match)
        else:
            self.position = match.start() + 1

    def _read_arrow(self, match: Match[str]) -> None:
        self._say("→", *match.span())

    def _read_comparison(self, match: Match[str]) -> None:
        sign = _COMPARISONS.get(match[0])
        if sign and (sign != "=" or char_at(self._text, match.start() - 1).isspace()):
            self._say(sign, *match.span())

    def _read_stop(self, match: Match[str]) -> None:
        word = self.draft.context.previous
        mark, boundary = judge_stop(self._text, match, word, self._language)
        if mark:
            self.draft.mark(mark)
        if boundary:
            self.draft.close(boundary)

    def _read_clause(self, match: Match[str]) -> None:
        self.draft.mark(CLAUSE_MARKS[match[0][0]])

    def _read_dash(self, match: Match[str]) -> None:
        meaning = judge_dash(self._text, *match.span())
        if meaning == ",":
            self.draft.mark(meaning)
        elif meaning:
            self._say(meaning, *match.span())

    def _read_stars(self, match: Match[str]) -> None:
        length = len(match[0])
        if self._stars == length and not char_at(self._text, match.start() - 1).isspace():
            self._stars = 0
        elif sign := judge_stars(self._text, *match.span()):
            self._say(sign, *match.span())
            return
        elif not char_at(self._text, match.end()).isspace():
            self._stars = length
        self._vanish(match)

    def _read_opening(self, match: Match[str]) -> None:
        if match[0] != "(" or char_at(self._text, match.start() - 1).isspace():
            self._asides += 1
            self.draft.mark(",")

    def _read_closing(self, _match: Match[str]) -> None:
        if self._asides:
            self._asides -= 1
            self.draft.mark(",")

    def _read_other(self, match: Match[str]) -> None:
        char = match[0]
        if is_mark(char):
            self._read_letter(char, match)
        elif is_joiner(char):
            self._vanish(match)
        elif char == "[":
            self._brackets += 1
        elif char == "|":
            self.draft.mark(",")
        else:
            self._say(char, *match.span())

    def _say(self, sign: str, start: int, end: int) -> None:
        """Speak a sign by its name, where it has one and means it."""
        name = self._language.symbols.get(sign)
        if name and is_spoken(self._text, sign, start, end):
            self.draft.add(self._text[start:end], name, start)

    def _vanish(self, match: Match[str]) -> None:
        self.draft.vanish(*match.span())

    _READERS: ClassVar[Mapping[str, Callable[["Scanner", Match[str]], None]]] = {
        "run": _read_run,
        "space": _read_space,
        "entity": _read_entity,
        "comment": _vanish,
        "tag": _read_tag,
        "target": _read_target,
        "image": _vanish,
        "emoticon": lambda _scanner, _match: None,
        "arrow": _read_arrow,
        "comparison": _read_comparison,
        "terminal": _read_stop,
        "clause": _read_clause,
        "dash": _read_dash,
        "star": _read_stars,
        "opening": _read_opening,
        "closing": _read_closing,
        "other": _read_other,
    }
