"""How many may be connected: in all, and from one address."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Request, get

from app.errors import ServerFullError, TooManyConnectionsError
from app.server.connections import Connections
from tests.server.clients import Client, build, count, leaving_nothing, wait_until, write_request
from tests.serving import Served, running

PROXY = "10.0.0.1"
HOSTS = ("192.0.2.1", "192.0.2.2", PROXY, None)


def limit(most: int = 100, most_per_client: int = 100) -> Connections:
    return Connections(
        most=most, most_per_client=most_per_client, is_proxy=lambda host: host == PROXY
    )


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from(HOSTS))))
def test_the_counts_are_those_of_what_entered_and_has_not_left(
    steps: list[tuple[bool, int, str | None]],
) -> None:
    connections, inside = limit(most=5, most_per_client=2), dict[int, str | None]()
    for enters, connection, host in steps:
        if not enters:
            connections.leave(connection)
            inside.pop(connection, None)
        elif connection not in inside:
            same = Counter(inside.values())[host]
            if host not in {PROXY, None} and same >= 2:
                with pytest.raises(TooManyConnectionsError):
                    connections.enter(connection, host)
            elif len(inside) >= 5:
                with pytest.raises(ServerFullError):
                    connections.enter(connection, host)
            else:
                connections.enter(connection, host)
                inside[connection] = host
        assert len(connections) == len(inside)


def test_the_addresses_of_one_ipv6_network_are_one_client() -> None:
    connections = limit(most_per_client=1)
    connections.enter(1, "2a00:1:2:3::1")
    with pytest.raises(TooManyConnectionsError):
        connections.enter(2, "2a00:1:2:3:ffff::1")
    connections.enter(3, "2a00:1:2:4::1")


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        ({"max_connections_per_client": 2, "trusted_proxies": ()}, 429, "too_many_connections"),
        ({"max_connections": 2}, 503, "server_full"),
    ],
)
def test_one_connection_more_is_answered_and_closed_and_the_next_one_has_its_place(
    limits: dict[str, Any], status: int, code: str
) -> None:
    app = build(**limits)
    with running(app) as served, leaving_nothing(served), Client(served.port):
        with Client(served.port), Client(served.port) as third:
            answer = third.answer()
            assert (answer.status, answer.error["code"]) == (status, code)
            assert int(answer.headers["retry-after"]) > 0
            assert third.ends()
            assert count(served)["requests"] == 0
        wait_until(lambda: count(served)["open"] == 1)
        with Client(served.port).send(write_request("/livez", method="GET")) as next_one:
            assert next_one.answer().status == 200


def test_a_trusted_proxy_may_have_many_connections_since_they_are_many_clients() -> None:
    with (
        running(build(max_connections_per_client=1)) as served,
        Client(served.port),
        Client(served.port).send(write_request("/livez", method="GET")) as second,
    ):
        assert second.answer().status == 200


@get("/who", sync_to_thread=False)
def tell_who(request: Request[Any, Any, Any]) -> dict[str, str]:
    return {"host": request.client.host if request.client else "", "scheme": request.url.scheme}


@pytest.mark.parametrize(
    ("proxies", "host", "scheme"),
    [(("127.0.0.1",), "192.0.2.7", "https"), ((), "127.0.0.1", "http")],
)
def test_the_forwarded_address_is_believed_of_trusted_proxies_only(
    proxies: tuple[str, ...], host: str, scheme: str
) -> None:
    app = build(trusted_proxies=proxies)
    app.register(tell_who)
    headers = ("X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https")
    with (
        running(app) as served,
        Client(served.port).send(write_request("/who", b"", *headers, method="GET")) as client,
    ):
        answer = client.answer()
    assert f'"host":"{host}","scheme":"{scheme}"' in answer.body.decode()
    assert "server" not in answer.headers


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with running(build()) as served:
        yield served


def reset(client: Client) -> None:
    client.reset()


def close(client: Client) -> None:
    client.socket.close()


@pytest.mark.parametrize("go", [reset, close])
@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", write_request("/livez"), write_request("/v1/audio/speech", b"{}")]
)
def test_a_place_is_given_back_however_the_client_goes(
    served: Served, go: Callable[[Client], None], sent: bytes
) -> None:
    with leaving_nothing(served):
        client = Client(served.port).send(sent)
        go(client)
