"""Where a setting may be written, and who wins: flags, the environment, a file."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from app.errors import InvalidSettingError

PREFIX: Final = "LEGATO_"

FILE_NAME: Final = "settings_file"
"""Names the file; it is chosen by flag or environment like a setting, and is none itself."""

Written = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """A setting as somebody wrote it, and where: a flag, a variable's name or a file's.

    Flags and variables are text that is still to be read; a file's values have their type.
    """

    value: Any
    source: str
    is_text: bool


def name_flag(name: str) -> str:
    """Name a setting's flag."""
    return f"--{name.replace('_', '-')}"


def find_settings(known: Collection[str], environ: Written, flags: Written) -> dict[str, Found]:
    """Find what was written for the `known` settings; flags win, then `environ`, then the file.

    Raises InvalidSettingError for a name that is not known, wherever it stands, and for a file
    that cannot be read.
    """
    variables = {
        name.removeprefix(PREFIX).lower(): Found(value, name, is_text=True)
        for name, value in environ.items()
        if name.startswith(PREFIX)
    }
    chosen = variables | {
        name: Found(value, name_flag(name), is_text=True) for name, value in flags.items()
    }
    file = chosen.pop(FILE_NAME, None)
    _check_names(chosen, [*known, FILE_NAME])
    if file is None:
        return chosen
    written = _read_file(file)
    _check_names(written, known)
    return written | chosen


def suggest(name: str, known: Collection[str]) -> str:
    """Give the known name that is nearest to a mistyped one."""
    return get_close_matches(name, known, n=1, cutoff=0)[0]


def _check_names(found: Mapping[str, Found], known: Collection[str]) -> None:
    for name in found.keys() - known:
        raise InvalidSettingError(
            f"There is no setting {name} ({found[name].source});"
            f" the nearest is {suggest(name, known)}."
        )


def _read_file(file: Found) -> dict[str, Found]:
    path = Path(file.value).expanduser()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettingError(
            f"The settings file {path} ({file.source}) cannot be read: {error.strerror}."
        ) from error
    except ValueError as error:
        raise InvalidSettingError(f"The settings file {path} is not TOML: {error}.") from error
    return {name: Found(value, str(path), is_text=False) for name, value in values.items()}
