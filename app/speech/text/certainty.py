"""How far a rule looks ahead: whether a text that is still being written can be read on yet.

Every rule looks at the word that it begins in, and some look at what follows it: an abbreviation at
the next word, a number at its unit, initials at the next initial, a tag at its end. Nothing looks
over an empty line. What is told here to be certain is so for every continuation of the text; the
tests try many.
"""

import re
from collections.abc import Iterator
from typing import Final

from app.speech.text.judging import CLAUSE_MARKS, TERMINAL_MARKS
from app.speech.text.language import Language
from app.speech.text.markup import (
    FOLLOWING,
    LONGEST_CLUSTER,
    LONGEST_COMMENT,
    LONGEST_FENCE,
    LONGEST_TAG,
    LONGEST_TARGET,
)

_LONGEST_WORD: Final = 2_400
"""The longest pattern without a space is an address: a host, and 2,000 characters behind it."""

_LONGEST_CHAIN: Final = 8
"""A telephone number has up to seven groups, initials up to six."""

_WORD: Final = re.compile(
    rf"[^\s。！？｡．।，、；：]{{0,{_LONGEST_WORD}}}+[。！？｡．।，、；：]{{0,64}}+"
)
_SPACE: Final = re.compile(r"\s*+")
_PLAIN_WORD: Final = re.compile(r"([^\W\d_]{2,})[.,;:!?…)\]\"'”’»。！？｡．।，、；：]*")
_ENDED: Final = re.compile(r".*[.!?…。！？｡．।][\"'”’»)\]*_]{0,9}", re.DOTALL)
_GOES_ON: Final = re.compile(r"[+(\[\"'“‘«*_]{0,9}(?:[0-9$€£¥₹]|(?:[A-Z]\.)+\W{0,9}\Z)")
"""A word that may still belong to the number or the initials before it."""

_ORDINARY: Final = re.compile(r"[^\s`~\-*_=|>#+•◦▪‣–—()\[\].:0-9]")
"""What cannot belong to the sign that begins a line."""

_OPEN_TARGET: Final = re.compile(
    rf"""\](?:\Z|\((?=.{{0,{LONGEST_TARGET}}}\Z)
        (?:[^()\s<>]++|\([^()\s<>]*+\))*+(?:\([^()\s<>]*+)?(?:\s++(?:"[^"\n]*+(?:"\s*+)?)?)?\Z)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES: Final = frozenset('"“”„«»‹›')
"""Signs with which no rule begins."""

_CLUSTER: Final = re.compile(rf"[{''.join(TERMINAL_MARKS)}]{{1,{LONGEST_CLUSTER}}}+")

_OPEN_STARS: Final = re.compile(r"\*++[^\s*]{0,64}\Z")
"""A sign of multiplication, or emphasis that ends within 64 characters."""

_OPEN_COMMENT: Final = re.compile(rf"<(?:!(?:-(?:-[^<]{{0,{LONGEST_COMMENT + 3}}})?)?)?\Z")
_OPEN_TAG: Final = re.compile(rf"</?(?:[A-Za-z][^<>]{{0,{LONGEST_TAG + 16}}})?\Z")

_OPENINGS: Final = {
    "<": (_OPEN_COMMENT, _OPEN_TAG),
    "]": (_OPEN_TARGET,),
    "*": (_OPEN_STARS,),
}


def is_certain(text: str, position: int, language: Language, *, begins_line: bool) -> bool:
    """Tell whether nothing that could follow `text` changes what is read at `position`."""
    char = text[position]
    if char.isspace():
        return _SPACE.match(text, position).end() < len(text)  # type: ignore[union-attr] # \s*+
    if begins_line:
        return _knows_line(text, position)
    if char in _QUOTES:
        return position + 1 < len(text)
    if _is_open(text, position):
        return False
    if char in TERMINAL_MARKS:
        return _knows_what_follows(text, position) and next(_split(text, position)) is not None
    return _knows_words(text, position, language)


def _is_open(text: str, position: int) -> bool:
    """Tell whether something begins here whose end is still to come, if it is one."""
    if text.startswith("<!--", position) and "-->" in text[position:]:
        return False
    openings = _OPENINGS.get(text[position], ())
    return any(opening.match(text, position) for opening in openings)


def _knows_line(text: str, position: int) -> bool:
    """Tell whether a line's start can be told from a rule, a fence or a marker."""
    if text.find("\n", position) >= 0:
        return True
    if text.startswith(("```", "~~~"), position):
        return len(text) - position > LONGEST_FENCE + 64
    return _ORDINARY.search(text, position) is not None


def _knows_what_follows(text: str, position: int) -> bool:
    cluster = _CLUSTER.match(text, position)
    following = FOLLOWING.match(text, cluster.end() if cluster else position)
    return following is not None and (following[1] != "" or following.end() < len(text))


def _knows_words(text: str, position: int, language: Language) -> bool:
    """Tell whether the word at `position` is there to its end, and all that its rules look at."""
    needed = 0
    for index, word in enumerate(_split(text, position)):
        if word is None:
            return False
        if index == 0:
            needed = _count_following(word, language)
        elif word == "":
            return True
        elif _GOES_ON.match(word) and not _ENDED.fullmatch(word[:-1]):
            needed = max(needed, index + 1)
        if index >= min(needed, _LONGEST_CHAIN):
            return True
    return False


def _count_following(word: str, language: Language) -> int:
    """Count the words after `word` that its rules look at."""
    first, plain = word[0], _PLAIN_WORD.fullmatch(word)
    if first in CLAUSE_MARKS or (first.isalpha() and not language.knows_abbreviations):
        return 0
    if plain and plain[1].lower() not in language.watched_words:
        return 0
    if first.isnumeric() or first in language.rule_signs:
        return 1 if _ENDED.fullmatch(word) else 2
    return 1


def _split(text: str, position: int) -> Iterator[str | None]:
    """Give the words from `position` on; "" for an empty line, None where the text breaks off."""
    while True:
        word = _WORD.match(text, position)
        end = word.end() if word else position
        if end == len(text) and end - position < _LONGEST_WORD:
            yield None
        yield text[position:end]
        space = _SPACE.match(text, end)
        position = space.end() if space else end
        if text.count("\n", end, position) > 1:
            yield ""
