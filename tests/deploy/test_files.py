"""What is handed to operators agrees with the settings."""

import re
from pathlib import Path

import pytest

from app.settings import Settings
from tests.deploy.proxies import FOLDER

DOCKERFILE = FOLDER.parents[1] / "Dockerfile"
FILES = [DOCKERFILE, *sorted(FOLDER.iterdir())]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_variable_that_is_named_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"LEGATO_([A-Z_]*[A-Z])(?==|\s|\.|,)", path.read_text()))
    assert named
    assert {name.lower() for name in named} - {"name"} <= set(Settings.__struct_fields__)


def read_number(path: Path, pattern: str) -> float:
    (found,) = re.findall(pattern, path.read_text())
    return float(found)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (FOLDER / "legato.service", r"TimeoutStopSec=(\d+)"),
        (DOCKERFILE, r"--stop-timeout (\d+)"),
    ],
    ids=["systemd", "docker"],
)
def test_a_stop_waits_longer_than_the_server_lets_speeches_run_on(path: Path, pattern: str) -> None:
    assert read_number(path, pattern) > Settings().grace_seconds + 5


def test_nginx_waits_longer_for_a_paused_player_than_the_server() -> None:
    for direction in ("read", "send"):
        hours = read_number(FOLDER / "nginx.conf", rf"proxy_{direction}_timeout (\d+)h;")
        assert hours * 3_600 > Settings().stall_seconds
