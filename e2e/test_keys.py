"""A server that asks for a key, and the page that asks the person for it."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator

from app.settings.keys import make_key
from e2e.conftest import SignalSite, serve_signals
from e2e.tab import Tab

SECRET, KEY = make_key("someone")
FIELD: Final = "This server asks for a key"


@pytest.fixture
def locked() -> Iterator[SignalSite]:
    with serve_signals(keys=(KEY,)) as site:
        yield site


def enter(tab: Tab, secret: str, *, remember: bool = False) -> None:
    tab.page.get_by_label(FIELD).fill(secret)
    if remember:
        tab.page.get_by_label("Remember it").check()
    tab.press("Use this key")


def find_alert(tab: Tab, words: str) -> Locator:
    return tab.page.get_by_role("alert").filter(has_text=words)


def test_the_page_asks_for_the_key_until_it_fits_and_then_sends_it_with_everything(
    browser: Browser, locked: SignalSite
) -> None:
    with Tab(browser, locked.address) as tab:
        tab.open("blip blip", voice="noise")
        assert not tab.page.get_by_label(FIELD).is_visible()
        tab.press("Play")
        find_alert(tab, "A key is needed").wait_for()
        assert tab.page.evaluate("document.activeElement.type") == "password"
        enter(tab, "not-the-key")
        find_alert(tab, "does not know this key").wait_for()
        with tab.page.expect_response("**/events") as events:
            enter(tab, SECRET)
        assert events.value.status == 200
        tab.wait_for_status("Finished.")
        assert not tab.page.get_by_label(FIELD).is_visible()
        # Chromium itself reports every answer that is not a success.
        assert all("401" in complaint for complaint in tab.complaints)


@pytest.mark.parametrize("remember", [False, True])
def test_a_key_is_kept_for_the_tab_or_for_the_browser(
    browser: Browser, locked: SignalSite, *, remember: bool
) -> None:
    with Tab(browser, locked.address) as tab:
        tab.open("blip", voice="noise")
        tab.press("Play")
        enter(tab, SECRET, remember=remember)
        tab.wait_for_status("Finished.")
        tab.open("blip", voice="noise")
        tab.press("Play")
        tab.wait_for_status("Finished.")
        kept = tab.page.evaluate("[sessionStorage, localStorage].map((s) => s['legato.key'])")
        assert [bool(secret) for secret in kept] == [not remember, remember]


def test_a_format_that_takes_no_key_says_so_and_offers_one_that_does(
    browser: Browser, locked: SignalSite
) -> None:
    with Tab(browser, locked.address) as tab:
        tab.open("blip", voice="noise", audio_format="wav")
        tab.press("Play")
        find_alert(tab, "can't be played from a server that asks for a key").wait_for()
        tab.press("Play as WebM / Opus")
        enter(tab, SECRET)
        tab.wait_for_status("Finished.")
        tab.page.get_by_label("Format").select_option("wav")
        tab.press("Play")
        tab.press("Play as WebM / Opus")
        tab.wait_for_status("Finished.")
