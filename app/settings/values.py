"""What a setting takes: in words, and from text or TOML to its type."""

from math import isfinite
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from app.errors import InvalidSettingError
from app.settings.sources import Found


def read_value(name: str, kind: Any, found: Found) -> Any:  # noqa: ANN401 - each setting has its own
    """Convert what was found to the type annotation `kind`.

    Raises InvalidSettingError, which names the setting, its source and what it takes. It never
    shows the value, which may be a secret in the wrong place.
    """
    try:
        value = _read_text(kind, found.value) if found.is_text else found.value
        return _check_finite(
            msgspec.convert(value, kind, strict=not found.is_text, dec_hook=_read_path)
        )
    except ValueError as error:
        raise InvalidSettingError(
            f"Bad setting {name} ({found.source}): {error}. It takes {describe_kind(kind)}."
        ) from error


def describe_kind(kind: Any) -> str:  # noqa: ANN401 - any type annotation of a setting
    """Say in words what a setting of this type takes."""
    return _describe(inspect.type_info(kind))


def _describe(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            return _describe(kind.type)
        case inspect.UnionType():
            return _describe(next(t for t in kind.types if not isinstance(t, inspect.NoneType)))
        case inspect.VarTupleType() | inspect.DictType():
            return _describe_many(kind)
        case _:
            return _describe_one(kind)


def _describe_one(kind: inspect.Type) -> str:
    match kind:
        case inspect.IntType():
            return "a whole number" + _describe_bounds(kind)
        case inspect.FloatType():
            return "a number" + _describe_bounds(kind)
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType():
            return " or ".join(map(str, kind.values))
        case inspect.CustomType():
            return "a path"
        case _:
            return "text"


def _describe_many(kind: inspect.VarTupleType | inspect.DictType) -> str:
    match kind:
        case inspect.VarTupleType(item_type=inspect.StructType(fields=fields)):
            return f"a list of tables with {', '.join(field.name for field in fields)}"
        case inspect.VarTupleType():
            return "a list, in text as JSON or a,b"
        case _:
            return "a table, in text as JSON or a=b,c=d"


def _describe_bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.le is not None:
        return f" from {kind.ge} to {kind.le}"
    return f" above {kind.gt}" if kind.gt is not None else f" of {kind.ge} or more"


def _read_text(kind: Any, text: str) -> Any:  # noqa: ANN401 - as in read_value
    match inspect.type_info(kind):
        case inspect.Metadata(type=inspect.VarTupleType()):
            return _read_list(text)
        case inspect.Metadata(type=inspect.DictType()):
            return _read_table(text)
        case _:
            return text


def _read_list(text: str) -> Any:  # noqa: ANN401 - JSON may hold anything; it is converted next
    if text.lstrip().startswith("["):
        return msgspec.json.decode(text)
    return [item.strip() for item in text.split(",") if item.strip()]


def _read_table(text: str) -> Any:  # noqa: ANN401 - as in _read_list
    if text.lstrip().startswith("{"):
        return msgspec.json.decode(text)
    pairs = [item.partition("=") for item in text.split(",") if item.strip()]
    if not all(sign for _, sign, _ in pairs):
        raise ValueError("Expected name=value")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _check_finite(value: Any) -> Any:  # noqa: ANN401 - as in read_value
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("Expected a finite number")
    return value


def _read_path(kind: type, value: object) -> object:
    if kind is not Path or not isinstance(value, str) or not value:
        raise ValueError("Expected a path")
    return Path(value).expanduser()
