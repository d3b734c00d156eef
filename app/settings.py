"""What the operator may choose: one frozen structure, read from an injected mapping."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Self, get_type_hints

import msgspec
from msgspec import Meta

from app.errors import InvalidSettingError

PREFIX: Final = "LEGATO_"


def _cache_folder() -> Path:
    return Path.home() / ".cache" / "legato"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each field is the environment variable LEGATO_<NAME>, and a flag of `python -m app serve`."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="port to listen on; 0 takes a free one")
    ] = 8000
    voice_file: Annotated[
        Path | None,
        Meta(description="a Piper voice's .onnx, beside its .onnx.json; else the embedded one"),
    ] = None
    cache_folder: Annotated[
        Path, Meta(description="where converted voices are kept; safe to delete")
    ] = msgspec.field(default_factory=_cache_folder)
    max_input_characters: Annotated[
        int, Meta(ge=1, description="longest text that one request may carry, in characters")
    ] = 100_000
    max_body_bytes: Annotated[
        int, Meta(ge=1024, description="largest request body that is read, in bytes")
    ] = 1_000_000
    max_streams: Annotated[
        int, Meta(ge=1, description="speeches made at once; one more is refused with 429")
    ] = 64
    lead_bytes: Annotated[
        int,
        Meta(ge=4096, description="how far a response may run ahead of its reader, in bytes"),
    ] = 262_144
    grace_seconds: Annotated[
        int,
        Meta(ge=0, description="how long running speeches may go on after a stop"),
    ] = 30

    @classmethod
    def load(cls, environ: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> Self:
        """Read LEGATO_* names from `environ`; `overrides` (field names, from flags) win.

        Raises InvalidSettingError, which names the setting and what it takes.
        """
        chosen = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX)
        }
        chosen |= overrides or {}
        try:
            return msgspec.convert(chosen, cls, strict=False, dec_hook=_decode)
        except msgspec.ValidationError as error:
            raise InvalidSettingError(f"Bad setting: {error}") from error


def describe_settings() -> dict[str, str]:
    """Give each setting's help text by its field name, in order."""
    hints = get_type_hints(Settings, include_extras=True)
    return {
        name: next(meta.description or "" for meta in hint.__metadata__ if isinstance(meta, Meta))
        for name, hint in hints.items()
        if name in Settings.__struct_fields__
    }


def _decode(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value).expanduser()
    raise NotImplementedError(kind)
