"""What there is to choose from: models, voices, formats."""

from litestar import get
from litestar.di import NamedDependency

from app.formats import FORMATS
from app.schemas import (
    FormatEntry,
    FormatList,
    ModelEntry,
    ModelList,
    VoiceEntry,
    VoiceList,
)
from app.speech.catalogue import Catalogue


@get("/v1/models", sync_to_thread=False, summary="Models that can speak")
def list_models(catalogue: NamedDependency[Catalogue]) -> ModelList:
    """List the models, the default one first."""
    return ModelList(data=[ModelEntry(id=engine.id) for engine in catalogue.engines])


@get("/v1/audio/voices", sync_to_thread=False, summary="Voices and their models")
def list_voices(catalogue: NamedDependency[Catalogue]) -> VoiceList:
    """List the voices, the default one first."""
    return VoiceList(
        data=[
            VoiceEntry(id=voice.id, name=voice.name, language=voice.language, model=engine.id)
            for engine, voice in catalogue.voices()
        ]
    )


@get("/v1/audio/formats", sync_to_thread=False, summary="Response formats")
def list_formats() -> FormatList:
    """List the formats with their types for HTTP and for MediaSource."""
    return FormatList(
        data=[
            FormatEntry(
                id=audio_format.name,
                label=audio_format.label,
                media_type=audio_format.media_type,
                mse_type=audio_format.mse_type,
                extension=audio_format.extension,
            )
            for audio_format in FORMATS.values()
        ]
    )
