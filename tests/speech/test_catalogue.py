"""A request finds its engine and its voice, or hears what there is."""

import pytest

from app.errors import UnknownModelError, UnknownVoiceError
from app.speech.catalogue import DEFAULT_MODEL_ALIASES, Catalogue
from tests.voices import ToneEngine

CATALOGUE = Catalogue([ToneEngine("first"), ToneEngine("second")])


@pytest.mark.parametrize("model", [None, "first", *DEFAULT_MODEL_ALIASES])
def test_the_default_engine_and_its_first_voice(model: str | None) -> None:
    engine, voice = CATALOGUE.find(model, None)
    assert (engine.id, voice.id) == ("first", "a")


def test_a_model_named_outright() -> None:
    engine, voice = CATALOGUE.find("second", "b")
    assert (engine.id, voice.id) == ("second", "b")


def test_a_voice_without_a_model_is_looked_for_everywhere() -> None:
    second = ToneEngine("second")
    second.voices = second.voices[1:]
    first = ToneEngine("first")
    first.voices = first.voices[:1]
    engine, voice = Catalogue([first, second]).find(None, "b")
    assert (engine.id, voice.id) == ("second", "b")


def test_an_unknown_model_lists_the_known() -> None:
    with pytest.raises(UnknownModelError, match="first, second"):
        CATALOGUE.find("third", None)


def test_an_unknown_voice_lists_the_known() -> None:
    with pytest.raises(UnknownVoiceError, match="a, b"):
        CATALOGUE.find("first", "c")
