"""The Chromium that the tests drive."""

import os
import shutil
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Playwright

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_QUIET: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-features=OptimizationHints,MediaRouter",
)


def find_chromium(playwright: Playwright) -> str:
    """Find CHROMIUM, Playwright's own or the system's; raises FileNotFoundError."""
    if chosen := os.environ.get("CHROMIUM"):
        return chosen
    own = playwright.chromium.executable_path
    if Path(own).exists():
        return own
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(
        "No Chromium: set CHROMIUM to its path, run `playwright install chromium`,"
        f" or install one of {', '.join(_NAMES)}."
    )


def launch_chromium(playwright: Playwright) -> Browser:
    """Start a headless Chromium, as root without its sandbox, which root cannot have."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return playwright.chromium.launch(
        executable_path=find_chromium(playwright),
        args=[*_QUIET, *(["--no-sandbox"] if as_root else [])],
        timeout=60_000,
    )
