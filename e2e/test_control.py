"""The laws are not blind: each fault that they exist for breaks them, in the same page.

A file per chunk is the bug that this project ends. `buffered` stays one range, no `waiting` comes
and nothing fails while it plays; only the laws tell.
"""

from collections.abc import Mapping
from typing import Final

import pytest
from playwright.sync_api import Browser

from app.speech.stream import EncoderFactory
from e2e.conftest import RATE, serve_signals
from e2e.faults import LateStart, MillisecondHole, MillisecondLoss
from tests.naive import NaiveEncoder
from e2e.laws import Findings, Voice, judge
from e2e.listen import Take, listen
from e2e.tab import ListeningTab

SECONDS: Final = 4
TEXT: Final = " ".join(["second"] * SECONDS)

Kind = tuple[str, Voice]
CHIRPS_AND_NOISE: Final[tuple[Kind, ...]] = (
    ("mp3", "noise"),
    ("mp3", "chirp"),
    ("webm", "noise"),
    ("webm", "chirp"),
    ("mp4-flac", "noise"),
    ("mp4-flac", "chirp"),
)


def break_it(browser: Browser, make_encoder: EncoderFactory) -> Mapping[Kind, Findings]:
    takes = [Take(TEXT, voice, name, 1.0) for name, voice in CHIRPS_AND_NOISE]
    with serve_signals(make_encoder) as site:
        captures = listen(browser, site.address, takes, rate=RATE)
        findings = {
            (name, voice): judge(
                capture, site.engine.make(voice, SECONDS), voice=voice, audio_format=name
            )
            for (name, voice), capture in zip(CHIRPS_AND_NOISE, captures, strict=True)
        }
    for (name, voice), found in findings.items():
        print(f"{make_encoder} {name:9}{voice:6}{found}")
    return findings


def test_x(browser: Browser) -> None:
    for enc in (NaiveEncoder, LateStart, MillisecondHole, MillisecondLoss):
        break_it(browser, enc)
