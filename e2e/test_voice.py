"""The real voice, heard in the page and held against the server's own samples of the same request.

Speech is periodic and has pauses, so no bound on correlation would mean anything; but wherever
silence came in or a syllable was lost, all that follows lies elsewhere.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser

from app.audit.alignment import LagStep, LagTrack, Samples, track_lag
from app.audit.gaps import Span, find_heard, find_zero_runs
from app.main import create_app
from app.settings import Settings
from app.speech.encoder import StreamEncoder
from app.speech.stream import EncoderFactory
from e2e.listen import ATTEMPTS, Take, listen
from tests.naive import NaiveEncoder
from tests.serving import serving

TEXT: Final = (
    "Friday evening was warm, and the old harbour lay perfectly still under a copper sky."
    " Nobody in the village had expected the letter; it arrived with 42 others, tied with string."
    " Margaret read it twice, folded it carefully, and walked out along the wall to think."
    " Would they really close the lighthouse after nearly two hundred years?"
    " The lamp had never failed him, and it would not fail now, she decided."
    " By the time the stars came out there was a plan, and by midnight there were seventeen"
    " people in her kitchen, all of them talking at once about tomorrow."
)
SHORT_TEXT: Final = "The lamp had never failed him, and it would not fail now, she decided."
SEED: Final = 20
INTERVAL_SECONDS: Final = 0.5
FORMATS: Final = ("mp3", "webm")
LONGEST_STEP_SECONDS: Final = 1e-3
SYLLABLE_SECONDS: Final = 0.02
NEARBY_SECONDS: Final = 0.3
"""A step is placed to a window, and later ones lie where the earlier ones moved them."""
_LOG: Final = logging.getLogger(__name__)


@contextmanager
def serve_voice(cache: Path, make_encoder: EncoderFactory = StreamEncoder) -> Iterator[str]:
    """Serve the embedded voice through `make_encoder`; gives the address."""
    with serving(create_app(Settings(cache_folder=cache), make_encoder=make_encoder)) as address:
        yield address


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("voices")


def fetch_samples(address: str, text: str) -> tuple[Samples, int]:
    """Fetch what the voice makes of `text`, as PCM, and its rate in Hz."""
    body = {
        "input": text,
        "response_format": "pcm",
        "seed": SEED,
        "streaming_interval": INTERVAL_SECONDS,
    }
    answer = httpx.post(f"{address}/v1/audio/speech", json=body, timeout=120).raise_for_status()
    samples = np.frombuffer(answer.content, dtype="<i2").astype(np.float32) / np.float32(32768)
    return samples, int(answer.headers["X-Audio-Sample-Rate"])


def follow(captured: Samples, made: Samples, rate: int) -> LagTrack:
    return track_lag(
        captured, made, rate=rate, window_seconds=0.05, step_seconds=LONGEST_STEP_SECONDS
    )


def find_words(captured: Samples, made: Samples, track: LagTrack) -> Span:
    return find_heard(captured, made, track, block_seconds=SYLLABLE_SECONDS)


def listen_to_voice(
    browser: Browser, address: str, made: Samples, rate: int
) -> Mapping[str, tuple[Samples, LagTrack]]:
    """Give what was heard in each format, and where; takes that starved are played again."""
    heard: dict[str, tuple[Samples, LagTrack]] = {}
    waiting = list(FORMATS)
    for _ in range(ATTEMPTS):
        takes = [Take(TEXT, "", name, INTERVAL_SECONDS, SEED) for name in waiting]
        captures = listen(browser, address, takes, rate=rate) if takes else []
        for name, capture in zip(waiting, captures, strict=True):
            heard[name] = (capture.samples, follow(capture.samples, made, rate))
        waiting = [name for name in waiting if is_starved(*heard[name])]
    return heard


def is_starved(captured: Samples, track: LagTrack) -> bool:
    """Whether there are steps, and each is as long a run of exact zeros as it inserts.

    So sounds a browser whose decoder got no processor time. Silence that a codec has coded is not
    exactly zero, and a loss has no run at all.
    """
    runs = find_zero_runs(captured, rate=track.rate)

    def explains(run: Span, step: LagStep) -> bool:
        distance = run.start_seconds - step.at_seconds - track.first_lag_seconds
        return abs(distance) < NEARBY_SECONDS and run.length_seconds > 0.9 * step.size_seconds > 0

    return bool(track.steps) and all(any(explains(run, s) for run in runs) for s in track.steps)


def test_the_voice_is_heard_without_a_seam_from_its_first_word_to_its_last(
    browser: Browser, cache: Path
) -> None:
    with serve_voice(cache) as address:
        made, rate = fetch_samples(address, TEXT)
        heard = listen_to_voice(browser, address, made, rate)
    assert len(made) / rate > max(30, 20 * INTERVAL_SECONDS)
    whole = find_words(made, made, follow(made, made, rate))
    for name, (captured, track) in heard.items():
        words = find_words(captured, made, track)
        spread = track.spread_seconds * 1e3
        _LOG.info("%s: spread %.3f ms, heard %s, made %s", name, spread, words, whole)
        assert track.steps == ()
        assert track.spread_seconds <= LONGEST_STEP_SECONDS
        assert words.start_seconds == pytest.approx(whole.start_seconds, abs=SYLLABLE_SECONDS)
        assert words.end_seconds == pytest.approx(whole.end_seconds, abs=SYLLABLE_SECONDS)


def test_a_file_per_chunk_is_heard_in_speech_too(browser: Browser, cache: Path) -> None:
    with serve_voice(cache, NaiveEncoder) as address:
        made, rate = fetch_samples(address, SHORT_TEXT)
        take = Take(SHORT_TEXT, "", "mp3", INTERVAL_SECONDS, SEED)
        (capture,) = listen(browser, address, [take], rate=rate)
    track = follow(capture.samples, made, rate)
    _LOG.info("a file per chunk inserts %.3f s", track.inserted_seconds)
    assert not is_starved(capture.samples, track)
    assert len(track.steps) > len(made) / rate
    assert track.inserted_seconds > 0.05 * len(track.steps)
