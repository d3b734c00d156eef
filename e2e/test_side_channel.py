"""What the page makes of a speech's events: captions, its place in the queue, why it broke off."""

import json
from contextlib import ExitStack
from typing import Any, Final

import pytest
from playwright.sync_api import Browser

from app.errors import LegatoError
from e2e.conftest import SignalSite, serve_signals
from e2e.signals import WORD_SECONDS
from e2e.tab import Tab

PATIENCE_SECONDS: Final = 60
BLIPS: Final = 40
FRAME_SECONDS: Final = 0.1
"""How far the element's clock may run between two looks at it in one frame, on a busy machine."""

WATCH: Final = """() => new Promise((done) => {
    const audio = document.getElementById("audio");
    const box = document.getElementById("captions");
    const seen = [];
    const look = () => {
        const words = [...box.querySelectorAll("span")];
        const index = words.findIndex((word) => word.classList.contains("heard"));
        const { top, bottom } = box.getBoundingClientRect();
        const place = words[index]?.getBoundingClientRect();
        seen.push({
            seconds: audio.currentTime,
            index,
            begun: words.filter((word) => word.classList.contains("begun")).length,
            isInView: !place || (place.top >= top && place.bottom <= bottom),
        });
        if (audio.ended) done(seen);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""
"""The page's own look at the clock comes first in each frame, since it was asked for first."""


def test_the_captions_follow_the_voice_and_stay_in_view(
    browser: Browser, signals: SignalSite
) -> None:
    text = " ".join(["second", *["blip"] * BLIPS, "second"])
    phone: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "reduced_motion": "reduce"}
    with Tab(browser, signals.address, **phone) as tab:
        tab.open(text, voice="noise")
        tab.press("Play")
        tab.wait_for_status("Speaking.")
        seen = tab.page.evaluate(WATCH)
        assert tab.page.locator("#captions").inner_text() == text
        assert tab.complaints == []
    ends = list_ends(text)
    heard = [look for look in seen if look["index"] >= 0]
    for look in heard:
        start = ends[look["index"] - 1] if look["index"] else 0.0
        assert start - FRAME_SECONDS <= look["seconds"] <= ends[look["index"]] + FRAME_SECONDS
        assert look["begun"] == look["index"] + 1
        assert look["isInView"]
    assert {0, 1, len(ends) - 1} <= {look["index"] for look in heard}
    assert len({look["index"] for look in heard}) > BLIPS / 2
    assert seen[-1]["index"] == -1
    assert seen[-1]["begun"] == len(ends)


def list_ends(text: str) -> list[float]:
    """Give when each word of one sentence ends, in seconds."""
    ends = [0.0]
    for word in text.split():
        ends.append(ends[-1] + WORD_SECONDS[word])
    return ends[1:]


def test_those_who_wait_see_their_place_in_the_queue(browser: Browser) -> None:
    with serve_signals(re_entrant=False) as site, ExitStack() as stack:
        gate = site.engine.hold_after(0)
        tabs = [stack.enter_context(Tab(browser, site.address)) for _ in range(3)]
        places = ["Waiting for the first sound", "Waiting: next in the queue", "Waiting: 2nd in"]
        for tab, place in zip(tabs, places, strict=True):
            tab.open("second", voice="noise")
            tab.press("Play")
            tab.wait_for_status(place)
            assert gate.reached.wait(PATIENCE_SECONDS)
        gate.open()
        for tab in tabs:
            tab.wait_for_status("Finished.")
            assert tab.complaints == []


@pytest.mark.parametrize("seconds_before", [1.0, 0.1])
def test_a_speech_that_fails_midway_says_why_where_it_was_cut(
    seconds_before: float, browser: Browser, signals: SignalSite
) -> None:
    gate = signals.engine.hold_after(seconds_before)
    with Tab(browser, signals.address) as tab:
        tab.override(streaming_interval=0.1)
        tab.open("second second", voice="noise", audio_format="mp3")
        tab.press("Play")
        assert gate.reached.wait(PATIENCE_SECONDS)
        gate.fail(LegatoError("The voice lost its breath."))
        alert = tab.page.get_by_role("alert").filter(has_text="The voice lost its breath.")
        alert.wait_for()
        tab.wait_for_status("Stopped by a problem.")
        assert "press Play again" in alert.inner_text()
        # Chromium itself reports every body that breaks off.
        assert all("ERR_INCOMPLETE_CHUNKED" in complaint for complaint in tab.complaints)


def test_a_stall_is_reported_once_the_playback_is_over(
    browser: Browser, signals: SignalSite
) -> None:
    gate = signals.engine.hold_after(1.0)
    with Tab(browser, signals.address) as tab:
        tab.open("second second", voice="noise")
        tab.press("Play")
        tab.wait_for_status("Waiting for more sound")
        with tab.page.expect_response("**/v1/audio/speech/*/playback") as answer:
            gate.open()
        tab.wait_for_status("Finished.")
        assert tab.complaints == []
    assert answer.value.status == 204
    report = json.loads(answer.value.request.post_data or "")
    assert report["underruns"] == 1
    assert report["stalled_seconds"] > 0
