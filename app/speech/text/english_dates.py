"""English dates, years, decades and times of day."""

import re
from typing import Final

from app.speech.text.english_amounts import ALONE, END
from app.speech.text.language import Context, Rule

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_DECADES: Final = {
    "0": "hundreds", "1": "tens", "2": "twenties", "3": "thirties", "4": "forties", "5": "fifties",
    "6": "sixties", "7": "seventies", "8": "eighties", "9": "nineties",
}  # fmt: skip
_BEFORE_DECADE: Final = frozenset({"the", "early", "mid", "late", "his", "her", "their", "my"})
_APOSTROPHES: Final = "'’"
_YEAR_WORDS: Final = "in since of by from until till before after during year early late mid circa"
_BEFORE_YEAR: Final = frozenset({*_YEAR_WORDS.split(), *map(str.lower, MONTHS)})


def say_year(number: str) -> str:
    """Say 1984 as nineteen eighty-four, and 1905 with its oh; from 2000 to 2009 as a number."""
    century, rest = number[:2], number[2:]
    if len(number) != 4 or not ("11" <= century <= "20") or century + rest[0] == "200":
        return number
    if rest == "00":
        return f"{century} hundred"
    return f"{century} oh {rest[1]}" if rest[0] == "0" else f"{century} {rest}"


def say_ordinal(number: int) -> str:
    """Write what espeak-ng reads: it knows 21st and 112th, and not 100th or 3000th."""
    for size, name in ((1_000_000, "millionth"), (1000, "thousandth"), (100, "hundredth")):
        if number and number % size == 0:
            return f"{number // size} {name}"
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number // 10 % 10 == 1 else ends.get(number % 10, 'th')}"


def _date(year: str, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{MONTHS[month - 1]} {say_ordinal(day)} {say_year(year)}"


def _speak_iso_date(match: re.Match[str], _: Context) -> str | None:
    date = _date(match[1], int(match[2]), int(match[3]))
    return f"{date}, {_clock(int(match[4]), match[5])}" if date and match[4] else date


def _speak_slash_date(match: re.Match[str], _: Context) -> str | None:
    """Read month first, and day first where that alone makes a date."""
    first, second, year = int(match[1]), int(match[2]), match[3]
    return _date(year, first, second) or _date(year, second, first)


def _clock(hour: int, minute: str, then: str = "") -> str:
    """Say 3:05 as three oh five; a full hour is o'clock unless something else follows."""
    said = f"oh {minute[1]}" if minute[0] == "0" else minute
    if minute == "00":
        said = "" if then else "o'clock"
    return " ".join(part for part in (str(hour), said, then) if part)


def _speak_time(match: re.Match[str], _: Context) -> str | None:
    hour, minute, second, half = int(match[1]), match[2], match[3], match["half"]
    if hour > 24 or minute > "59":
        return None
    if second:
        return f"{hour} {minute} {second}"
    return _clock(hour, minute, half.upper() if half else "")


def _speak_year(match: re.Match[str], context: Context) -> str | None:
    """Say a year where the word before promises one: "in 1984", "May 5, 1984"."""
    before = context.previous.lower().rstrip(",")
    dated = before.isdecimal() and context.words[-2:-1] and context.words[-2] in MONTHS
    return say_year(match[0]) if dated or before in _BEFORE_YEAR else None


def _speak_decade(match: re.Match[str], context: Context) -> str | None:
    """Say "the 90s" and "1990s" as decades; a bare "90s" is a time."""
    century, decade = match[1] or "", match[2]
    if not century and context.previous.lower() not in _BEFORE_DECADE:
        return None
    if century == "20" and decade == "0":
        return "two thousands"
    return f"{century.strip(_APOSTROPHES)} {_DECADES[decade]}".strip()


_ISO_TIME: Final = r"(?:T([0-9]{2}):([0-9]{2})(?::[0-9]{2})?(?:\.[0-9]{1,9})?Z?)?"

DATE_RULES: Final = (
    Rule(re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}}){_ISO_TIME}{ALONE}"), _speak_iso_date),
    Rule(re.compile(rf"([0-9]{{1,2}})/([0-9]{{1,2}})/([0-9]{{4}}){ALONE}"), _speak_slash_date),
    Rule(
        re.compile(
            r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?"
            rf"(?: ?(?P<half>[AaPp][Mm])(?!\.?[^\W_]))?{ALONE}"
        ),
        _speak_time,
    ),
    Rule(re.compile(rf"(['’]|[0-9]{{2}})?([0-9])0['’]?s{END}"), _speak_decade),
)
"""In the order in which they are tried: the more particular first."""

YEAR: Final = Rule(re.compile(rf"[0-9]{{4}}{ALONE}"), _speak_year)
"""Tried after amounts: "in 1500 meters" holds no year."""
