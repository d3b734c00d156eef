"""What a page's <audio> played, as samples."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import Page

from app.audit.alignment import Samples

_SCRIPT: Final = Path(__file__).with_name("capture.js")


@dataclass(frozen=True, slots=True)
class Capture:
    """What was heard: mono samples at `rate`, and what the element said about it.

    `appends` counts how often the SourceBuffer was fed.
    """

    samples: Samples
    rate: int
    duration_seconds: float
    appends: int


class Tap:
    """The tap on one page. Make it before the page loads, attach it before the page plays."""

    def __init__(self, page: Page, rate: int) -> None:
        """Prepare `page` to be tapped at `rate` Hz; its context must bypass the page's CSP."""
        self._page: Final = page
        self._rate: Final = rate
        page.add_init_script(path=_SCRIPT)

    def attach(self) -> None:
        """Tap the element and wait until samples flow."""
        self._page.evaluate("rate => legatoTap.attach(rate)", self._rate)

    def recut_appends(self, *, seed: int, longest: int) -> None:
        """Cut every append from now on into random pieces of 1 to `longest` bytes."""
        self._page.evaluate("([seed, longest]) => legatoTap.recut(seed, longest)", [seed, longest])

    def wait_until_heard(self) -> None:
        """Wait until the element makes a sound."""
        self._page.evaluate("legatoTap.heard()")

    def play_from(self, seconds: float) -> None:
        """Move the element to `seconds` and play on; what was captured so far is forgotten."""
        self._page.evaluate("seconds => legatoTap.playFrom(seconds)", seconds)

    def finish(self) -> Capture:
        """Wait until the element has ended or failed, and give all that was heard."""
        return self._unpack(self._page.evaluate("legatoTap.finish()"))

    def _unpack(self, taken: dict[str, Any]) -> Capture:
        return Capture(
            samples=np.frombuffer(base64.b64decode(taken["samples"]), dtype=np.float32),
            rate=self._rate,
            duration_seconds=taken["duration"],
            appends=taken["appends"],
        )
