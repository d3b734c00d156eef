"""What a language knows about reading aloud, beyond what every language shares.

A synthesiser's own front end (espeak-ng) reads plain words and numbers; a `Language` holds what it
would misread. Everything English is in the `english` modules; other languages pass through.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """The written words that stand before a place in the same sentence, the nearest last."""

    words: tuple[str, ...] = ()

    @property
    def previous(self) -> str:
        """The word just before, or nothing at the start of a sentence."""
        return self.words[-1] if self.words else ""

    @property
    def after_name(self) -> bool:
        """Whether the word before is capitalised for another reason than opening the sentence."""
        return len(self.words) > 1 and self.previous[:1].isupper()


@dataclass(frozen=True, slots=True)
class Rule:
    """How something written is spoken.

    `pattern` is tried where a word may begin, and `speak` gives what is said for its match, or None
    to leave it to the next rule. Said text that ends in a full stop ends its sentence; a comma and
    a space within it part two words. Every repeat in a pattern is bounded, so that a try costs the
    same however long the text is.
    """

    pattern: re.Pattern[str]
    speak: Callable[[re.Match[str], Context], str | None]


@dataclass(frozen=True, slots=True)
class Language:
    """Names for signs, words before which a long sentence may be cut, and rules.

    `letter_rules` begin with a letter, `other_rules` with a digit or one of `rule_signs`.
    `watched_words` are those, in small letters, whose reading depends on the words that follow.
    `knows_abbreviations` tells whether a full stop ends a sentence even if a small letter
    follows: only where the rules know the abbreviations.
    """

    symbols: Mapping[str, str]
    conjunctions: frozenset[str] = frozenset()
    letter_rules: tuple[Rule, ...] = ()
    other_rules: tuple[Rule, ...] = ()
    rule_signs: frozenset[str] = frozenset()
    watched_words: frozenset[str] = frozenset()
    knows_abbreviations: bool = False

    def expand(self, text: str, start: int, context: Context) -> tuple[str, int] | None:
        """Find what is said for the text at `start`, and its end; None where no rule applies."""
        for rule in self._rules_for(text[start]):
            match = rule.pattern.match(text, start)
            spoken = rule.speak(match, context) if match else None
            if match and spoken:
                return spoken, match.end()
        return None

    def _rules_for(self, char: str) -> tuple[Rule, ...]:
        if char.isalpha():
            return self.letter_rules
        return self.other_rules if char.isnumeric() or char in self.rule_signs else ()
