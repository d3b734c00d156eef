"""Who is let in, and what they are called."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar
from litestar.connection import ASGIConnection

from app.settings import Key
from app.settings.keys import hash_key
from app.web.access import find_key, identify, name_address
from tests.web.asgi import Client, living
from tests.web.doors import KEY, SECRET, SPEECH, TRUSTED_KEY, TRUSTED_SECRET, URL, bear, build

pytestmark = pytest.mark.anyio
PROTECTED = [
    ("POST", URL),
    ("GET", f"{URL}?input=one"),
    ("GET", f"{URL}/6f1ed002-ab5c-4b5e-8d1e-3f1f4f0b9f5a/events"),
    ("GET", "/v1/models"),
    ("GET", "/v1/audio/voices"),
    ("GET", "/v1/audio/formats"),
    ("GET", "/metrics"),
]
SPELLINGS = [
    "/v1/models/",
    "//v1/models",
    "/v1//models",
    "/static/../v1/models",
    "/schema/../v1/models",
]


@pytest.fixture
async def locked() -> AsyncGenerator[Litestar]:
    async with living(build(keys=(KEY, TRUSTED_KEY))) as app:
        yield app


def connect(
    headers: Mapping[str, str] | None = None, *, client: str | None = "192.0.2.1", **extra: object
) -> ASGIConnection[Any, Any, Any, Any]:
    scope: dict[str, Any] = {
        "type": "http",
        "headers": [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()],
        "client": client and (client, 1),
        **extra,
    }
    return ASGIConnection(scope)  # type: ignore[arg-type] # as much of a scope as is looked at


# Keys


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {SECRET}", SECRET, f"Bearer {SECRET}x"],
)
async def test_without_a_known_key_nothing_is_told(
    locked: Litestar, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    for method, url in PROTECTED:
        reply = await Client(locked, headers=headers).request(method, url)
        assert reply.status == 401, url
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.error["code"] == "invalid_api_key"
        assert reply.error["type"] == "invalid_request_error"
        assert SECRET not in reply.body.decode()


@pytest.mark.parametrize("path", SPELLINGS)
async def test_another_spelling_of_a_path_is_no_way_around(locked: Litestar, path: str) -> None:
    assert (await Client(locked).get(path)).status in {401, 404}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("secret", [SECRET, TRUSTED_SECRET])
async def test_each_key_lets_in(locked: Litestar, scheme: str, secret: str) -> None:
    client = Client(locked, headers={"Authorization": f"{scheme} {secret}"})
    assert (await client.post(URL, SPEECH)).status == 200


@pytest.mark.parametrize("url", ["/", "/livez", "/readyz", "/schema", "/schema/openapi.json"])
async def test_what_a_visitor_and_a_load_balancer_need_stays_open(
    locked: Litestar, url: str
) -> None:
    assert (await Client(locked).get(url)).status == 200


async def test_static_files_stay_open(locked: Litestar) -> None:
    prefix = locked.state.static_prefix
    assert (await Client(locked).get(f"{prefix}/icon.svg")).status == 200


async def test_every_other_route_asks_for_a_key(locked: Litestar) -> None:
    """A route that is new and that nobody thought of is closed."""
    prefixes = ("/static/", "/schema")
    closed = [
        (method, route.path)
        for route in locked.routes
        for method in getattr(route, "methods", ())
        if route.path not in {"/", "/livez", "/readyz"} and not route.path.startswith(prefixes)
        if method != "OPTIONS"
    ]
    assert len(closed) >= len(PROTECTED)
    for method, path in closed:
        filled = path.replace("{stream_id:uuid}", "6f1ed002-ab5c-4b5e-8d1e-3f1f4f0b9f5a")
        assert (await Client(locked).request(method, filled)).status == 401, path


async def test_the_document_says_that_a_key_is_needed(locked: Litestar) -> None:
    document = json.loads((await Client(locked).get("/schema/openapi.json")).body)
    assert document["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


async def test_without_keys_everybody_is_let_in_and_the_document_asks_for_none() -> None:
    async with living(build()) as app:
        assert (await Client(app).get("/v1/models")).status == 200
        document = json.loads((await Client(app).get("/schema/openapi.json")).body)
    assert "security" not in document


@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=5), st.text())
def test_a_key_is_found_by_its_hash_and_by_nothing_else(secrets: list[str], other: str) -> None:
    keys = [Key(name=str(i), sha256=hash_key(secret)) for i, secret in enumerate(secrets)]
    for key, secret in zip(keys, secrets, strict=True):
        assert find_key(secret, keys) is key
    assert (find_key(other, keys) is None) == (other not in secrets)


@pytest.mark.parametrize("position", range(3))
def test_every_key_is_compared_in_constant_time_wherever_the_right_one_stands(
    monkeypatch: pytest.MonkeyPatch, position: int
) -> None:
    compared: list[str] = []

    def compare(one: str, other: str) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    keys = [Key(name=str(i), sha256=hash_key(str(i))) for i in range(3)]
    assert find_key(str(position), keys) is keys[position]
    assert compared == [key.sha256 for key in keys]


# Who it is


def test_a_client_is_its_key_else_its_address() -> None:
    assert identify(connect(user=KEY)).name == "phone"
    assert identify(connect()).name == "192.0.2.1"
    assert identify(connect(client=None)).name == "local"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("fe80::1", "fe80::1"),
        ("fd00::1", "fd00::1"),
        ("2606:4700:1:2:3:4:5:6", "2606:4700:1:2::/64"),
        ("::ffff:8.8.8.8", "::ffff:8.8.8.8"),
        ("testclient", "testclient"),
    ],
)
def test_who_has_a_whole_public_network_is_one_client(address: str, name: str) -> None:
    assert name_address(address) == name


@pytest.mark.parametrize(
    ("headers", "trusted"),
    [
        ({}, False),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Host": "tts.example:8000", "Origin": "http://tts.example:8000"}, True),
        ({"Host": "tts.example", "Origin": "http://tts.example:8000"}, False),
        ({"Host": "tts.example", "Origin": "null"}, False),
        ({"Host": "a", "Origin": "http://a", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://["}, False),
    ],
)
def test_the_pages_own_requests_are_trusted(headers: dict[str, str], *, trusted: bool) -> None:
    assert identify(connect(headers)).trusted is trusted


@pytest.mark.parametrize("key", [KEY, TRUSTED_KEY])
def test_where_there_are_keys_they_alone_say_who_is_trusted(key: Key) -> None:
    connection = connect({"Sec-Fetch-Site": "same-origin"}, user=key)
    assert identify(connection).trusted is key.trusted


async def test_a_trusted_key_may_send_a_longer_text(locked: Litestar) -> None:
    body = {**SPEECH, "input": "a" * 5_000}
    assert (await Client(locked, headers=bear(SECRET)).post(URL, body)).status == 400
    assert (await Client(locked, headers=bear(TRUSTED_SECRET)).post(URL, body)).status == 200


async def test_the_events_of_a_speech_are_for_who_asked_for_it(
    locked: Litestar, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody waits here for a speech that never comes.
    monkeypatch.setattr("app.web.events.WAIT_SECONDS", 0.0)
    reply = await Client(locked, headers=bear(SECRET)).post(URL, SPEECH)
    events = f"{URL}/{reply.headers['x-request-id']}/events"
    assert (await Client(locked, headers=bear(SECRET)).get(events)).status == 200
    assert (await Client(locked, headers=bear(TRUSTED_SECRET)).get(events)).status == 404
