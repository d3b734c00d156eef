"""Settings come from flags, the environment and a file, and say what is wrong with them."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.__main__ import main
from app.errors import InvalidSettingError
from app.settings import Key, Settings, describe_settings, name_kinds
from app.settings.keys import hash_key, make_key, write_key
from app.settings.report import MASK, report_settings
from app.settings.values import describe_kind

README = Path(__file__).parents[1] / "README.md"
DIGEST = "0" * 64
NAMES = st.text("abcdefgh-.", min_size=1, max_size=8)


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEGATO_SETTINGS_FILE", raising=False)
    monkeypatch.delenv("LEGATO_PORT", raising=False)


def write(folder: Path, toml: str) -> dict[str, str]:
    """Write a settings file; gives the environment that names it."""
    path = folder / "legato.toml"
    path.write_text(toml, encoding="utf-8")
    return {"LEGATO_SETTINGS_FILE": str(path)}


def explain(environ: Mapping[str, str], flags: Mapping[str, str] | None = None) -> str:
    """Give the message of the error that these settings are."""
    with pytest.raises(InvalidSettingError) as caught:
        Settings.load(environ, flags)
    return caught.value.message


def test_defaults_need_nothing() -> None:
    assert Settings.load({}).port == 8000


def test_names_are_read_from_the_mapping_and_others_left_alone() -> None:
    settings = Settings.load({"LEGATO_PORT": "99", "LEGATO_VOICE_FILE": "v.onnx", "HOME": "x"})
    assert settings.port == 99
    assert settings.voice_file == Path("v.onnx")


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("in_environment", [False, True])
@pytest.mark.parametrize("in_flags", [False, True])
def test_flags_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, *, in_file: bool, in_environment: bool, in_flags: bool
) -> None:
    environ = write(tmp_path, "port = 3" if in_file else "")
    environ |= {"LEGATO_PORT": "2"} if in_environment else {}
    flags = {"port": "1"} if in_flags else {}
    wanted = 1 if in_flags else 2 if in_environment else 3 if in_file else 8000
    assert Settings.load(environ, flags).port == wanted
    source = {1: "--port", 2: "LEGATO_PORT", 3: environ["LEGATO_SETTINGS_FILE"]}
    reported = {report.name: report for report in report_settings(environ, flags)}
    assert reported["port"].source == source.get(wanted, "default")
    assert reported["host"].source == "default"


def test_the_flag_for_the_file_wins_over_the_variable(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("port = 5")
    assert Settings.load(write(tmp_path, "port = 4"), {"settings_file": str(other)}).port == 5


def test_a_file_holds_lists_tables_and_keys(tmp_path: Path) -> None:
    settings = Settings.load(
        write(
            tmp_path,
            f"""
            header_seconds = 3
            voice_file = "~/v.onnx"
            trusted_proxies = ["10.0.0.1"]
            [voice_aliases]
            alloy = "joe"
            [[keys]]
            name = "a"
            sha256 = "{DIGEST}"
            [[keys]]
            name = "b"
            sha256 = "{DIGEST}"
            trusted = true
            """,
        )
    )
    assert settings.header_seconds == 3.0
    assert settings.voice_file == Path.home() / "v.onnx"
    assert settings.trusted_proxies == ("10.0.0.1",)
    assert settings.voice_aliases == {"alloy": "joe"}
    assert settings.keys == (
        Key(name="a", sha256=DIGEST),
        Key(name="b", sha256=DIGEST, trusted=True),
    )


@given(st.lists(NAMES, max_size=4))
def test_a_list_in_text_is_json_or_separated_by_commas(items: list[str]) -> None:
    for text in (json.dumps(items), ",".join(items), " , ".join(items)):
        settings = Settings.load({"LEGATO_TRUSTED_PROXIES": text})
        assert settings.trusted_proxies == tuple(items)


@given(st.dictionaries(NAMES, NAMES, max_size=4))
def test_a_table_in_text_is_json_or_pairs(table: dict[str, str]) -> None:
    for text in (json.dumps(table), ",".join(f"{name}={value}" for name, value in table.items())):
        assert Settings.load({}, {"voice_aliases": text}).voice_aliases == table


def test_keys_in_the_environment_are_json() -> None:
    text = json.dumps([{"name": "a", "sha256": DIGEST}])
    assert Settings.load({"LEGATO_KEYS": text}).keys == (Key(name="a", sha256=DIGEST),)


@pytest.mark.parametrize(
    ("environ", "flags", "source"),
    [
        ({"LEGATO_PROT": "80"}, {}, "LEGATO_PROT"),
        ({}, {"prot": "80"}, "--prot"),
        (None, {}, "legato.toml"),
    ],
)
def test_an_unknown_name_is_told_with_its_source_and_the_nearest_one(
    tmp_path: Path, environ: dict[str, str] | None, flags: dict[str, str], source: str
) -> None:
    message = explain(write(tmp_path, "prot = 80") if environ is None else environ, flags)
    assert "no setting prot" in message
    assert source in message
    assert "nearest is port" in message


def test_a_file_does_not_name_another_file(tmp_path: Path) -> None:
    assert "no setting settings_file" in explain(write(tmp_path, 'settings_file = "x.toml"'))


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("port", "many", "a whole number from 0 to 65535"),
        ("port", "-1", "a whole number from 0 to 65535"),
        ("lead_bytes", "1", "a whole number of 4096 or more"),
        ("header_seconds", "0", "a number above 0"),
        ("header_seconds", "inf", "a number above 0"),
        ("tracing", "perhaps", "true or false"),
        ("log_format", "xml", "json or text"),
        ("voice_file", "", "a path"),
        ("voice_aliases", "alloy", "a table, in text as JSON or a=b,c=d"),
        ("voice_aliases", "{", "a table, in text as JSON or a=b,c=d"),
        ("trusted_proxies", "[1]", "a list, in text as JSON or a,b"),
        ("cors_origins", "https://a.example/", "a list, in text as JSON or a,b"),
        ("cors_origins", "https://*.example", "a list, in text as JSON or a,b"),
        ("keys", "secret", "a list of tables with name, sha256, trusted"),
    ],
)
def test_a_wrong_value_is_told_with_its_name_its_source_and_what_is_taken(
    name: str, value: str, takes: str
) -> None:
    for environ, flags, source in (
        ({f"LEGATO_{name.upper()}": value}, {}, f"LEGATO_{name.upper()}"),
        ({}, {name: value}, f"--{name.replace('_', '-')}"),
    ):
        message = explain(environ, flags)
        assert message.startswith(f"Bad setting {name} ({source}): ")
        assert message.endswith(f"It takes {takes}.")


def test_a_value_in_a_file_has_its_type(tmp_path: Path) -> None:
    message = explain(write(tmp_path, 'port = "80"'))
    assert "port" in message
    assert "legato.toml" in message


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    text = json.dumps([{"name": "a", "sha256": "legato-secret"}])
    assert "legato-secret" not in explain({"LEGATO_KEYS": text})


@pytest.mark.parametrize("content", [b"port =", b"\xff", None])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "broken.toml"
    if content is not None:
        path.write_bytes(content)
    assert str(path) in explain({}, {"settings_file": str(path)})


def test_every_setting_says_what_it_is_for() -> None:
    described = describe_settings()
    assert set(described) == set(Settings.__struct_fields__)
    assert all(described.values())


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_the_readme_lists_each_setting_as_it_is(name: str) -> None:
    value = msgspec.json.encode(getattr(Settings(), name), enc_hook=str).decode()
    default = value.replace(str(Path.home()), "~")
    takes, text = describe_kind(name_kinds()[name]), describe_settings()[name]
    assert f"| `{name}` | {takes} | `{default}` | {text} |\n" in README.read_text(encoding="utf-8")


def test_the_readme_shows_a_file_that_is_taken(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        assert Settings.load(write(tmp_path, example)) != Settings()


# What the command line tells


def test_settings_are_printed_with_values_sources_and_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEGATO_PORT", "99")
    assert main(["settings", "--log-format", "json"]) == 0
    said = capsys.readouterr().out
    assert "port = 99  (LEGATO_PORT)\n    port to listen on" in said
    assert 'log_format = "json"  (--log-format)\n' in said
    for name, text in describe_settings().items():
        assert f"{name} = " in said
        assert text in said


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_keys_hash_is_masked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    secret, key = make_key("phone")
    file = write(tmp_path, write_key(key))["LEGATO_SETTINGS_FILE"]
    assert main(["settings", "--settings-file", file, *flags]) == 0
    said = capsys.readouterr().out
    assert "phone" in said
    assert MASK in said
    assert key.sha256 not in said
    assert secret not in said


def test_settings_for_programs_are_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--json", "--port", "7"]) == 0
    reported = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(reported) == list(describe_settings())
    assert reported["port"]["value"] == 7
    assert reported["port"]["source"] == "--port"
    assert reported["trusted_proxies"]["value"] == ["127.0.0.1", "::1"]


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["settings", "--prot", "80"], "--port"),
        (["settings", "--por", "80"], "--port"),
        (["settings", "--max-stream=3"], "--max-streams"),
        (["settings", "--jsn"], "--json"),
        (["key", "phone", "--trust"], "--trusted"),
    ],
)
def test_an_unknown_flag_is_told_with_the_nearest_one(
    capsys: pytest.CaptureFixture[str], words: list[str], nearest: str
) -> None:
    assert main(words) == 1
    said = capsys.readouterr().err
    assert next(word for word in words if word.startswith("--")).partition("=")[0] in said
    assert said.endswith(f"the nearest is {nearest}.\n")


@pytest.mark.parametrize("flags", [[], ["--trusted"]])
def test_a_key_is_shown_once_with_the_lines_that_let_it_in(
    capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main(["key", "phone", *flags]) == 0
    said = capsys.readouterr().out
    secrets = re.findall(r"legato-[\w-]{43}", said)
    assert len(secrets) == 1
    keys = tomllib.loads(said[said.index("[[keys]]") :])["keys"]
    wanted = Key(name="phone", sha256=hash_key(secrets[0]), trusted=bool(flags))
    assert msgspec.convert(keys, list[Key]) == [wanted]


def test_no_two_keys_are_alike() -> None:
    assert len({make_key("phone")[0] for _ in range(100)}) == 100


@pytest.mark.parametrize("name", ["", "a b", 'a"', "ä", "x" * 65])
def test_a_keys_name_is_one_that_the_settings_take(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["key", name]) == 1
    assert capsys.readouterr().err.count("\n") == 1
