"""Who asks, and who is let in: the holder of a bearer key, else an address."""

import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult
from litestar.types import ASGIApp

from app.errors import InvalidKeyError
from app.settings import Key
from app.settings.keys import hash_key

Connection = ASGIConnection[Any, Any, Any, Any]

OPEN_PATHS: Final = r"^/($|livez$|readyz$|schema$|schema/|static/)"
"""What needs no key. Everything else does, so that no new route is open by mistake."""

SUBPROTOCOL_PREFIX: Final = "openai-insecure-api-key."
"""How OpenAI's realtime clients in browsers send a key, since a WebSocket there has no headers."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: its key's name, else its address; `trusted` ones may send longer texts."""

    name: str
    trusted: bool


def identify(connection: Connection) -> Client:
    """Name the client of an HTTP or WebSocket connection.

    Where keys are asked for, the key alone says who it is and whether it is trusted. Else the
    address is its name (of one who connects through a socket file: "local"), and the page's own
    requests are trusted. That is a courtesy to the page and no border: any program can send the
    same headers.
    """
    key = connection.scope.get("user")
    if isinstance(key, Key):
        return Client(key.name, key.trusted)
    address = connection.client
    return Client(name_address(address.host) if address else "local", is_from_page(connection))


def name_address(host: str) -> str:
    """Name who has an address: in public IPv6 its /64, which one subscriber has whole at least."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.is_global and not address.ipv4_mapped:
        return str(IPv6Network((int(address), 64), strict=False))
    return host


def is_open(connection: Connection) -> bool:
    """Tell whether everybody may have what is asked for."""
    return re.match(OPEN_PATHS, connection.scope["path"]) is not None


def is_from_page(connection: Connection) -> bool:
    """Tell whether a browser says that a page of this very origin asks."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    # Browsers send no Sec-Fetch-Site to an insecure origin that is not the loopback.
    origin = connection.headers.get("origin")
    return origin is not None and origin.partition("://")[2] == connection.headers.get("host")


def find_key(secret: str, keys: Iterable[Key]) -> Key | None:
    """Find the key whose hash is that of `secret`; takes as long whichever it is, or none."""
    digest = hash_key(secret)
    found = None
    for key in keys:
        if hmac.compare_digest(key.sha256, digest):
            found = key
    return found


def choose_subprotocol(connection: Connection) -> str | None:
    """Choose the subprotocol that a WebSocket is accepted with: the first that is no key.

    A browser hangs up where it offered some and none is chosen; a key is never sent back.
    """
    return next(
        (name for name in _offered(connection) if not name.startswith(SUBPROTOCOL_PREFIX)), None
    )


class KeyAuthentication(AbstractAuthenticationMiddleware):
    """Lets in who brings one of the keys, and leaves its Key as the connection's `user`."""

    def __init__(self, app: ASGIApp, *, keys: Sequence[Key]) -> None:
        """Ask for one of `keys` but at the open paths, and for OPTIONS, which tells nothing."""
        super().__init__(app, exclude=OPEN_PATHS)
        self._keys: Final = tuple(keys)

    async def authenticate_request(self, connection: Connection) -> AuthenticationResult:
        """Raise InvalidKeyError unless the connection brings a key that is known."""
        secret = _read_secret(connection)
        if not secret:
            raise InvalidKeyError(
                "This server asks for a key. Send it in a header: 'Authorization: Bearer KEY'."
            )
        key = find_key(secret, self._keys)
        if key is None:
            raise InvalidKeyError("The key is not one that this server knows.")
        return AuthenticationResult(user=key, auth=None)


def _read_secret(connection: Connection) -> str:
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return secret.strip()
    offered = (name for name in _offered(connection) if name.startswith(SUBPROTOCOL_PREFIX))
    return next(offered, "").removeprefix(SUBPROTOCOL_PREFIX)


def _offered(connection: Connection) -> Sequence[str]:
    """Give the subprotocols that a WebSocket's client offers."""
    if connection.scope["type"] != ScopeType.WEBSOCKET:
        return ()
    subprotocols: Sequence[str] = connection.scope["subprotocols"]
    return subprotocols
