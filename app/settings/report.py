"""What is set just now, by whom, and what for; secrets are masked."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from app.settings import Settings, describe_settings
from app.settings.sources import find_settings

MASK: Final = "********"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One setting: its value as JSON would have it, who set it, and its help."""

    name: str
    value: Any
    source: str
    help: str


def report_settings(environ: Mapping[str, str], flags: Mapping[str, str]) -> list[Report]:
    """Report each setting in order, as Settings.load would read it; a key's hash is masked.

    Raises InvalidSettingError as Settings.load does.
    """
    settings = Settings.load(environ, flags)
    descriptions = describe_settings()
    found = find_settings(descriptions, environ, flags)
    return [
        Report(
            name=name,
            value=_show(getattr(settings, name)),
            source=found[name].source if name in found else "default",
            help=text,
        )
        for name, text in descriptions.items()
    ]


def write_report(report: Report) -> str:
    """Write one setting for people: name, value and source, and the help below."""
    value = msgspec.json.encode(report.value).decode()
    return f"{report.name} = {value}  ({report.source})\n    {report.help}"


def _show(value: Any) -> Any:  # noqa: ANN401 - any setting's value
    shown = msgspec.to_builtins(value, enc_hook=str)
    if isinstance(shown, (list, tuple)):
        return [_mask(item) for item in shown]
    return shown


def _mask(item: Any) -> Any:  # noqa: ANN401 - an item of any list
    return item | {"sha256": MASK} if isinstance(item, dict) else item
