"""The laws are not blind: each fault that they exist for breaks them, in the same page.

A file per chunk is the bug that this project ends. While it plays, `buffered` stays one range, no
`waiting` comes and nothing fails, its silence is not exactly zero, and it is cut to the length of
the speech. Every other law tells.
"""

import logging
from collections.abc import Collection, Mapping
from typing import Final

import pytest
from playwright.sync_api import Browser

from app.speech.encoder import StreamEncoder
from e2e.conftest import RATE, serve_signals
from e2e.faults import ClippedEnds, MillisecondHole, MillisecondLoss
from e2e.laws import Findings, Law, Voice, judge
from e2e.listen import Take, listen
from tests.naive import NaiveEncoder

SECONDS: Final = 3
_LOG: Final = logging.getLogger(__name__)
TEXT: Final = " ".join(["second"] * SECONDS)

Kind = tuple[str, Voice]
Broken = Mapping[Kind, set[Law]]

A_FILE_PER_CHUNK: Final[Broken] = {
    # The page knows how long the speech is, and the seams have pushed the rest beyond that.
    ("mp3", "noise"): {"inserted", "jump", "correlation", "end"},
    ("mp3", "chirp"): {"inserted", "jump", "correlation", "end", "dip"},
    # Block times that begin anew overwrite what came before: only the last chunk is heard.
    ("webm", "noise"): {"correlation", "duration"},
    ("webm", "chirp"): {"correlation", "duration"},
}
A_HOLE: Final[Broken] = {
    ("mp3", "noise"): {"inserted", "jump", "correlation"},
    ("mp3", "chirp"): {"inserted", "jump", "correlation", "dip"},
    ("webm", "chirp"): {"inserted", "jump", "correlation", "dip"},
    ("mp4-flac", "chirp"): {"inserted", "jump", "correlation", "dip", "zeros", "end"},
}
A_LOSS: Final[Broken] = {
    ("mp3", "noise"): {"jump", "correlation"},
    ("webm", "noise"): {"jump", "correlation"},
    ("mp4-flac", "noise"): {"jump", "correlation", "duration"},
}
CLIPPED_ENDS: Final[Broken] = {
    ("mp3", "noise"): {"start", "end"},
    ("webm", "noise"): {"start", "end"},
    ("mp4", "noise"): {"start", "end"},
}


def judge_fault(
    browser: Browser, make_encoder: type[StreamEncoder | NaiveEncoder], kinds: Collection[Kind]
) -> Mapping[Kind, Findings]:
    takes = [Take(TEXT, voice, name) for name, voice in kinds]
    with serve_signals(make_encoder) as site:
        captures = listen(browser, site.address, takes, rate=RATE)
    judged = {}
    for (name, voice), capture in zip(kinds, captures, strict=True):
        made = site.engine.make(voice, SECONDS)
        judged[name, voice] = judge(capture, made, voice=voice, audio_format=name)
        _LOG.info("%s: %s, %s: %s", make_encoder.__name__, name, voice, judged[name, voice])
    return judged


def test_a_file_per_chunk_breaks_every_law_that_can_tell(browser: Browser) -> None:
    """Each seam of a second of mp3 at 24 kHz adds ceil((n + 1105) / 576) frames less n: 56 ms."""
    judged = judge_fault(browser, NaiveEncoder, A_FILE_PER_CHUNK)
    for kind, laws in A_FILE_PER_CHUNK.items():
        assert judged[kind].broken >= laws
    steps = judged["mp3", "noise"].track.steps
    assert [round(step.size_seconds, 4) for step in steps] == [0.056] * (SECONDS - 1)


@pytest.mark.parametrize(
    ("make_encoder", "expected"),
    [
        pytest.param(MillisecondHole, A_HOLE, id="a hole of 1 ms"),
        pytest.param(MillisecondLoss, A_LOSS, id="1 ms lost"),
        pytest.param(ClippedEnds, CLIPPED_ENDS, id="2 ms of silence at each end"),
    ],
)
def test_a_fault_breaks_the_laws_that_exist_for_it(
    make_encoder: type[StreamEncoder], expected: Broken, browser: Browser
) -> None:
    judged = judge_fault(browser, make_encoder, expected)
    for kind, laws in expected.items():
        assert judged[kind].broken >= laws
