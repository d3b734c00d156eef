"""The page as a person meets it: by keyboard, without JavaScript, in the dark, on a phone."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import av
import pytest
from playwright.sync_api import Browser

from e2e.conftest import RATE, SignalSite
from e2e.tab import Tab

OpenTab = Callable[..., Tab]
PATIENCE_SECONDS: Final = 60
LOOKS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {
        "color_scheme": "light",
        "viewport": {"width": 360, "height": 740},
        "device_scale_factor": 3,
        "is_mobile": True,
        "has_touch": True,
    },
}


@pytest.fixture
def open_tab(browser: Browser, signals: SignalSite) -> Iterator[OpenTab]:
    """Open tabs under the page's own CSP; any complaint in a console fails the test."""
    with ExitStack() as stack:
        tabs: list[Tab] = []

        def open_it(**options: Any) -> Tab:  # noqa: ANN401 - Playwright's own
            tabs.append(stack.enter_context(Tab(browser, signals.address, **options)))
            return tabs[-1]

        yield open_it
        assert [complaint for tab in tabs for complaint in tab.complaints] == []


def test_the_keyboard_alone_speaks_and_stops(open_tab: OpenTab, signals: SignalSite) -> None:
    signals.engine.hold_after(1.0)
    tab = open_tab()
    tab.open()
    tab.page.get_by_role("textbox", name="Text").fill("second second second")
    tab.page.keyboard.press("Control+Enter")
    tab.wait_for_status("Speaking.")
    tab.page.keyboard.press("Escape")
    tab.wait_for_status("Stopped.")
    assert signals.engine.endings.get(timeout=PATIENCE_SECONDS) == "closed"


def test_every_control_is_reached_by_tab_in_the_order_of_reading(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.open("second")
    tab.page.get_by_role("textbox", name="Text").focus()
    reached = []
    for _ in range(4):
        tab.page.keyboard.press("Tab")
        reached.append(tab.page.evaluate("document.activeElement.id"))
    assert reached == ["voice", "speed", "format", "play"]


def test_a_speech_is_paused_resumed_and_then_downloaded(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.open("second second", voice="noise", audio_format="mp3")
    tab.press("Play")
    tab.wait_for_status("Speaking.")
    tab.press("Pause")
    tab.wait_for_status("Paused.")
    tab.press("Resume")
    tab.wait_for_status("Finished.")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "legato.mp3"
    assert count_seconds(Path(download.value.path()).read_bytes()) == pytest.approx(2, abs=0.1)


def test_without_javascript_the_form_gives_sound(open_tab: OpenTab) -> None:
    tab = open_tab(java_script_enabled=False)
    tab.page.goto("/")
    tab.page.get_by_role("textbox", name="Text").fill("second second")
    tab.page.get_by_role("combobox", name="Voice").select_option("chirp")
    tab.press("Play")
    source = tab.page.locator("audio[controls]").get_attribute("src")
    assert source is not None
    body = tab.page.request.get(source).body()
    assert count_seconds(body) == pytest.approx(2, abs=0.1)


def test_what_the_server_refuses_is_said_in_words(browser: Browser, signals: SignalSite) -> None:
    with Tab(browser, signals.address) as tab:
        tab.open("…")
        tab.press("Play")
        alert = tab.page.get_by_role("alert")
        alert.filter(has_text="can be spoken").wait_for()
        tab.wait_for_status("Stopped by a problem.")
        # Chromium itself reports every answer that is not a success.
        assert all("400" in complaint for complaint in tab.complaints)


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_fits_and_is_silent_about_itself(
    look: str, open_tab: OpenTab, tmp_path: Path
) -> None:
    tab = open_tab(**LOOKS[look])
    tab.open("second second", voice="noise")
    tab.press("Play")
    tab.wait_for_status("Finished.")
    picture = tab.page.screenshot(path=tmp_path / f"{look}.png", full_page=True)
    assert picture.startswith(b"\x89PNG")
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    colour = tab.page.evaluate("getComputedStyle(document.body).color")
    light_text = sum(int(part) for part in re.findall(r"\d+", colour)[:3]) > 3 * 128
    assert light_text == (look == "dark")


def count_seconds(body: bytes) -> float:
    with av.open(io.BytesIO(body), "r") as container:
        return sum(frame.samples for frame in container.decode(audio=0)) / RATE
