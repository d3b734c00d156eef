"""When each word and phoneme of a sentence is heard, from the durations the model predicted."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from app.speech.engine import Mark, Word
from app.speech.piper.phonemes import Phoneme


def list_marks(
    words: Sequence[Word],
    phonemes: Sequence[Phoneme],
    *,
    starts: Sequence[int],
    edges: npt.NDArray[np.int64],
) -> list[Mark]:
    """Return the marks of a sentence in the order in which they begin, words before phonemes.

    `starts` holds each phoneme's first id, and `edges` the sample at which each id begins, with the
    sentence's length at its end. Phonemes follow each other without a gap, and so do words: a space
    belongs to what is before it. A phoneme that the model does not know is not heard.
    """
    last = len(edges) - 2
    heard = [
        (phoneme, int(edges[start]))
        for phoneme, start, following in zip(phonemes, starts, [*starts[1:], last], strict=True)
        if phoneme.symbol != " " and start < following
    ]
    stops = [*(at for _, at in heard[1:]), int(edges[last])]
    spans = [(phoneme, at, stop) for (phoneme, at), stop in zip(heard, stops, strict=True)]
    marks: list[Mark] = []
    for index, group in groupby(spans, key=lambda span: span[0].word):
        inside, word = list(group), words[index]
        place = word.start, word.end
        marks.append(Mark("word", word.spoken, *place, inside[0][1], inside[-1][2]))
        marks += [Mark("phoneme", item.symbol, *place, *times) for item, *times in inside]
    return marks
