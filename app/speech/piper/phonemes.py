"""Words to phonemes, and phonemes to a Piper model's ids, as Piper does it.

Each clause's IPA is followed by its punctuation and a space, all of it NFD code points.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.speech.engine import Word
from app.speech.piper.alignment import assign_owners
from app.speech.piper.espeak import Clause, read_clauses, select_voice

START, END, PAD = "^", "$", "_"

PUNCTUATION: Final = {
    **dict.fromkeys(",\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}\N{ARABIC COMMA}", ","),
    **dict.fromkeys(".\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH FULL STOP}\N{DEVANAGARI DANDA}", "."),
    **dict.fromkeys("?\N{FULLWIDTH QUESTION MARK}\N{ARABIC QUESTION MARK}", "?"),
    **dict.fromkeys("!\N{FULLWIDTH EXCLAMATION MARK}", "!"),
    **dict.fromkeys(":\N{FULLWIDTH COLON}", ":"),
    **dict.fromkeys(";\N{FULLWIDTH SEMICOLON}\N{ARABIC SEMICOLON}", ";"),
    **dict.fromkeys("\N{EM DASH}\N{EN DASH}\N{HORIZONTAL ELLIPSIS}", ";"),
}
"""What ends a clause, and how a Piper model writes it (espeak counts dashes as semicolons)."""

CLOSING: Final = "\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}»)]}* "


@dataclass(frozen=True, slots=True)
class Phoneme:
    """One code point of IPA or punctuation, and the index of the word that it belongs to."""

    symbol: str
    word: int


def phonemize(words: Sequence[Word], voice: str) -> list[Phoneme]:
    """Return the phonemes of a sentence as espeak-ng's `voice` says it; [] if it is silent."""
    select_voice(voice)
    text = " ".join(word.spoken for word in words)
    phonemes: list[Phoneme] = []
    for clause in list(read_clauses(text)):
        spoken = _speak_clause(clause, text, list(_split_tokens(words, clause)), voice)
        if spoken and phonemes:
            phonemes.append(Phoneme(" ", phonemes[-1].word))
        phonemes.extend(spoken)
    return phonemes


def encode(
    phonemes: Sequence[Phoneme], id_map: Mapping[str, Sequence[int]]
) -> tuple[list[int], list[int]]:
    """Return a sentence's ids, and for each phoneme the index of its first id.

    The pad follows every id but the last; a phoneme that the model does not know is left out, and
    its index is that of the next one.
    """
    ids = [*id_map[START], *id_map[PAD]]
    starts = []
    for phoneme in phonemes:
        starts.append(len(ids))
        if phoneme.symbol in id_map:
            ids += [*id_map[phoneme.symbol], *id_map[PAD]]
    return [*ids, *id_map[END]], starts


def _split_tokens(words: Sequence[Word], clause: Clause) -> Iterator[tuple[str, int]]:
    """Yield the pieces between spaces that lie within `clause`, each with its word's index."""
    start = 0
    for index, word in enumerate(words):
        inside = word.spoken[max(0, clause.start - start) : max(0, clause.end - start)]
        yield from ((piece, index) for piece in inside.split())
        start += len(word.spoken) + 1


def _speak_clause(
    clause: Clause, text: str, tokens: Sequence[tuple[str, int]], voice: str
) -> list[Phoneme]:
    symbols = " ".join(unicodedata.normalize("NFD", clause.ipa).split())
    if not symbols or not tokens:
        return []
    spoken = [_speak_alone(token, voice) for token, _ in tokens]
    owners = assign_owners(symbols, spoken, [word for _, word in tokens])
    phonemes = [Phoneme(*pair) for pair in zip(symbols, owners, strict=True)]
    mark = find_mark(text[clause.start : clause.end])
    return [*phonemes, Phoneme(mark, owners[-1])] if mark else phonemes


@lru_cache(maxsize=4096)
def _speak_alone(token: str, voice: str) -> str:
    """Return the IPA of one token in the `voice` that is selected, groups between spaces."""
    del voice  # only tells the cached answers of different voices apart
    clauses = list(read_clauses(token))
    return unicodedata.normalize("NFD", " ".join(clause.ipa for clause in clauses))


def find_mark(clause: str) -> str:
    """Return the punctuation that ends `clause` as Piper writes it, or nothing."""
    bare = clause.rstrip(CLOSING)
    if bare.endswith(".."):
        return PUNCTUATION["\N{HORIZONTAL ELLIPSIS}"]
    return PUNCTUATION.get(bare[-1:], "")
