"""Lines: where paragraphs, headings, lists, tables and blocks of code begin and end."""

from typing import Final

from app.speech.text.draft import Boundary, Draft, Token
from app.speech.text.markup import FENCE, MARKER, RULE

_LONGEST_NESTING: Final = 8
_PARAGRAPH_BREAKS: Final = frozenset("\f\x1c\x1d\u2029")


class LineReader:
    """Closes what ends with a line, and passes over the markers that begin one."""

    def __init__(self, text: str, draft: Draft) -> None:
        """Read `text` from its first line, closing sentences and paragraphs in `draft`."""
        self.at_start = True
        self._text = text
        self._draft = draft
        self._line_closes = Boundary.NONE
        self._newlines = 0
        self._counted_after: Token | None = None
        self._fenced = False
        self._listing = False

    def see(self, text: str) -> None:
        """Go on in another copy of the text."""
        self._text = text

    def end(self, space: str) -> bool:
        """Take white space between words; tell whether it ends a paragraph."""
        count = max(space.count("\n"), space.count("\r"), space.count("\u2028"))
        if not _PARAGRAPH_BREAKS.isdisjoint(space):
            count = 2
        if not count:
            return False
        if self._counted_after is not self._draft.last:
            self._counted_after, self._newlines = self._draft.last, 0
        self._newlines += count
        self._draft.close(self._line_closes)
        self._line_closes = Boundary.NONE
        self.at_start = True
        if self._newlines > 1:
            self._draft.close(Boundary.PARAGRAPH)
        return self._newlines > 1

    def begin(self, position: int) -> int:
        """Pass over the markers at a line's start; the position of what they mark."""
        self.at_start = False
        if fence := FENCE.match(self._text, position):
            self._fenced = not self._fenced
            self._draft.close(Boundary.PARAGRAPH)
            return fence.end()
        if self._fenced:
            self._line_closes = Boundary.SENTENCE
            return position
        if rule := RULE.match(self._text, position):
            self._draft.close(Boundary.PARAGRAPH)
            return rule.end()
        return self._pass_markers(position)

    def _pass_markers(self, position: int) -> int:
        marked = False
        for _ in range(_LONGEST_NESTING):
            match = MARKER.match(self._text, position)
            if not match or not self._open(match.lastgroup or "", match["number"] or ""):
                break
            if match["number"]:
                self._draft.add(match["number"], match["number"], match.start("number"))
                self._draft.mark(",")
            position, marked = match.end(), True
        self._listing = self._listing and (marked or self._newlines < 2)
        return position

    def _open(self, marker: str, number: str) -> bool:
        """Begin what `marker` marks; False where it is part of the text after all."""
        last = self._draft.last
        fresh = not last or last.boundary >= Boundary.PARAGRAPH
        if marker == "ordered" and not (fresh or self._listing or number == "1"):
            return False
        if marker in ("heading", "bullet", "ordered"):
            self._draft.close(Boundary.PARAGRAPH)
        self._listing = self._listing or marker in ("bullet", "ordered")
        if marker == "heading":
            self._line_closes = Boundary.PARAGRAPH
        if marker == "row":
            self._line_closes = max(self._line_closes, Boundary.SENTENCE)
        return True
