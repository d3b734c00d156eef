"""When each word and phoneme of a sentence is heard, from the durations the model predicted."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from app.speech.engine import Mark, Word
from app.speech.piper.phonemes import Phoneme
from app.speech.piper.vits import Durations


def list_marks(
    words: Sequence[Word],
    phonemes: Sequence[Phoneme],
    *,
    starts: Sequence[int],
    durations: Durations,
    hop: int,
) -> list[Mark]:
    """Return the marks of a sentence in the order in which they begin, words before phonemes.

    `starts` holds each phoneme's first id, `durations` each id's frames, and `hop` is samples per
    frame. Phonemes follow each other without a gap, and so do words: a space, and silence that the
    model makes within the sentence, belong to what is before them.
    """
    edges = np.concatenate([[0], np.cumsum(durations)]) * hop
    heard = [(item, int(edges[start])) for item, start in zip(phonemes, starts, strict=True)]
    audible = [(item, at) for item, at in heard if item.symbol != " "]
    end = int(edges[-2])
    spans = [
        (item, start, stop)
        for (item, start), stop in zip(audible, [at for _, at in audible[1:]] + [end], strict=True)
    ]
    marks: list[Mark] = []
    for index, group in groupby(spans, key=lambda span: span[0].word):
        inside, word = list(group), words[index]
        place = word.start, word.end
        marks.append(Mark("word", word.spoken, *place, inside[0][1], inside[-1][2]))
        marks += [Mark("phoneme", item.symbol, *place, *times) for item, *times in inside]
    return marks
