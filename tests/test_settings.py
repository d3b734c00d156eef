"""Settings come from what they are given, and say what is wrong with it."""

from pathlib import Path

import pytest

from app.errors import InvalidSettingError
from app.settings import Settings, describe_settings


def test_defaults_need_nothing() -> None:
    assert Settings.load({}).port == 8000


def test_names_are_read_from_the_mapping_and_others_left_alone() -> None:
    settings = Settings.load({"LEGATO_PORT": "99", "LEGATO_VOICE_FILE": "v.onnx", "HOME": "x"})
    assert settings.port == 99
    assert settings.voice_file == Path("v.onnx")


def test_flags_win_over_the_environment() -> None:
    assert Settings.load({"LEGATO_PORT": "99"}, {"port": "7"}).port == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "many"), ("PORT", "-1"), ("LEAD_BYTES", "1"), ("PROT", "80")],
)
def test_a_bad_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidSettingError, match=name.lower()):
        Settings.load({f"LEGATO_{name}": value})


def test_every_setting_says_what_it_is_for() -> None:
    described = describe_settings()
    assert set(described) == set(Settings.__struct_fields__)
    assert all(described.values())
