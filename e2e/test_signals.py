"""Signals through the page: every format, whole and cut to crumbs, obeys every law."""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from playwright.sync_api import Browser

from e2e.conftest import RATE, SignalSite
from e2e.laws import Findings, Voice, judge
from e2e.listen import ATTEMPTS, Take, listen

SECONDS: Final = 5
TEXT: Final = " ".join(["second"] * SECONDS)
FORMATS: Final = ("webm", "mp3", "mp4", "mp4-flac")
VOICES: Final[tuple[Voice, ...]] = ("noise", "chirp")
LOSSLESS_CORRELATION: Final = 0.99999
_LOG: Final = logging.getLogger(__name__)

Kind = tuple[str, Voice]
Heard = Mapping[Kind, Findings]


def judge_all(browser: Browser, site: SignalSite, *, recut_seed: int | None = None) -> Heard:
    """Judge every format with every voice, four tabs at a time."""
    heard: dict[Kind, Findings] = {}
    for voice in VOICES:
        waiting = [(name, voice) for name in FORMATS]
        for _ in range(ATTEMPTS):
            heard |= judge_kinds(browser, site, waiting, recut_seed=recut_seed)
            waiting = [kind for kind in waiting if heard[kind].zero_runs]
    return heard


def judge_kinds(
    browser: Browser, site: SignalSite, kinds: Sequence[Kind], *, recut_seed: int | None
) -> Heard:
    takes = [Take(TEXT, voice, name, 0.5, recut_seed=recut_seed) for name, voice in kinds]
    captures = listen(browser, site.address, takes, rate=RATE)
    assert recut_seed is None or all(capture.appends > 100 for capture in captures)
    heard = {
        (name, voice): judge(
            capture, site.engine.make(voice, SECONDS), voice=voice, audio_format=name
        )
        for (name, voice), capture in zip(kinds, captures, strict=True)
    }
    for (name, voice), findings in heard.items():
        cut = "whole" if recut_seed is None else "crumbs"
        _LOG.info("%s, %s, %s: %s", name, voice, cut, findings)
    return heard


@pytest.fixture(scope="module")
def whole(browser: Browser, shared_signals: SignalSite) -> Heard:
    return judge_all(browser, shared_signals)


@pytest.fixture(scope="module")
def crumbs(browser: Browser, shared_signals: SignalSite) -> Heard:
    return judge_all(browser, shared_signals, recut_seed=7)


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("audio_format", FORMATS)
def test_a_streamed_signal_breaks_no_law(audio_format: str, voice: Voice, whole: Heard) -> None:
    assert not whole[audio_format, voice].broken


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("audio_format", FORMATS)
def test_a_signal_cut_to_crumbs_breaks_no_law(
    audio_format: str, voice: Voice, crumbs: Heard
) -> None:
    assert not crumbs[audio_format, voice].broken


@pytest.mark.parametrize("voice", VOICES)
def test_the_lossless_control_reads_exact(voice: Voice, whole: Heard, crumbs: Heard) -> None:
    for findings in (whole["mp4-flac", voice], crumbs["mp4-flac", voice]):
        assert findings.track.minimum_correlation > LOSSLESS_CORRELATION
        assert findings.track.spread_seconds < 1e-6
