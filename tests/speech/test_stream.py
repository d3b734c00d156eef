"""From a text to one run of samples and one container."""

from collections.abc import Generator, Iterator
from contextlib import closing

import numpy as np
import pytest

from app.errors import NothingToSpeakError
from app.speech.engine import AudioChunk, Samples
from app.speech.stream import EncodedChunk, Speech, encoded
from app.speech.stream import spoken as spoken_or_waiting
from app.speech.text import Sentence, sentences
from tests.voices import SilentEngine, ToneEngine

TEXT = "One two. Three four five.\n\nA new paragraph follows."


def speak(
    engine: ToneEngine, text: str = TEXT, *, speed: float = 1, seed: int | None = None
) -> Speech:
    return Speech(lambda: sentences(text), engine.voices[0], speed=speed, seed=seed)


def spoken(engine: ToneEngine, speech: Speech) -> Generator[AudioChunk]:
    """Speak a script that never waits."""
    for chunk in spoken_or_waiting(engine, speech):
        assert chunk is not None
        yield chunk


class RecordingEncoder:
    def __init__(self, rate: int, *, fail: bool = False) -> None:
        self.rate = rate
        self.fail = fail
        self.fed: list[Samples] = []
        self.closed = False

    def feed(self, samples: Samples) -> bytes:
        if self.fail:
            raise ValueError("no space left")
        self.fed.append(samples)
        return b"f"

    def finish(self) -> bytes:
        return b"e"

    def close(self) -> None:
        self.closed = True


def test_pauses_between_sentences_are_samples_and_longer_between_paragraphs() -> None:
    engine = ToneEngine()
    chunks = list(spoken(engine, speak(engine)))
    silences = [len(chunk.samples) for chunk in chunks if not chunk.samples.any()]
    assert len(silences) == 2
    assert 0 < silences[0] < silences[1]
    assert chunks[-1].samples.any()


def test_pauses_follow_the_speed() -> None:
    def measure(speed: float) -> int:
        engine = ToneEngine()
        chunks = spoken(engine, speak(engine, speed=speed))
        return sum(len(chunk.samples) for chunk in chunks if not chunk.samples.any())

    assert measure(2) == pytest.approx(measure(1) / 2, abs=2)


def test_marks_count_from_the_start_of_text_and_sound() -> None:
    engine = ToneEngine()
    position = 0
    heard: list[str] = []
    for chunk in spoken(engine, speak(engine)):
        for mark in chunk.marks:
            assert position <= mark.start < position + len(chunk.samples)
            heard.append(TEXT[mark.text_start : mark.text_end])
        position += len(chunk.samples)
    words = [word.strip(".") for word in TEXT.split()]
    assert [word.strip(".") for word in heard] == words


def test_each_sentence_has_a_seed_of_its_own_and_the_same_one_each_time() -> None:
    def note_seeds() -> list[int | None]:
        engine = ToneEngine()
        list(spoken(engine, speak(engine, seed=2**32 - 1)))
        return [utterance.seed for utterance in engine.utterances]

    seeds = note_seeds()
    assert seeds == note_seeds()
    assert len(set(seeds)) == len(seeds) == 3
    assert all(seed is not None and 0 <= seed < 2**32 for seed in seeds)


def test_without_a_seed_none_is_passed_on() -> None:
    engine = ToneEngine()
    list(spoken(engine, speak(engine)))
    assert {utterance.seed for utterance in engine.utterances} == {None}


@pytest.mark.parametrize("text", ["", "...", TEXT])
def test_no_sound_at_all_is_an_error_that_says_so(text: str) -> None:
    engine = SilentEngine()
    with pytest.raises(NothingToSpeakError):
        list(spoken(engine, speak(engine, text)))


def test_sentences_are_spoken_as_they_are_asked_for() -> None:
    engine = ToneEngine()
    with closing(spoken(engine, speak(engine))) as chunks:
        next(chunks)
        assert len(engine.utterances) == 1


def test_all_samples_are_fed_to_one_encoder_in_order() -> None:
    engine, encoders = ToneEngine(), []

    def make(rate: int) -> RecordingEncoder:
        encoders.append(RecordingEncoder(rate))
        return encoders[-1]

    pieces = [piece for piece in encoded(engine, speak(engine), make) if piece is not None]
    body = b"".join(piece.data for piece in pieces)
    (encoder,) = encoders
    expected = np.concatenate([chunk.samples for chunk in spoken(engine, speak(engine))])
    assert np.array_equal(np.concatenate(encoder.fed), expected)
    assert body == b"f" * len(encoder.fed) + b"e"
    assert encoder.closed
    assert encoder.rate == engine.sample_rate
    assert sum(piece.samples for piece in pieces) == len(expected)
    assert [piece.last for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_a_script_that_waits_lets_others_go_on_and_changes_nothing() -> None:
    def wait_between() -> Iterator[Sentence | None]:
        for sentence in sentences(TEXT):
            yield None
            yield sentence
            yield None

    engine = ToneEngine()
    speech = Speech(wait_between, engine.voices[0])
    chunks = list(spoken_or_waiting(engine, speech))
    assert chunks.count(None) == 6
    heard = np.concatenate([chunk.samples for chunk in chunks if chunk is not None])
    expected = np.concatenate([chunk.samples for chunk in spoken(engine, speak(engine))])
    assert np.array_equal(heard, expected)


def test_a_voice_without_a_pace_of_its_own_is_given_one() -> None:
    own, given = ToneEngine(), ToneEngine(has_pace=False)
    usual = sum(len(chunk.samples) for chunk in spoken(own, speak(own)))
    chunks = list(spoken(given, speak(given, speed=2)))
    assert sum(len(chunk.samples) for chunk in chunks) == pytest.approx(usual / 2, abs=10)
    assert {utterance.speed for utterance in given.utterances} == {1}
    starts = [mark.start for chunk in chunks for mark in chunk.marks]
    assert len(starts) == len(TEXT.split())
    assert starts == sorted(starts)


def test_speed_reaches_a_voice_that_has_a_pace() -> None:
    engine = ToneEngine()
    list(spoken(engine, speak(engine, speed=2)))
    assert {utterance.speed for utterance in engine.utterances} == {2}


def leave_early(pieces: Generator[EncodedChunk | None]) -> None:
    next(pieces)
    pieces.close()


def exhaust(pieces: Generator[EncodedChunk | None]) -> None:
    with pytest.raises(ValueError, match=r"the model broke|no space left"):
        list(pieces)


def test_leaving_early_closes_voice_and_encoder() -> None:
    engine, encoder = ToneEngine(), RecordingEncoder(0)
    leave_early(encoded(engine, speak(engine), lambda _rate: encoder))
    assert encoder.closed
    assert engine.closed.is_set()


def test_a_failing_voice_closes_the_encoder() -> None:
    engine, encoder = ToneEngine(fail_after=2), RecordingEncoder(0)
    exhaust(encoded(engine, speak(engine), lambda _rate: encoder))
    assert encoder.closed


def test_a_failing_encoder_closes_the_voice() -> None:
    engine, encoder = ToneEngine(), RecordingEncoder(0, fail=True)
    exhaust(encoded(engine, speak(engine), lambda _rate: encoder))
    assert encoder.closed
    assert engine.closed.is_set()
