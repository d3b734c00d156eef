"""Words to phonemes to ids, as Piper does it."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import VoiceFileError
from app.speech.engine import Word
from app.speech.piper.espeak import select_voice
from app.speech.piper.phonemes import encode, phonemize
from tests.speech.piper.spoken import split_words


def spell(text: str, voice: str = "en-us") -> str:
    return "".join(phoneme.symbol for phoneme in phonemize(split_words(text), voice))


def spell_words(text: str, voice: str = "en-us") -> dict[str, str]:
    words = split_words(text)
    phonemes = phonemize(words, voice)
    return {
        word.spoken: "".join(item.symbol for item in phonemes if item.word == index).strip()
        for index, word in enumerate(words)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there, world!", "həlˈoʊ ðˈɛɹ, wˈɜːld!"),
        ("Who? Me.", "hˈuː? mˈiː."),
        ("Yes; no: so", "jˈɛs; nˈoʊ: sˈoʊ"),
        ("Yes — no… so", "jˈɛs; nˈoʊ; sˈoʊ"),
        ("Go home...", "ɡˌoʊ hˈoʊm;"),
        ('He said: "Go!"', "hiː sˈɛd: ɡˈoʊ!"),
    ],
)
def test_each_clause_keeps_its_punctuation(text: str, expected: str) -> None:
    assert spell(text) == unicodedata.normalize("NFD", expected)


def test_phonemes_are_decomposed_to_single_code_points() -> None:
    nasal = spell("un bon vin blanc", "fr")
    assert "\N{COMBINING TILDE}" in nasal
    assert nasal == unicodedata.normalize("NFD", nasal)


def test_a_word_in_another_language_leaves_no_flag() -> None:
    assert spell("le weekend", "fr") == "lə- wiːkˈɛnd"


def test_clauses_may_begin_with_any_letter() -> None:
    assert spell_words("bonjour? À bientôt. Été", "fr").keys() == {
        "bonjour?",
        "À",
        "bientôt.",
        "Été",
    }
    assert spell_words("bonjour? À bientôt. Été", "fr")["Été"] == "etˈe"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the end of the day", {"of": "ʌv", "day": "dˈeɪ"}),
        ("to the end", {"to": "tə", "the": "ðɪ", "end": "ˈɛnd"}),
        ("of 5,000 in the town", {"5,000": "fˈaɪv θˈaʊzənd", "in": "ɪn", "the": "ðə"}),
        ("ran… he — said", {"ran…": "ɹˈæn;", "he": "hiː;", "—": "", "said": "sˈɛd"}),
        ("hi…there and so", {"hi…there": "hˈaɪ; ðɛɹ", "and": "ænd", "so": "sˈoʊ"}),
        ("twenty-one a.m. so", {"twenty-one": "twˈɛntiwˈʌn", "a.m.": "ˌeɪˈɛm", "so": "sˈoʊ"}),
    ],
)
def test_each_word_has_its_own_phonemes(text: str, expected: dict[str, str]) -> None:
    spoken = spell_words(text)
    found = {word: spoken[word] for word in expected}
    assert found == {key: unicodedata.normalize("NFD", value) for key, value in expected.items()}


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(["of", "the", "1,234.5", "end.", "a…b", "—", "日本語", "what?!", "x"]),
        ),
        max_size=12,
    ),
    voice=st.sampled_from(["en-us", "de", "fr", "ru", "cmn"]),
)
def test_owners_never_go_back_and_are_words_of_the_sentence(text: list[str], voice: str) -> None:
    words = [Word(piece, 0, 0) for piece in text]
    owners = [phoneme.word for phoneme in phonemize(words, voice)]
    assert owners == sorted(owners)
    assert set(owners) <= set(range(len(words)))


def test_a_word_of_several_owns_all_their_phonemes() -> None:
    phonemes = phonemize([Word("five dollars", 0, 2), Word("now", 3, 6)], "en-us")
    first = "".join(item.symbol for item in phonemes if item.word == 0)
    assert first == unicodedata.normalize("NFD", "fˈaɪv dˈɑːlɚz ")
    assert {item.word for item in phonemes[len(first) :]} == {1}


@pytest.mark.parametrize("words", [[], [Word("", 0, 0)], [Word("...", 0, 3)], [Word("?!", 0, 2)]])
def test_silence_has_no_phonemes(words: list[Word]) -> None:
    assert phonemize(words, "en-us") == []


ID_MAP = {"_": [0], "^": [1], "$": [2], "a": [5], "b": [6, 7]}


def test_the_pad_follows_every_id_but_the_last() -> None:
    phonemes = phonemize(split_words("hello"), "en-us")[:2]
    known = {**ID_MAP, phonemes[0].symbol: [5], phonemes[1].symbol: [6, 7]}
    assert encode(phonemes, known) == ([1, 0, 5, 0, 6, 7, 0, 2], [2, 4])


def test_a_phoneme_that_the_model_does_not_know_takes_no_id() -> None:
    phonemes = phonemize(split_words("hello"), "en-us")[:2]
    assert encode(phonemes, {**ID_MAP, phonemes[1].symbol: [5]}) == ([1, 0, 5, 0, 2], [2, 2])


def test_an_unknown_voice_is_a_voice_file_error() -> None:
    with pytest.raises(VoiceFileError, match="klingonish"):
        select_voice("klingonish")
