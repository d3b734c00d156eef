"""When sound starts, where it starts, and who hears of it when it is no longer wanted."""

import logging
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import pytest
from playwright.sync_api import Browser

from app.audit.alignment import track_lag
from app.audit.gaps import find_heard
from e2e.conftest import RATE, SignalSite
from e2e.laws import EDGE_SECONDS, Findings, judge
from e2e.listen import ATTEMPTS, Take, listen
from e2e.tab import ListeningTab

FORMATS: Final = ("webm", "mp3", "mp4", "mp4-flac")
PATIENCE_SECONDS: Final = 60
SOUGHT_SECONDS: Final = 1.0
MARGIN_SECONDS: Final = 0.1
_LOG: Final = logging.getLogger(__name__)


def measure_leads(
    browser: Browser, site: SignalSite, formats: Iterable[str], *, hide_priming: bool = False
) -> Mapping[str, float]:
    """Give, by format, how late the sound lies on the element's clock, in seconds.

    What is heard from the moment that the element is sent to depends on no timing at all.
    """
    made = site.engine.make("noise", 2.0)[round((SOUGHT_SECONDS - MARGIN_SECONDS) * RATE) :]
    leads = {}
    with ExitStack() as stack:
        tabs = {
            name: stack.enter_context(ListeningTab(browser, site.address, rate=RATE))
            for name in formats
        }
        for name, tab in tabs.items():
            if hide_priming:
                tab.hide_priming()
            tab.open("second second", voice="noise", audio_format=name)
            tab.press("Play")
        for name, tab in tabs.items():
            tab.tap.finish()
            tab.tap.play_from(SOUGHT_SECONDS)
            captured = tab.tap.finish().samples
            track = track_lag(captured, made, rate=RATE)
            heard = find_heard(captured, made, track, block_seconds=0.25e-3)
            leads[name] = MARGIN_SECONDS - heard.start_seconds
            _LOG.info("%s: lead %.2f ms", name, leads[name] * 1e3)
    return leads


def test_the_first_sample_made_lies_at_time_zero(browser: Browser, signals: SignalSite) -> None:
    leads = measure_leads(browser, signals, FORMATS)
    assert all(abs(lead) <= EDGE_SECONDS for lead in leads.values())


def test_untold_of_the_priming_the_page_starts_late(browser: Browser, signals: SignalSite) -> None:
    leads = measure_leads(browser, signals, ("mp3", "webm"), hide_priming=True)
    assert leads["mp3"] == pytest.approx(576 / 24_000, abs=EDGE_SECONDS)
    assert leads["webm"] == pytest.approx(312 / 48_000, abs=EDGE_SECONDS)


def judge_ends(
    browser: Browser, site: SignalSite, formats: Iterable[str], *, told: Mapping[str, Any] | None
) -> Mapping[str, Findings]:
    """Judge a second in some formats, where the page is `told` of its end, or of none."""
    made = site.engine.make("noise", 1.0)
    with ExitStack() as stack:
        tabs = {
            name: stack.enter_context(ListeningTab(browser, site.address, rate=RATE))
            for name in formats
        }
        for name, tab in tabs.items():
            if told is None:
                tab.tell_nothing()
            else:
                tab.tell_instead("total", told)
            tab.open("second", voice="noise", audio_format=name)
            tab.press("Play")
        found = {
            name: judge(tab.tap.finish(), made, voice="noise", audio_format=name)
            for name, tab in tabs.items()
        }
    for name, findings in found.items():
        _LOG.info("told %s, %s: %s", told, name, findings)
    return found


def test_untold_of_the_end_the_page_plays_the_padding_too(
    browser: Browser, signals: SignalSite
) -> None:
    found = judge_ends(browser, signals, FORMATS, told=None)
    assert found["mp4"].broken == {"tail", "duration"}
    # WebM says itself what to discard, but only to the decoder.
    assert found["webm"].broken == {"duration"}
    assert found["mp3"].broken == {"duration"}
    assert found["mp4-flac"].broken == set()


def test_told_of_a_wrong_end_the_page_loses_nothing(browser: Browser, signals: SignalSite) -> None:
    found = judge_ends(browser, signals, ("mp3", "mp4"), told={"seconds": 0.25})
    for findings in found.values():
        assert findings.broken <= {"tail", "duration"}


@pytest.mark.parametrize("audio_format", ["webm", "mp3"])
def test_sound_is_heard_before_generation_has_ended(
    audio_format: str, browser: Browser, signals: SignalSite
) -> None:
    gate = signals.engine.hold_after(2.0)
    with ListeningTab(browser, signals.address, rate=RATE) as tab:
        tab.override(streaming_interval=0.5)
        tab.open("second second second", voice="noise", audio_format=audio_format)
        tab.press("Play")
        tab.tap.wait_until_heard()
        assert signals.engine.endings.empty()
        gate.open()
        assert tab.tap.finish().duration_seconds > 2.9
        assert tab.complaints == []
    assert signals.engine.endings.get(timeout=PATIENCE_SECONDS) == "finished"


def test_stop_reaches_the_worker(browser: Browser, signals: SignalSite) -> None:
    signals.engine.hold_after(2.0)
    with ListeningTab(browser, signals.address, rate=RATE) as tab:
        tab.open("second second second", voice="noise")
        tab.press("Play")
        tab.tap.wait_until_heard()
        tab.press("Stop")
        assert signals.engine.endings.get(timeout=PATIENCE_SECONDS) == "closed"
        tab.wait_for_status("Stopped.")
        assert tab.complaints == []


def test_closing_the_tab_reaches_the_worker(browser: Browser, signals: SignalSite) -> None:
    signals.engine.hold_after(2.0)
    with ListeningTab(browser, signals.address, rate=RATE) as tab:
        tab.open("second second second", voice="noise")
        tab.press("Play")
        tab.tap.wait_until_heard()
    assert signals.engine.endings.get(timeout=PATIENCE_SECONDS) == "closed"


def test_two_tabs_whose_generations_take_turns_both_stay_gapless(
    browser: Browser, signals: SignalSite
) -> None:
    for _ in range(ATTEMPTS):
        findings = judge_two_tabs(browser, signals)
        if not any(found.zero_runs for found in findings):
            break
    assert [found.broken for found in findings] == [frozenset(), frozenset()]


def judge_two_tabs(browser: Browser, signals: SignalSite) -> list[Findings]:
    """Play in two tabs, both begun before either generation may end."""
    formats = ("webm", "mp3")
    made = signals.engine.make("noise", 6.0)
    gate = signals.engine.hold_after(4.0)
    takes = [Take(" ".join(["second"] * 6), "noise", name, 0.1) for name in formats]
    captures = listen(browser, signals.address, takes, rate=RATE, once_all_are_heard=gate.open)
    return [
        judge(capture, made, voice="noise", audio_format=name)
        for name, capture in zip(formats, captures, strict=True)
    ]


def test_a_clip_of_50_ms_is_heard_to_its_end(browser: Browser, signals: SignalSite) -> None:
    takes = [Take("blip", "noise", name) for name in FORMATS]
    made = signals.engine.make("noise", 0.05)
    for capture in listen(browser, signals.address, takes, rate=RATE):
        track = track_lag(capture.samples, made, rate=RATE, window_seconds=0.02, hop_seconds=0.01)
        heard = find_heard(capture.samples, made, track)
        assert heard.start_seconds <= EDGE_SECONDS
        assert heard.end_seconds >= 0.05 - EDGE_SECONDS
