"""A request finds its engine and its voice, or hears what there is."""

import pytest

from app.errors import InvalidSettingError, UnknownModelError, UnknownVoiceError
from app.speech.catalogue import DEFAULT_MODEL_ALIASES, OPENAI_VOICES, Catalogue
from app.speech.engine import Voice
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


@pytest.mark.parametrize("voice", OPENAI_VOICES)
@pytest.mark.parametrize("model", [None, "second"])
def test_each_of_openais_voices_means_the_first_one_of_the_model(
    voice: str, model: str | None
) -> None:
    engine, found = CATALOGUE.find(model, voice)
    assert (engine.id, found.id) == (model or "first", "a")


def test_openai_has_thirteen_voices() -> None:
    assert len(set(OPENAI_VOICES)) == 13


def test_the_operator_chooses_what_a_name_means() -> None:
    catalogue = Catalogue([ToneEngine()], voice_aliases={"nova": "b", "granny": "b"})
    assert catalogue.find(None, "nova")[1].id == "b"
    assert catalogue.find(None, "granny")[1].id == "b"
    assert catalogue.find(None, "onyx")[1].id == "a"


def test_a_voice_of_that_name_comes_before_openais_meaning() -> None:
    engine = ToneEngine()
    engine.voices = [engine.voices[0], Voice("nova", "Nova", "en-US")]
    assert Catalogue([engine]).find(None, "nova")[1].id == "nova"


def test_an_alias_for_nobody_is_told_to_the_operator() -> None:
    with pytest.raises(InvalidSettingError, match=r"voice_aliases.*'nobody'.*a, b"):
        Catalogue([ToneEngine()], voice_aliases={"nova": "nobody"})
