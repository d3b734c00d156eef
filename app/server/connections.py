"""Who is connected, and how many more may be."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from app.errors import ServerFullError, TooManyConnectionsError
from app.web.access import name_address


class Connections:
    """Counts connections, in all and for each client.

    A connection is any hashable object, the same when it enters and when it leaves: a transport,
    which stays what it is when the protocol on it changes.
    """

    def __init__(self, *, most: int, most_per_client: int, is_proxy: Callable[[str], bool]) -> None:
        """Bound both; the connections of an address that `is_proxy` are many clients'."""
        self._most: Final = most
        self._most_per_client: Final = most_per_client
        self._is_proxy: Final = is_proxy
        self._clients: Final[dict[Hashable, str | None]] = {}
        self._per_client: Final[Counter[str]] = Counter()

    def __len__(self) -> int:
        """Count those that are open."""
        return len(self._clients)

    def enter(self, connection: Hashable, host: str | None) -> None:
        """Count `connection` from the address `host`, or from None that is known.

        Raises TooManyConnectionsError or ServerFullError, and then counts nothing.
        """
        client = None if host is None or self._is_proxy(host) else name_address(host)
        if client is not None and self._per_client[client] >= self._most_per_client:
            raise TooManyConnectionsError(
                f"You have {self._most_per_client} connections open already; close one first."
            )
        if len(self._clients) >= self._most:
            raise ServerFullError("The server has no connection free; try again in a moment.")
        self._clients[connection] = client
        if client is not None:
            self._per_client[client] += 1

    def leave(self, connection: Hashable) -> None:
        """Forget `connection`, if it is counted."""
        client = self._clients.pop(connection, None)
        if client is None:
            return
        self._per_client[client] -= 1
        if not self._per_client[client]:
            del self._per_client[client]
