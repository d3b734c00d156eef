"""Text of any length to sentences of spoken words, lazily."""

from app.speech.text.splitting import Sentence, is_speakable, sentences

__all__ = ["Sentence", "is_speakable", "sentences"]
