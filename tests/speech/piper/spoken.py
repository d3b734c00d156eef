"""What several tests need: words of a text, and all samples of a generation."""

from collections.abc import Iterable

import numpy as np

from app.speech.engine import AudioChunk, Samples, Word


def split_words(text: str) -> tuple[Word, ...]:
    words, position = [], 0
    for piece in text.split():
        start = text.index(piece, position)
        position = start + len(piece)
        words.append(Word(piece, start, position))
    return tuple(words)


def join(chunks: Iterable[AudioChunk]) -> Samples:
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])
