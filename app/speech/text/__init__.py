"""Text of any length to sentences of spoken words, lazily."""

from app.speech.text.reading import SentenceReader
from app.speech.text.splitting import Sentence, sentences

__all__ = ["Sentence", "SentenceReader", "sentences"]
