"""Web and mail addresses, in every language."""

import re
from typing import Final

from app.speech.text.language import Context, Rule

LABEL: Final = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
"""A part of a host name between full stops."""

TAIL: Final = r"(?:[^\s<>()\[\]{}\"'“”‘’`*|\\。，、！？]{0,2000}[\w/])?"
"""The rest of an address, without the punctuation of the sentence around it."""

URL: Final = re.compile(rf"(?i:https?://|ftp://|www\.|mailto:){LABEL}{TAIL}")
MAIL: Final = re.compile(rf"[\w.+-]{{1,64}}@{LABEL}(?:\.{LABEL}){{1,8}}")

_SCHEME: Final = re.compile(r"(?:(?:https?|ftp)://|mailto:)?(?:www\.)?", re.IGNORECASE)


def strip_scheme(match: re.Match[str], _: Context) -> str:
    """Leave out of an address the scheme and the closing slash, which nobody says."""
    return _SCHEME.sub("", match[0], count=1).rstrip("/")


ADDRESS_RULES: Final = (Rule(URL, strip_scheme), Rule(MAIL, strip_scheme))
"""For a language in which the synthesiser itself names the signs of an address."""
