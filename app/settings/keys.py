"""Bearer keys: made at random, kept as hashes."""

import hashlib
import secrets
from typing import Final

import msgspec

from app.errors import InvalidSettingError
from app.settings import Key

KEY_PREFIX: Final = "legato-"
"""Tells people and secret scanners what a leaked key opens."""

RANDOM_BYTES: Final = 32


def make_key(name: str, *, trusted: bool = False) -> tuple[str, Key]:
    """Make a random key for the client `name`: the key itself, and what the settings keep of it.

    Raises InvalidSettingError for a name that the settings would not take.
    """
    secret = KEY_PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    fields = {"name": name, "sha256": hash_key(secret), "trusted": trusted}
    try:
        return secret, msgspec.convert(fields, Key)
    except msgspec.ValidationError as error:
        raise InvalidSettingError(
            "A key's name is 1 to 64 letters, digits, dots, underlines and hyphens."
        ) from error


def hash_key(secret: str) -> str:
    """Hash a key: SHA-256 in hexadecimal.

    A slow hash with a salt protects what people think up, which can be guessed. There is nothing to
    guess in 256 random bits: who has the hash has nothing.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def write_key(key: Key) -> str:
    """Write the lines for the settings file."""
    lines = ["[[keys]]", f'name = "{key.name}"', f'sha256 = "{key.sha256}"']
    return "\n".join([*lines, "trusted = true"] if key.trusted else lines)
