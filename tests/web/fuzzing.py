"""Sends a server what its OpenAPI document allows, and what it does not: `make fuzz`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

import httpx

from app.main import create_app
from app.settings import Settings
from tests.serving import serving
from tests.voices import ToneEngine

ROOT: Final = Path(__file__).resolve().parents[2]
MINUTES: Final = 3
KNOWN_SPEECH: Final = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
"""A speech that was made before, so that there are events to be read."""


@contextmanager
def serving_patiently() -> Iterator[str]:
    """Serve a tone without limits on how often; gives the document's address."""
    patient = Settings(speeches_per_minute=0, max_streams_per_client=1_000, events_seconds=3_600)
    # An unknown speech would be waited for; nothing else here depends on how long.
    with (
        patch("app.web.events.WAIT_SECONDS", 0.02),
        serving(create_app(patient, load=lambda _: [ToneEngine()])) as url,
    ):
        name = {"X-Request-Id": KNOWN_SPEECH}
        httpx.post(f"{url}/v1/audio/speech", json={"input": "One two."}, headers=name)
        yield f"{url}/schema/openapi.json"


def fuzz(address: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run all of schemathesis' checks against the document at `address`."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, "--no-color"]
    checks = ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.web.document_checks", "PYTHONPATH": str(ROOT)}
    with TemporaryDirectory() as scratch:
        return subprocess.run(
            [*command, *checks, *options],
            check=False,
            cwd=scratch,
            env={**os.environ, **hooks},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def main() -> int:
    """Fuzz for some minutes and print what was found."""
    with serving_patiently() as address:
        run = fuzz(address, "--max-time", str(MINUTES * 60), "--max-examples", "1000000")
    sys.stdout.write(run.stdout)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
