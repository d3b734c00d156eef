"""English numbers: ranges, ratios, fractions, powers and telephone numbers.

What is left to espeak-ng is reading a plain number such as 1234567 or 3.14.
"""

import re
from typing import Final

from app.speech.text.english_amounts import ALONE, AMOUNT_RULES, END, NUMBER, strip_commas
from app.speech.text.english_dates import DATE_RULES, YEAR, say_ordinal, say_year
from app.speech.text.language import Context, Rule

_DENOMINATORS: Final = {
    2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth",
    9: "ninth", 10: "tenth", 16: "sixteenth", 100: "hundredth", 1000: "thousandth",
}  # fmt: skip
_VULGAR: Final = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5),
                  "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8)}  # fmt: skip


def _fraction(numerator: int, denominator: int) -> str:
    one = _DENOMINATORS[denominator]
    if numerator == 1:
        return f"one {one}"
    return f"{numerator} {'halves' if one == 'half' else one + 's'}"


def _speak_phone(match: re.Match[str], _: Context) -> str:
    groups = re.findall(r"[0-9]+", match[0])
    spoken = ", ".join(" ".join(group) for group in groups)
    return f"plus {spoken}" if match[0].startswith("+") else spoken


def _speak_range(match: re.Match[str], _: Context) -> str:
    return f"{say_year(strip_commas(match['amount']))} to {say_year(strip_commas(match['until']))}"


def _speak_ordinal(match: re.Match[str], _: Context) -> str:
    return say_ordinal(int(strip_commas(match[1])))


def _speak_fraction(match: re.Match[str], _: Context) -> str:
    numerator, denominator = int(match[2]), int(match[3])
    if denominator not in _DENOMINATORS or numerator >= denominator:
        whole = f"{match[1]} " if match[1] else ""
        return f"{whole}{numerator} {denominator}"
    return _mixed(match[1], numerator, denominator)


def _speak_vulgar(match: re.Match[str], _: Context) -> str:
    return _mixed(match[1], *_VULGAR[match[2]])


def _mixed(whole: str | None, numerator: int, denominator: int) -> str:
    if not whole:
        return _fraction(numerator, denominator)
    said = _fraction(numerator, denominator)
    article = "an" if denominator == 8 else "a"
    return f"{whole} and {said.replace('one', article, 1) if numerator == 1 else said}"


def _speak_scientific(match: re.Match[str], _: Context) -> str:
    sign = "minus " if match[2] in ("-", "−") else ""
    return f"{match[1]} times 10 to the power of {sign}{match[3]}"


_PHONE: Final = (
    r"(?:\+?[0-9]{1,3}[ .-])?(?:\([0-9]{3}\)[ -]?|[0-9]{3}[.-])[0-9]{3}[ .-][0-9]{4}"
    r"|\+[0-9]{1,3}(?:[ .-]?[0-9]{2,4}){2,5}|[0-9]{3}-[0-9]{4}"
)

NUMBER_RULES: Final = (
    Rule(re.compile(rf"(?:{_PHONE}){ALONE}"), _speak_phone),
    *DATE_RULES,
    Rule(
        re.compile(rf"([0-9]{{1,6}}):([0-9]{{1,6}}){ALONE}"),
        lambda match, _context: f"{match[1]} to {match[2]}",
    ),
    *AMOUNT_RULES,
    Rule(
        re.compile(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,20}})?)[eE]([-+−]?)([0-9]{{1,4}}){ALONE}"),
        _speak_scientific,
    ),
    Rule(re.compile(rf"([0-9,]{{1,20}}[0-9]|[0-9])(?:st|nd|rd|th){END}"), _speak_ordinal),
    Rule(re.compile(rf"(?P<amount>{NUMBER})[-–—](?P<until>{NUMBER}){ALONE}(?!-)"), _speak_range),
    Rule(
        re.compile(rf"(?:([0-9]{{1,4}}) )?([0-9]{{1,4}})[/⁄]([0-9]{{1,4}}){ALONE}"),
        _speak_fraction,
    ),
    Rule(re.compile(rf"([0-9]{{1,9}})?([{''.join(_VULGAR)}]){END}"), _speak_vulgar),
    Rule(
        re.compile(rf"[0-9]{{1,9}}(?:\.[0-9]{{1,9}}){{2,9}}{ALONE}"),
        lambda match, _context: match[0].replace(".", " point "),
    ),
    Rule(re.compile(rf"\.[0-9]{{1,20}}{ALONE}"), lambda match, _context: f"0{match[0]}"),
    Rule(
        re.compile(rf"([0-9]{{1,9}})([²³]){END}"),
        lambda match, _context: f"{match[1]} {'squared' if match[2] == '²' else 'cubed'}",
    ),
    Rule(
        re.compile(r"([0-9]{1,2})['’′]([0-9]{1,2})[\"”″]"),
        lambda match, _context: f"{match[1]} foot {match[2]}",
    ),
    YEAR,
    Rule(
        re.compile(rf"[0-9]{{1,3}}(?:,[0-9]{{3}}){{1,9}}(?:\.[0-9]{{1,40}})?{END}"),
        lambda match, _context: strip_commas(match[0]),
    ),
)
"""In the order in which they are tried: the more particular first."""
