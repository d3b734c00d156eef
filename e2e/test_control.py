"""The laws are not blind: each fault that they exist for breaks them, in the same page.

A file per chunk is the bug that this project ends. While it plays, `buffered` stays one range, no
`waiting` comes and nothing fails; its silence is not exactly zero, and its first and last samples
are there. Every other law tells.
"""

from collections.abc import Mapping
from typing import Final

import pytest
from playwright.sync_api import Browser

from app.speech.stream import EncoderFactory
from e2e.conftest import RATE, serve_signals
from e2e.faults import LateStart, MillisecondHole, MillisecondLoss
from e2e.laws import Law, Voice, judge
from e2e.listen import Take, listen
from tests.naive import NaiveEncoder

SECONDS: Final = 4
TEXT: Final = " ".join(["second"] * SECONDS)

Broken = Mapping[tuple[str, Voice], set[Law]]

A_FILE_PER_CHUNK: Final[Broken] = {
    ("mp3", "noise"): {"inserted", "jump", "correlation", "duration"},
    ("mp3", "chirp"): {"inserted", "jump", "correlation", "duration", "dip"},
    ("webm", "noise"): {"inserted", "jump", "correlation", "duration", "end"},
    ("webm", "chirp"): {"inserted", "jump", "correlation", "duration", "dip", "end"},
}
A_HOLE: Final[Broken] = {
    ("mp3", "noise"): {"inserted", "jump", "correlation"},
    ("mp3", "chirp"): {"inserted", "jump", "correlation", "dip"},
    ("webm", "chirp"): {"inserted", "jump", "correlation", "dip"},
    ("mp4-flac", "chirp"): {"inserted", "jump", "correlation", "dip", "zeros", "duration"},
}
A_LOSS: Final[Broken] = {
    ("mp3", "noise"): {"jump", "correlation"},
    ("webm", "noise"): {"jump", "correlation"},
    ("mp4-flac", "noise"): {"jump", "correlation", "duration"},
}
A_LATE_START: Final[Broken] = {
    ("mp3", "noise"): {"start"},
    ("webm", "noise"): {"start"},
    ("mp4", "noise"): {"start"},
}


@pytest.mark.parametrize(
    ("make_encoder", "expected"),
    [
        pytest.param(NaiveEncoder, A_FILE_PER_CHUNK, id="a file per chunk"),
        pytest.param(MillisecondHole, A_HOLE, id="a hole of 1 ms"),
        pytest.param(MillisecondLoss, A_LOSS, id="1 ms lost"),
        pytest.param(LateStart, A_LATE_START, id="2 ms of silence in place of the start"),
    ],
)
def test_a_fault_breaks_the_laws_that_exist_for_it(
    make_encoder: EncoderFactory, expected: Broken, browser: Browser
) -> None:
    takes = [Take(TEXT, voice, name) for name, voice in expected]
    with serve_signals(make_encoder) as site:
        captures = listen(browser, site.address, takes, rate=RATE)
    for ((name, voice), laws), capture in zip(expected.items(), captures, strict=True):
        made = site.engine.make(voice, SECONDS)
        findings = judge(capture, made, voice=voice, audio_format=name)
        print(f"{name}, {voice}: {findings}")
        assert findings.broken >= laws


def test_a_file_per_chunk_inserts_as_much_as_its_frames_and_delays_say(browser: Browser) -> None:
    """Each seam of a second of mp3 at 24 kHz adds ceil((n + 1105) / 576) frames less n: 56 ms."""
    with serve_signals(NaiveEncoder) as site:
        (capture,) = listen(browser, site.address, [Take(TEXT, "noise", "mp3")], rate=RATE)
    findings = judge(capture, site.engine.make("noise", SECONDS), voice="noise", audio_format="mp3")
    assert [round(step.size_seconds, 4) for step in findings.track.steps] == [0.056] * 3
