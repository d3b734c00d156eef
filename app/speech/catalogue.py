"""Which engines and voices there are, and how a request finds its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.errors import InvalidSettingError, UnknownModelError, UnknownVoiceError
from app.speech.engine import Engine, Voice

OPENAI_VOICES: Final = (
    *("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable"),
    *("marin", "nova", "onyx", "sage", "shimmer", "verse"),
)
"""OpenAI's thirteen voices (its API reference, `audio/speech`): they mean the model's first one,
unless the operator gives them another."""

DEFAULT_MODEL_ALIASES: Final = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""OpenAI's model names, which clients send unasked: here they mean the default model."""


class Catalogue:
    """The engines that the operator allowed, the default one first."""

    def __init__(
        self, engines: Sequence[Engine], *, voice_aliases: Mapping[str, str] | None = None
    ) -> None:
        """Keep `engines`, at least one, and `voice_aliases`, other names for their voices.

        Raises InvalidSettingError for an alias of a voice that there is not.
        """
        self.engines: Final = tuple(engines)
        self._aliases: Final = dict(voice_aliases or {})
        known = {voice.id for _, voice in self.voices()}
        for alias, voice in self._aliases.items():
            if voice not in known:
                raise InvalidSettingError(
                    f"voice_aliases: {alias} means {voice!r}, which is none of the voices"
                    f" {', '.join(sorted(known))}."
                )

    @property
    def default(self) -> Engine:
        """The engine that speaks when no model is named."""
        return self.engines[0]

    def voices(self) -> Iterator[tuple[Engine, Voice]]:
        """Go through every voice with the engine that it belongs to."""
        return ((engine, voice) for engine in self.engines for voice in engine.voices)

    def find_engine(self, model: str | None) -> Engine:
        """Find the engine named `model`; raises UnknownModelError, which lists what there is."""
        if model is None or model in DEFAULT_MODEL_ALIASES:
            return self.default
        for engine in self.engines:
            if engine.id == model:
                return engine
        known = ", ".join([*(engine.id for engine in self.engines), *DEFAULT_MODEL_ALIASES])
        raise UnknownModelError(f"There is no model {model!r}. There is: {known}.", param="model")

    def find(self, model: str | None, voice: str | None) -> tuple[Engine, Voice]:
        """Find an engine and one of its voices.

        A voice named without a model is looked for in every engine, so that a voice list is enough
        to choose from. OpenAI's voices, where nothing here has their name, mean the model's first.
        Raises UnknownModelError or UnknownVoiceError, which list what there is.
        """
        engine = self.find_engine(model)
        if voice is None:
            return engine, engine.voices[0]
        wanted = self._aliases.get(voice, voice)
        candidates = list(self.voices()) if model is None else [(engine, v) for v in engine.voices]
        for owner, candidate in candidates:
            if candidate.id == wanted:
                return owner, candidate
        if voice in OPENAI_VOICES and voice not in self._aliases:
            return engine, engine.voices[0]
        known = ", ".join(dict.fromkeys(candidate.id for _, candidate in candidates))
        raise UnknownVoiceError(f"There is no voice {voice!r}. There is: {known}.", param="voice")
