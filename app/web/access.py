"""Who asks: the holder of a bearer key, else an address."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection

from app.settings import Key

Connection = ASGIConnection[Any, Any, Any, Any]


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
    return Client(address.host if address else "local", _is_from_page(connection))


def _is_from_page(connection: Connection) -> bool:
    """Tell whether a browser says that a page of this very origin asks."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    # Browsers send no Sec-Fetch-Site to an insecure origin that is not the loopback.
    origin = connection.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == connection.headers.get("host")
