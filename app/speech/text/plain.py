"""Any language but English: the synthesiser's own front end reads it."""

from typing import Final

from app.speech.text.addresses import ADDRESS_RULES
from app.speech.text.language import Language

PLAIN: Final = Language(
    symbols={sign: sign for sign in "&@%+=×÷−±≈≤≥≠°§©®™€$£¥₹¢√∞№℃℉"},
    letter_rules=ADDRESS_RULES,
)
"""espeak-ng names these signs in each of its languages."""
