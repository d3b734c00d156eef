"""Single characters: which belong to a word, and how odd forms of letters are written plainly."""

import unicodedata
from typing import Final

_SELECTORS: Final = frozenset("\ufe0e\ufe0f\u20e3\u034f")
_KEPT: Final = frozenset("¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞²³")
_ALIKE: Final = {"\u2019": "'", "\u02bc": "'", "\uff07": "'", "\u2010": "-", "\u2011": "-"}


def is_joiner(char: str) -> bool:
    """Tell whether `char` is invisible and parts nothing: zero-width, directional, soft hyphen."""
    return char in _SELECTORS or unicodedata.category(char) == "Cf"


def is_mark(char: str) -> bool:
    """Tell whether `char` belongs to the letter before it, as accents and vowel signs do."""
    return unicodedata.category(char)[0] == "M" and char not in _SELECTORS


def respell(written: str) -> str:
    """Write a word as a synthesiser knows it: composed, in plain letters and digits.

    espeak-ng reads a combining accent, a ligature or a full-width letter by its code point, and
    digits of other scripts not at all.
    """
    if written.isascii():
        return written.replace("_", " ")
    composed = unicodedata.normalize("NFC", "".join(map(_plain, written))).replace("_", " ")
    return composed if any(map(str.isalnum, composed)) else written


def _plain(char: str) -> str:
    if char in _KEPT or char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return _ALIKE.get(char) or unicodedata.normalize("NFKC", char)
