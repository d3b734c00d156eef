"""Several tabs that listen at once: real time is the dear part of these tests."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Browser

from e2e.capture import Capture
from e2e.tab import ListeningTab

LONGEST_PIECE_BYTES: Final = 700
ATTEMPTS: Final = 3
"""How often a take with zeros in it is played: a browser whose decoder got no processor time plays
zeros too, but a fault of ours is there every time."""


@dataclass(frozen=True, slots=True)
class Take:
    """What one tab is asked to play; with `recut_seed`, every append is cut to crumbs.

    `streaming_interval` and `seed` are the request's fields, which the page has no place for.
    """

    text: str
    voice: str
    audio_format: str
    streaming_interval: float = 1.0
    seed: int = 0
    recut_seed: int | None = None


def listen(
    browser: Browser,
    address: str,
    takes: Sequence[Take],
    *,
    rate: int,
    once_all_are_heard: Callable[[], None] | None = None,
) -> list[Capture]:
    """Play all `takes` at the same time, each in its own tab, and give what was heard."""
    with ExitStack() as stack:
        tabs = [stack.enter_context(ListeningTab(browser, address, rate=rate)) for _ in takes]
        for tab, take in zip(tabs, takes, strict=True):
            _prepare(tab, take)
        for tab in tabs:
            tab.press("Play")
        if once_all_are_heard:
            for tab in tabs:
                tab.tap.wait_until_heard()
            once_all_are_heard()
        captures = [tab.tap.finish() for tab in tabs]
        assert [complaint for tab in tabs for complaint in tab.complaints] == []
        return captures


def _prepare(tab: ListeningTab, take: Take) -> None:
    tab.override(streaming_interval=take.streaming_interval, seed=take.seed)
    tab.open(take.text, voice=take.voice, audio_format=take.audio_format)
    if take.recut_seed is not None:
        tab.tap.recut_appends(seed=take.recut_seed, longest=LONGEST_PIECE_BYTES)
