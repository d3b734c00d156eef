"""What the operator may choose: one frozen structure, read from flags, environment and file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_type_hints

import msgspec
from msgspec import Meta

from app.settings.sources import find_settings
from app.settings.values import read_value


def _cache_folder() -> Path:
    return Path.home() / ".cache" / "legato"


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A client's bearer key: its name, its SHA-256 in hexadecimal, and whether it may have more.

    Two keys of one name are one client, so that an old key and its successor may live side by side.
    """

    name: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9._-]+$")]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    trusted: bool = False


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each field is a name in the settings file, LEGATO_<NAME> in the environment, and a flag."""

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
    voice_aliases: Annotated[
        dict[str, str],
        Meta(description="other names for voices, as a table; OpenAI's names mean the first voice"),
    ] = {}
    max_input_characters: Annotated[
        int, Meta(ge=1, description="longest text that one request may carry, in characters")
    ] = 4_096
    max_page_characters: Annotated[
        int, Meta(ge=1, description="the same for the page and for clients with a trusted key")
    ] = 100_000
    max_body_bytes: Annotated[
        int, Meta(ge=1024, description="largest request body that is read, in bytes")
    ] = 1_000_000
    max_streams: Annotated[
        int, Meta(ge=1, description="speeches made at once, in turns; more wait in a queue")
    ] = 64
    max_waiting: Annotated[
        int, Meta(ge=0, description="speeches that wait; one more is refused with 429")
    ] = 64
    max_streams_per_client: Annotated[
        int, Meta(ge=1, description="speeches that one client may have made or waiting at once")
    ] = 32
    speeches_per_minute: Annotated[
        int, Meta(ge=0, description="speeches that one client may ask for in a minute; 0: any")
    ] = 600
    lead_bytes: Annotated[
        int,
        Meta(ge=4096, description="how far a response may run ahead of its reader, in bytes"),
    ] = 262_144
    send_buffer_bytes: Annotated[
        int, Meta(ge=4096, description="what the kernel may hold of a response, in bytes")
    ] = 131_072
    max_connections: Annotated[int, Meta(ge=1, description="connections open at once")] = 1_000
    max_connections_per_client: Annotated[
        int, Meta(ge=1, description="connections of one address, trusted proxies excepted")
    ] = 100
    header_seconds: Annotated[
        float, Meta(gt=0, description="how long a client may take to send a request's headers")
    ] = 10.0
    idle_seconds: Annotated[
        float, Meta(gt=0, description="how long a client may pause within a request it sends")
    ] = 30.0
    stall_seconds: Annotated[
        float, Meta(gt=0, description="how long a client may take nothing of a response")
    ] = 600.0
    grace_seconds: Annotated[
        float,
        Meta(ge=0, description="how long running speeches may go on after a stop"),
    ] = 30.0
    max_message_bytes: Annotated[
        int, Meta(ge=256, description="largest WebSocket message that is read, in bytes")
    ] = 65_536
    max_messages_per_second: Annotated[
        int, Meta(ge=1, description="WebSocket messages that one client may send in a second")
    ] = 200
    events_seconds: Annotated[
        float, Meta(ge=0, description="how long the events of an ended speech can still be read")
    ] = 60.0
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="addresses whose X-Forwarded-For is believed"),
    ] = ("127.0.0.1", "::1")
    cors_origins: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^(\*|[a-z][a-z0-9+.-]*://[^/*\s]+)$")], ...],
        Meta(description="origins whose pages may call the API, as https://example.org; * is any"),
    ] = ()
    keys: Annotated[
        tuple[Key, ...],
        Meta(description="bearer keys, as `python -m app key` prints them; none: open to all"),
    ] = ()
    log_format: Annotated[
        Literal["text", "json"], Meta(description="how log lines are written")
    ] = "text"
    tracing: Annotated[
        bool, Meta(description="OpenTelemetry spans, one a request; needs the extra `tracing`")
    ] = False

    @classmethod
    def load(cls, environ: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> Self:
        """Read the file that is named, then LEGATO_* in `environ`, then `overrides`, from flags.

        Raises InvalidSettingError, which names the setting, its source and what it takes.
        """
        kinds = name_kinds()
        found = find_settings(kinds, environ, overrides or {})
        return cls(**{name: read_value(name, kinds[name], found[name]) for name in found})


def name_kinds() -> dict[str, Any]:
    """Give each setting's type annotation, with its bounds and its help, by its name, in order."""
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name] for name in Settings.__struct_fields__}


def describe_settings() -> dict[str, str]:
    """Give each setting's help text by its field name, in order."""
    return {
        name: next(meta.description or "" for meta in kind.__metadata__ if isinstance(meta, Meta))
        for name, kind in name_kinds().items()
    }
