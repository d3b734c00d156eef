"""A request that was understood: who speaks what, into which container."""

from dataclasses import dataclass
from functools import partial

from app.formats import AudioFormat, find_format
from app.schemas import SpeechBody
from app.speech.catalogue import Catalogue
from app.speech.engine import Engine
from app.speech.stream import LONGEST_SENTENCE, Speech
from app.speech.text import sentences


@dataclass(frozen=True, slots=True)
class Order:
    """Everything that must be known before the first sample is made."""

    engine: Engine
    speech: Speech
    audio_format: AudioFormat


def understand(body: SpeechBody, catalogue: Catalogue) -> Order:
    """Find what the request names; raises the InvalidRequestError that says what there is not."""
    audio_format = find_format(body.response_format)
    engine, voice = catalogue.find(body.model, body.voice_name)
    speech = Speech(
        script=partial(sentences, body.input, longest=LONGEST_SENTENCE, language=voice.language),
        voice=voice,
        speed=body.speed,
        seed=None if body.seed is None else int(body.seed),
        interval_seconds=body.streaming_interval,
    )
    return Order(engine, speech, audio_format)
