"""English: the rules in the order in which they are tried, and the names of signs."""

from typing import Final

from app.speech.text.english_numbers import NUMBER_RULES
from app.speech.text.english_words import SIGN_RULES, WATCHED_WORDS, WORD_RULES
from app.speech.text.language import Language

_SYMBOLS: Final = {
    "&": "and", "@": "at", "%": "percent", "+": "plus", "=": "equals", "×": "times",
    "÷": "divided by", "±": "plus or minus", "≈": "approximately", "≤": "less than or equal to",
    "≥": "greater than or equal to", "≠": "not equal to", "−": "minus", "°": "degrees",
    "§": "section", "©": "copyright", "®": "registered", "™": "trademark", "€": "euros",
    "$": "dollars", "£": "pounds", "¥": "yen", "₹": "rupees", "¢": "cents", "√": "square root of",
    "∞": "infinity", "№": "number", "℃": "degrees Celsius", "℉": "degrees Fahrenheit",
    "→": "to", "⇒": "to", "<": "less than", ">": "greater than", "^": "to the power of",
    "~": "about", "#": "number", "\\": "backslash",
}  # fmt: skip

_CONJUNCTIONS: Final = (
    "and or but nor yet so because although though while whereas unless until when where which who "
    "that if since before after"
)

ENGLISH: Final = Language(
    symbols=_SYMBOLS,
    conjunctions=frozenset(_CONJUNCTIONS.split()),
    letter_rules=WORD_RULES,
    other_rules=(*NUMBER_RULES, *SIGN_RULES),
    rule_signs=frozenset("+($€£¥₹'’~./#"),
    watched_words=WATCHED_WORDS,
    knows_abbreviations=True,
)
"""American English; dates with slashes are read month first."""
