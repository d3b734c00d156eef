"""The embedded voice as an engine: words in, chunks of PCM with marks out."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.errors import UnknownVoiceError
from app.speech.engine import AudioChunk, Utterance, Voice
from app.speech.piper.config import VoiceConfig, name_voices, read_config
from app.speech.piper.espeak import select_voice
from app.speech.piper.marks import list_marks
from app.speech.piper.phonemes import encode, phonemize
from app.speech.piper.vits import Scales, Vits
from app.speech.piper.weights import load_weights
from app.speech.piper.windows import render_chunks


class PiperEngine:
    """Any Piper voice. It keeps nothing between yields, so generations may take turns."""

    def __init__(
        self,
        model: Vits,
        config: VoiceConfig,
        *,
        stem: str,
        noise_scale: float | None = None,
        rhythm_noise_scale: float | None = None,
    ) -> None:
        """Speak with `model` as `config` says; the noise scales, if given, replace the voice's."""
        scales = config.scales
        noise = scales.noise if noise_scale is None else noise_scale
        rhythm = scales.rhythm_noise if rhythm_noise_scale is None else rhythm_noise_scale
        self._model = model
        self._config = config
        self._scales = Scales(noise, scales.length, rhythm)
        self._id = stem
        self._voices = name_voices(config, stem)

    @classmethod
    def load(
        cls,
        onnx_path: Path,
        *,
        cache: Path,
        noise_scale: float | None = None,
        rhythm_noise_scale: float | None = None,
    ) -> "PiperEngine":
        """Load the voice at `onnx_path`, whose settings lie beside it in `<onnx_path>.json`.

        Its converted weights are kept in the folder `cache`. VoiceFileError if either file is
        missing, damaged or not a Piper voice's, or if espeak-ng does not know its language.
        """
        config = read_config(onnx_path)
        select_voice(config.espeak_voice)
        model = Vits(load_weights(onnx_path, cache=cache))
        return cls(
            model,
            config,
            stem=onnx_path.stem,
            noise_scale=noise_scale,
            rhythm_noise_scale=rhythm_noise_scale,
        )

    @property
    def id(self) -> str:
        """The model's name: its file's, without the ending."""
        return self._id

    @property
    def sample_rate(self) -> int:
        """Rate of every chunk, in Hz."""
        return self._config.sample_rate

    @property
    def re_entrant(self) -> bool:
        """Two generations may take turns."""
        return True

    @property
    def has_pace(self) -> bool:
        """Its durations are multiplied."""
        return True

    @property
    def voices(self) -> Sequence[Voice]:
        """The model's speakers, the default one first."""
        return self._voices

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        """Speak one sentence; UnknownVoiceError, at once, if the model has no such voice."""
        speaker = self._find_speaker(utterance.voice)
        return self._generate(utterance, speaker)

    def _find_speaker(self, voice: str) -> int:
        names = [known.id for known in self._voices]
        if voice not in names:
            raise UnknownVoiceError(
                f"{self._id} has no voice {voice!r}, only {', '.join(names)}.", param="voice"
            )
        return self._config.speakers.get(voice, 0)

    def _generate(self, utterance: Utterance, speaker: int) -> Generator[AudioChunk]:
        phonemes = phonemize(utterance.words, self._config.espeak_voice)
        if not phonemes:
            return
        ids, starts = encode(phonemes, self._config.id_map)
        scales = replace(self._scales, length=self._scales.length / utterance.speed)
        noise = np.random.default_rng(utterance.seed)
        latents = self._model.plan(ids, speaker, scales=scales, noise=noise)
        edges = np.append(0, np.cumsum(latents.durations)) * self._model.decoder.hop
        marks = list_marks(utterance.words, phonemes, starts=starts, edges=edges)
        rate, seconds = self.sample_rate, utterance.interval_seconds
        with closing(
            render_chunks(self._model, latents, sample_rate=rate, interval_seconds=seconds)
        ) as chunks:
            position = 0
            for samples in chunks:
                position += len(samples)
                count = sum(mark.start < position for mark in marks)
                yield AudioChunk(samples, rate, tuple(marks[:count]))
                del marks[:count]
