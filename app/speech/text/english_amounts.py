"""English amounts: money, and numbers with a unit of measure."""

import re
from typing import Final

from app.speech.text.language import Context, Rule

_CURRENCIES: Final = {
    "$": ("dollar", "cent"), "US$": ("US dollar", "cent"), "€": ("euro", "cent"),
    "£": ("pound", "penny"), "¥": ("yen", "sen"), "₹": ("rupee", "paisa"),
}  # fmt: skip
_PLURALS: Final = {
    "penny": "pence", "yen": "yen", "sen": "sen", "paisa": "paise", "foot": "feet",
    "inch": "inches", "hertz": "hertz", "degree Celsius": "degrees Celsius",
    "degree Fahrenheit": "degrees Fahrenheit", "percent": "percent",
    "kilometer per hour": "kilometers per hour", "mile per hour": "miles per hour",
    "meter per second": "meters per second", "megabit per second": "megabits per second",
    "gigabit per second": "gigabits per second",
}  # fmt: skip
_SCALES: Final = {
    "k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million",
    "b": "billion", "B": "billion", "bn": "billion", "T": "trillion",
}  # fmt: skip
_UNITS: Final = {
    "%": "percent", "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter",
    "µm": "micrometer", "μm": "micrometer", "nm": "nanometer", "kg": "kilogram", "g": "gram",
    "mg": "milligram", "lb": "pound", "lbs": "pound", "oz": "ounce", "ft": "foot", "mi": "mile",
    "km/h": "kilometer per hour", "kph": "kilometer per hour", "mph": "mile per hour",
    "m/s": "meter per second", "°C": "degree Celsius", "°F": "degree Fahrenheit", "°": "degree",
    "℃": "degree Celsius", "℉": "degree Fahrenheit", "Hz": "hertz", "kHz": "kilohertz",
    "MHz": "megahertz", "GHz": "gigahertz", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte",
    "GB": "gigabyte", "TB": "terabyte", "Mbps": "megabit per second",
    "Gbps": "gigabit per second", "ms": "millisecond", "s": "second", "sec": "second",
    "min": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "L": "liter", "l": "liter",
    "ml": "milliliter", "mL": "milliliter", "W": "watt", "kW": "kilowatt", "kWh": "kilowatt hour",
    "V": "volt", "dB": "decibel", "m²": "square meter", "km²": "square kilometer",
    "cm²": "square centimeter", "m³": "cubic meter", "px": "pixel",
}  # fmt: skip
NUMBER: Final = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,9}|[0-9]{1,40})(?:\.[0-9]{1,40})?"
"""A number in digits, with or without commas between its thousands."""

END: Final = r"(?![^\W_])"
"""No letter or digit follows."""

ALONE: Final = rf"{END}(?![.,:/-]?[0-9])"
"""Nor does more of a number."""


def strip_commas(number: str) -> str:
    """Write a number without the commas between its thousands."""
    return number.replace(",", "")


def _count(number: str, one: str) -> str:
    """Say a number of things, in the singular for exactly one."""
    plural = _PLURALS.get(one) or ("hertz" in one and one) or one + "s"
    return f"{strip_commas(number)} {one if number == '1' else plural}"


def _speak_money(match: re.Match[str], _: Context) -> str:
    coin = _CURRENCIES[match["sign"]]
    amount, scale, until = match["amount"], match["scale"], match["until"]
    if until or scale:
        spoken = (
            f"{strip_commas(amount)} to {strip_commas(until)}" if until else strip_commas(amount)
        )
        scaled = f" {_SCALES.get(scale, scale)}" if scale else ""
        return f"{spoken}{scaled} {_PLURALS.get(coin[0], coin[0] + 's')}"
    whole, _dot, cents = amount.partition(".")
    if len(cents) != 2:
        return _count(amount, coin[0])
    small = _count(str(int(cents)), coin[1]) if int(cents) else ""
    large = _count(whole, coin[0]) if int(strip_commas(whole)) or not small else ""
    return " and ".join(part for part in (large, small) if part)


def _speak_measure(match: re.Match[str], _: Context) -> str:
    unit = _UNITS[match["unit"]]
    if match["until"]:
        return f"{strip_commas(match['amount'])} to {_count(match['until'], unit)}"
    return _count(match["amount"], unit)


_AMOUNT: Final = rf"(?P<amount>{NUMBER})(?:[-–](?P<until>{NUMBER}))?"
_SCALE: Final = rf"(?: ?(?P<scale>thousand|million|billion|trillion|bn|mn|[kKmMbBT]){END})?"
_SIGN: Final = r"(?P<sign>US\$|[$€£¥₹])"

_SPACE: Final = "[ \u00a0\u202f]?"
_UNIT: Final = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))

MONEY: Final = Rule(
    re.compile(
        rf"{_SIGN} ?(?P<amount>{NUMBER})(?:[-–](?:US\$|[$€£¥₹])?(?P<until>{NUMBER}))?{_SCALE}{END}"
    ),
    _speak_money,
)
"""Money with its sign first; the sign of US$5 begins with a letter."""

AMOUNT_RULES: Final = (
    MONEY,
    Rule(re.compile(rf"{_AMOUNT}{_SCALE}{_SPACE}{_SIGN}{END}"), _speak_money),
    Rule(re.compile(rf"{_AMOUNT}{_SPACE}(?P<unit>{_UNIT}){END}(?![/²³°'’])"), _speak_measure),
)
