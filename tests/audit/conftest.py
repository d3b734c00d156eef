"""What the tests of the command share."""

from pathlib import Path

import pytest

from tests.audit.auditing import Auditor


@pytest.fixture
def auditor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Auditor:
    return Auditor(tmp_path, capsys)
