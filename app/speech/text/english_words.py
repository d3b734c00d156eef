"""English words that are not spoken as they are written: abbreviations, initials and addresses."""

import re
from collections.abc import Mapping
from typing import Final

from app.speech.text.addresses import LABEL, MAIL, TAIL, URL, strip_scheme
from app.speech.text.english_amounts import END, MONEY
from app.speech.text.english_dates import MONTHS
from app.speech.text.language import Context, Rule

_TITLES: Final = {
    "Mr": "Mister", "Mrs": "missus", "Ms": "miz", "Messrs": "Messers", "Prof": "Professor",
    "Gen": "General", "Sen": "Senator", "Rep": "Representative", "Gov": "Governor",
    "Capt": "Captain", "Sgt": "Sergeant", "Lt": "Lieutenant", "Col": "Colonel", "Rev": "Reverend",
    "Hon": "Honorable", "Fr": "Father", "Pres": "President", "Mt": "Mount", "Ft": "Fort",
}  # fmt: skip
"""Abbreviations only before another word, mostly a name."""

_AFTER_NAME: Final = {"St": ("Saint", "Street"), "Dr": ("Doctor", "Drive")}

_CONTINUING: Final = {
    "e.g": "for example", "i.e": "that is", "cf": "compare", "vs": "versus", "viz": "namely",
    "approx": "approximately", "esp": "especially", "incl": "including",
}  # fmt: skip
"""Never the last word of a sentence."""

_CLOSING: Final = {
    "etc": "et cetera", "a.m": "AM", "p.m": "PM", "jr": "Junior", "sr": "Senior",
    "inc": "Incorporated", "ltd": "Limited", "corp": "Corporation", "co": "Company",
    "bros": "Brothers", "dept": "department", "ave": "Avenue", "blvd": "Boulevard", "rd": "Road",
    "hwy": "Highway", "est": "established", "ph.d": "PhD", "misc": "miscellaneous",
    "tel": "telephone", "ext": "extension", "al": "al",
}  # fmt: skip
"""May be the last word of a sentence: what follows decides."""

_ENDING: Final = frozenset({"et cetera"})
"""No name goes on after these."""

_BEFORE_NUMBER: Final = {
    "no": "number", "nos": "numbers", "fig": "figure", "figs": "figures", "vol": "volume",
    "p": "page", "pp": "pages", "ch": "chapter", "sec": "section", "ca": "circa", "c": "circa",
    "eq": "equation", "pt": "part", "art": "article", "sept": "September",
    **{month[:3].lower(): month for month in MONTHS if month != "May"},
}  # fmt: skip
"""Abbreviations only before a number: "No." alone is an answer."""

_STARTING: Final = (
    "a an and as at but by for from he her his how however i if in it its my no now of on or our "
    "she so that the their then there these they this those to we what when where who why yes you "
    "your"
)
_STARTERS: Final = frozenset(_STARTING.split())

_NEXT_WORD: Final = re.compile(r"[^\S\n]{0,9}\n?[^\S\n]{0,9}[\"'“‘«(\[*_]{0,4}([^\W_]{1,20})")
_TEXT_ENDS: Final = re.compile(
    r"[\"'”’»)\]*_]{0,9}[^\S\n]{0,9}(?:\n[^\S\n]{0,9}\n|\n?[^\S\n]{0,9}\Z)"
)


def _word_after(match: re.Match[str]) -> str:
    found = _NEXT_WORD.match(match.string, match.end())
    return found[1] if found else ""


def _close(spoken: str, match: re.Match[str]) -> str:
    """End the sentence if the text does, or if what follows opens one beyond doubt."""
    following = _word_after(match)
    opens = following[:1].isupper() and (following.lower() in _STARTERS or spoken in _ENDING)
    return spoken + "." if opens or _TEXT_ENDS.match(match.string, match.end()) else spoken


def _speak_abbreviation(match: re.Match[str], context: Context) -> str | None:
    key = match[1].lower()
    if match[1] in _AFTER_NAME:
        return _speak_name_part(match, context)
    if match[1] in _TITLES and _word_after(match):
        return _TITLES[match[1]]
    if key in _BEFORE_NUMBER and _word_after(match)[:1].isdecimal():
        return _BEFORE_NUMBER[key]
    if (key == "al" and context.previous != "et") or (
        len(key) > 2 and match[1].isalpha() and match[1].isupper()
    ):
        return None
    return _CONTINUING.get(key) or (_close(_CLOSING[key], match) if key in _CLOSING else None)


def _speak_name_part(match: re.Match[str], context: Context) -> str:
    """Tell a saint from a street: the street has a name before it, the saint one after."""
    title, way = _AFTER_NAME[match[1]]
    following = _word_after(match)
    named = following[:1].isupper() or (following and title == "Doctor")
    return title if named and not context.after_name else _close(way, match)


def _speak_title(match: re.Match[str], context: Context) -> str | None:
    """Say the titles that British English writes without a full stop."""
    if match[1] not in _AFTER_NAME:
        return _TITLES[match[1]]
    return None if context.after_name else _AFTER_NAME[match[1]][0]


def _speak_initials(match: re.Match[str], context: Context) -> str | None:
    """Keep the full stops between letters, by which espeak-ng spells them, and not the last.

    A lone A would be read as the article, and "Eh" is its name.
    """
    letters = "".join(match[0].split()).rstrip(".")
    if letters == "I" and context.previous[:1].islower():
        return None
    return _close("Eh" if letters == "A" else letters, match)


def _speak_roman(match: re.Match[str], _: Context) -> str:
    """Say the number; espeak-ng would say "roman four"."""
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in match[0]]
    following = [*values[1:], 0]
    return str(sum(-v if v < after else v for v, after in zip(values, following, strict=True)))


_SIGNS: Final = {
    ".": "dot", "/": "slash", "-": "dash", "_": "underscore", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", ":": "colon", "@": "at", "~": "tilde",
    "%": "percent", "+": "plus",
}  # fmt: skip


def _speak_address(match: re.Match[str], context: Context) -> str:
    """Name the signs of an address or a path."""
    address = strip_scheme(match, context)
    parts = (_SIGNS.get(part, part) for part in re.split(r"([\W_])", address))
    return " ".join(part for part in parts if part)


def _listed(*tables: Mapping[str, object]) -> str:
    words = sorted({key for table in tables for key in table}, key=len, reverse=True)
    return "|".join(map(re.escape, words))


_STEP: Final = r"(?:/[\w.-]{1,100})"
_TLD: Final = "com|org|net|edu|gov|mil|int|io|dev|ai|app|co|info|uk|de|fr|eu|ca|au|jp|ch|nl|us|tv"

WATCHED_WORDS: Final = frozenset(
    word.lower()
    for table in (_TITLES, _AFTER_NAME, _CONTINUING, _CLOSING, _BEFORE_NUMBER)
    for word in table
)
"""Abbreviations: what they mean, and whether they end a sentence, depends on what follows."""

WORD_RULES: Final = (
    Rule(URL, _speak_address),
    Rule(MAIL, _speak_address),
    Rule(
        re.compile(rf"{LABEL}(?:\.{LABEL}){{0,6}}\.(?:{_TLD}){END}(?:[/?#:]{TAIL})?"),
        _speak_address,
    ),
    Rule(
        re.compile(
            rf"((?i:{_listed(_AFTER_NAME, _CONTINUING, _CLOSING, _BEFORE_NUMBER, _TITLES)}))\.{END}"
        ),
        _speak_abbreviation,
    ),
    Rule(re.compile(rf"[A-Z]\.(?: ?[A-Z]\.){{0,5}}{END}"), _speak_initials),
    Rule(re.compile(rf"({_listed(_AFTER_NAME, _TITLES)})(?= [A-Z])"), _speak_title),
    Rule(re.compile(rf"(?=[IVX]{{2}})X{{0,3}}(?:IX|IV|V?I{{0,3}}){END}"), _speak_roman),
    Rule(re.compile(rf"vs{END}"), lambda _match, _context: "versus"),
    Rule(re.compile(rf"w/o{END}"), lambda _match, _context: "without"),
    Rule(re.compile(r"w/(?=\s)"), lambda _match, _context: "with"),
    Rule(re.compile(rf"([CF])#{END}"), lambda match, _context: f"{match[1]} sharp"),
    Rule(
        re.compile(rf"([A-Za-z]{{1,20}})([²³]){END}"),
        lambda match, _context: f"{match[1]} {'squared' if match[2] == '²' else 'cubed'}",
    ),
    MONEY,
)
"""Tried where a word begins with a letter."""

SIGN_RULES: Final = (
    Rule(
        re.compile(rf"(?:(?:~|\.{{1,2}}){_STEP}|{_STEP}{{2}}){_STEP}{{0,20}}/?{END}"),
        _speak_address,
    ),
    Rule(re.compile(r"#(?=[^\W\d_])"), lambda _match, _context: "hashtag"),
)
"""Tried where a word begins with a sign."""
