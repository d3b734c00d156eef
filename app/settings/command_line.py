"""Settings as flags of the command line."""

import argparse
from collections.abc import Iterable

from app.errors import InvalidSettingError
from app.settings import describe_settings
from app.settings.sources import FILE_NAME, name_flag, suggest

FILE_HELP = "a TOML file of settings; the environment and flags win over it"


def make_setting_flags() -> argparse.ArgumentParser:
    """Make the parent of those commands that take settings: a flag for each."""
    parser = argparse.ArgumentParser(add_help=False)
    for name, help_text in (describe_settings() | {FILE_NAME: FILE_HELP}).items():
        # Argparse would format a % as it prints the help.
        parser.add_argument(name_flag(name), help=help_text.replace("%", "%%"))
    return parser


def read_setting_flags(arguments: argparse.Namespace) -> dict[str, str]:
    """Give the settings that were chosen by flags."""
    names = [*describe_settings(), FILE_NAME]
    written = {name: getattr(arguments, name, None) for name in names}
    return {name: value for name, value in written.items() if value is not None}


def refuse_unknown(words: Iterable[str], arguments: argparse.Namespace) -> None:
    """Refuse the `words` that a parser did not know beside those `arguments` that it did.

    Raises InvalidSettingError, which names the first of them, and the nearest flag to it.
    """
    for word in words:
        flag = word.partition("=")[0]
        nearest = suggest(flag, [name_flag(name) for name in vars(arguments) if name != "run"])
        raise InvalidSettingError(f"There is nothing named {flag}; the nearest is {nearest}.")
