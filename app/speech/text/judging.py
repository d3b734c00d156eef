"""What a sign means by what stands around it: full stops, dashes, asterisks, operators."""

import re
from typing import Final

from app.speech.text.draft import Boundary
from app.speech.text.language import Language
from app.speech.text.markup import FOLLOWING

CLAUSE_MARKS: Final = {
    **dict.fromkeys(",،、，､", ","),
    **dict.fromkeys(";؛；", ";"),
    **dict.fromkeys(":：", ":"),
}
TERMINAL_MARKS: Final = {
    **dict.fromkeys(".…。｡．।", "."),
    **dict.fromkeys("!！‼", "!"),
    **dict.fromkeys("?？⁇⁈⁉؟", "?"),
}
_ENDS_WITHOUT_SPACE: Final = frozenset("。！？｡．।")
_SPELLED: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_OPERAND_BEFORE: Final = ")]%"
_OPERAND_AFTER: Final = "([-−$"
_PAIRED: Final = re.compile(r"[^\s*]{1,64}+\*")


def judge_stop(
    text: str, match: re.Match[str], word: str, language: Language
) -> tuple[str, Boundary]:
    """Find the mark that a cluster such as "?!" leaves on the word before it, and what it ends."""
    cluster = match[0]
    mark = max((TERMINAL_MARKS[char] for char in cluster), key=".!?".index)
    following = FOLLOWING.match(text, match.end())
    after = following[1] if following else ""
    if not _ENDS_WITHOUT_SPACE.isdisjoint(cluster):
        return mark, Boundary.SENTENCE
    ellipsis = "…" in cluster or ".." in cluster
    if after.isalnum() and text[match.end()] == after:
        return _judge_within_word(mark, after, ellipsis=ellipsis)
    if after.islower() and (ellipsis or mark != "."):
        return ("," if mark == "." else mark), Boundary.NONE
    if mark == "." and not ellipsis:
        return _judge_full_stop(word, after, language)
    return mark, Boundary.SENTENCE


def _judge_within_word(mark: str, after: str, *, ellipsis: bool) -> tuple[str, Boundary]:
    """Judge a stop with a letter right behind it, as in "foo().bar", "wait...what" or "好!你"."""
    if mark == "." and not ellipsis:
        return "", Boundary.NONE
    if after.lower() == after.upper() and not after.isdecimal():
        return mark, Boundary.SENTENCE
    return ("," if mark == "." else mark), Boundary.NONE


def _judge_full_stop(word: str, after: str, language: Language) -> tuple[str, Boundary]:
    """Tell an abbreviation or an ordinal such as "5. Mai" from a sentence's end."""
    spelled = _SPELLED.fullmatch(word) is not None
    if language.knows_abbreviations:
        return ("", Boundary.NONE) if spelled and after.islower() else (".", Boundary.SENTENCE)
    if word.isdecimal() and len(word) < 3 and after.isalpha():
        return ".", Boundary.NONE
    return ("", Boundary.NONE) if spelled or after.islower() else (".", Boundary.SENTENCE)


def judge_dash(text: str, start: int, end: int) -> str:
    """Find "−" for a sign or an operator, "," for a pause, "" for a hyphen or a flag."""
    left, right = char_at(text, start - 1), char_at(text, end)
    single = end - start == 1
    spaced = left.isspace() and right.isspace()
    if single and text[start] in "-−" and _begins_number(text, end) and not left.isalnum():
        return "−"
    if single and text[start] in "-−" and spaced and _between_numbers(text, start, end):
        return "−"
    if text[start] in "—―" or spaced or (not single and not left.isspace()):
        return ","
    return ""


def _begins_number(text: str, index: int) -> bool:
    char = char_at(text, index)
    return char.isdecimal() or (char in ".$€£¥₹" and char_at(text, index + 1).isdecimal())


def _between_numbers(text: str, start: int, end: int) -> bool:
    before, after = char_at(text, start - 2), char_at(text, end + 1)
    variable = before.islower() and not char_at(text, start - 3).isalnum()
    return (before.isdecimal() or variable) and after.isdecimal()


def judge_stars(text: str, start: int, end: int) -> str:
    """Find "×" or "^" for an operator, "" for emphasis or decoration."""
    left, right = char_at(text, start - 1), char_at(text, end)
    operator = {1: "×", 2: "^"}.get(end - start, "")
    if left.isalnum() and right.isalnum():
        counted = left.isdecimal() or right.isdecimal()
        return operator if counted or not _PAIRED.match(text, end) else ""
    if left.isspace() and right.isspace():
        operands = _is_operand(text, start - 2, -1) and _is_operand(text, end + 1, 1)
        return operator if operands else ""
    return ""


def _is_operand(text: str, index: int, step: int) -> bool:
    char = char_at(text, index)
    return char.isdecimal() or (char.isalnum() and not char_at(text, index + step).isalnum())


def is_spoken(text: str, sign: str, start: int, end: int) -> bool:
    """Tell whether a sign that is often mere markup stands for a word here."""
    left, right = char_at(text, start - 1), char_at(text, end)
    if sign in "#~":
        return right.isdecimal() and left not in "#~"
    if sign in "$€£¥₹¢":
        before = char_at(text, start - 2) if left == " " else left
        return before.isdecimal() or right.isdecimal()
    if sign in "^\\":
        return _may_end(left) and _may_begin(right)
    if sign in "<>":
        return _compares(text, start, end)
    return True


def _compares(text: str, start: int, end: int) -> bool:
    """Tell a comparison, evenly spaced or with a number, from the bracket of a tag or a link."""
    left, right = char_at(text, start - 1), char_at(text, end)
    before = char_at(text, start - 2) if left == " " else left
    after = char_at(text, end + 1) if right == " " else right
    even = (left == " ") == (right == " ") or before.isdecimal() or after.isdecimal()
    return even and _may_end(before) and _may_begin(after)


def _may_end(char: str) -> bool:
    return char.isalnum() or char in _OPERAND_BEFORE


def _may_begin(char: str) -> bool:
    return char.isalnum() or char in _OPERAND_AFTER


def char_at(text: str, index: int) -> str:
    """Return the character at `index`, or a line feed outside the text."""
    return text[index] if 0 <= index < len(text) else "\n"
