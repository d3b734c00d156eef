"""Who is let in, what they are called, how often they may ask, and from which pages."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest
import websockets.sync.client
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar, WebSocket, websocket
from litestar.connection import ASGIConnection
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from app.errors import RateLimitedError
from app.main import create_app
from app.settings import Key, Settings
from app.settings.keys import hash_key
from app.web.access import choose_subprotocol, find_key, identify, name_address
from app.web.gate import EXPOSED_HEADERS, Gate
from app.web.headers import add_security_headers
from app.web.rate_limit import MOST_CLIENTS, RateLimit
from tests.serving import serving
from tests.voices import ToneEngine
from tests.web.asgi import Client, Reply, living

pytestmark = pytest.mark.anyio
URL = "/v1/audio/speech"
SPEECH = {"input": "one", "response_format": "pcm"}
SECRET, TRUSTED_SECRET = "legato-of-the-phone", "legato-of-the-page"
KEY = Key(name="phone", sha256=hash_key(SECRET))
TRUSTED_KEY = Key(name="page", sha256=hash_key(TRUSTED_SECRET), trusted=True)
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


def build(**chosen: Any) -> Litestar:  # noqa: ANN401 - any setting
    return create_app(Settings(**chosen), load=lambda _settings: [ToneEngine()])


def bear(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


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


# WebSockets


@websocket(["/v1/audio/speech/stream", "/v1/other"])
async def greet(socket: WebSocket[Any, Any, Any]) -> None:
    await socket.accept(choose_subprotocol(socket))
    await socket.send_text(identify(socket).name)
    await socket.close()


def build_sockets(**chosen: Any) -> Litestar:  # noqa: ANN401 - any setting
    return Litestar([greet], plugins=[Gate(Settings(**chosen))], before_send=[add_security_headers])


async def open_socket(
    app: Litestar,
    headers: Mapping[str, str] | None = None,
    *,
    subprotocols: Sequence[str] = (),
    path: str = "/v1/other",
    can_answer: bool = True,
) -> list[Any]:
    """Open a WebSocket; gives what the app sent."""
    sent: list[Any] = []

    async def receive() -> Any:  # noqa: ANN401 - an ASGI message
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:  # noqa: ANN401 - an ASGI message
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.lower().encode(), text.encode())
            for name, text in {"Host": "test", **(headers or {})}.items()
        ],
        "subprotocols": list(subprotocols),
        "client": ("192.0.2.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "ws",
        "extensions": {"websocket.http.response": {}} if can_answer else {},
    }
    await app(scope, receive, send)  # type: ignore[arg-type] # Litestar adds its own keys
    return sent


async def test_a_socket_opens_with_a_key_in_a_header_or_as_openais_subprotocol() -> None:
    app = build_sockets(keys=(KEY,))
    by_header = await open_socket(app, bear(SECRET))
    offered = ["realtime", f"openai-insecure-api-key.{SECRET}", "openai-beta.realtime-v1"]
    by_subprotocol = await open_socket(app, subprotocols=offered)
    for sent in (by_header, by_subprotocol):
        assert sent[0]["type"] == "websocket.accept"
        assert sent[1]["text"] == "phone"
    assert by_header[0]["subprotocol"] is None
    # A browser hangs up unless it gets one that it offered, and a key is never sent back.
    assert by_subprotocol[0]["subprotocol"] == "realtime"


@pytest.mark.parametrize("order", [1, -1])
async def test_a_key_is_never_chosen_as_the_subprotocol(order: int) -> None:
    offered = [f"openai-insecure-api-key.{SECRET}", "realtime"][::order]
    sent = await open_socket(build_sockets(keys=(KEY,)), subprotocols=offered)
    assert sent[0]["subprotocol"] == "realtime"


@pytest.mark.parametrize("offered", [[], ["realtime"], ["openai-insecure-api-key.wrong"]])
async def test_a_socket_without_a_known_key_is_answered_as_a_request_would_be(
    offered: list[str],
) -> None:
    start, body = await open_socket(build_sockets(keys=(KEY,)), subprotocols=offered)
    headers = dict(start["headers"])
    assert start["type"] == "websocket.http.response.start"
    assert start["status"] == 401
    assert headers[b"www-authenticate"] == b"Bearer"
    assert b"content-security-policy" in headers
    assert json.loads(body["body"])["error"]["code"] == "invalid_api_key"


async def test_a_server_that_cannot_answer_a_handshake_closes_it() -> None:
    sent = await open_socket(build_sockets(keys=(KEY,)), can_answer=False)
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_a_subprotocol_is_no_key_for_a_plain_request(locked: Litestar) -> None:
    headers = {"Sec-WebSocket-Protocol": f"openai-insecure-api-key.{SECRET}"}
    assert (await Client(locked, headers=headers).get("/v1/models")).status == 401


def test_a_real_client_is_told_why_its_socket_was_refused() -> None:
    app = build(keys=(KEY,))
    # The path is not one that the app has itself.
    app.register(websocket("/v1/greeting")(greet.fn))
    with serving(app) as url:
        address = f"{url.replace('http', 'ws')}/v1/greeting"
        with pytest.raises(InvalidStatus) as refused:
            websockets.sync.client.connect(address)
        offered = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{SECRET}")]
        with websockets.sync.client.connect(address, subprotocols=offered) as socket:
            assert socket.recv() == "phone"
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body)["error"]["code"] == "invalid_api_key"


# Pages of other sites

FOREIGN = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
IMAGE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
OLD_BROWSER = {"Origin": "https://evil.example"}
LISTED = {"Origin": "https://good.example", "Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize(
    ("headers", "status"), [(FOREIGN, 403), (IMAGE, 403), (LINK, 200), (LISTED, 200), ({}, 200)]
)
async def test_a_foreign_page_spends_none_of_the_servers_time(
    headers: dict[str, str], status: int
) -> None:
    async with living(build(cors_origins=("https://good.example",))) as app:
        assert (await Client(app, headers=headers).post(URL, SPEECH)).status == status
        assert (await Client(app, headers=headers).get(f"{URL}?input=one")).status == status
        assert (await Client(app, headers=headers).get("/")).status == 200


@pytest.mark.parametrize(
    ("headers", "opens"),
    [
        ({}, True),
        ({"Origin": "http://test"}, True),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, True),
        (LISTED, True),
        (OLD_BROWSER, False),
        (FOREIGN, False),
    ],
)
async def test_a_socket_opens_for_programs_our_page_and_listed_origins(
    headers: dict[str, str], *, opens: bool
) -> None:
    sent = await open_socket(build_sockets(cors_origins=("https://good.example",)), headers)
    if opens:
        assert sent[0]["type"] == "websocket.accept"
    else:
        assert sent[0]["status"] == 403
        assert json.loads(sent[1]["body"])["error"]["code"] == "origin_not_allowed"


async def test_a_star_lists_every_origin() -> None:
    sent = await open_socket(build_sockets(cors_origins=("*",)), FOREIGN)
    assert sent[0]["type"] == "websocket.accept"
    async with living(build(cors_origins=("*",))) as app:
        reply = await Client(app, headers=FOREIGN).get("/v1/models")
    assert reply.headers["access-control-allow-origin"] == "*"


# CORS

PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,x-request-id",
}


async def preflight(app: Litestar, origin: str) -> Reply:
    return await Client(app, headers={**PREFLIGHT, "Origin": origin}).request("OPTIONS", URL)


async def test_cors_is_off_unless_origins_are_listed() -> None:
    async with living(build()) as app:
        asked = await preflight(app, "https://good.example")
        reply = await Client(app, headers={"Origin": "https://good.example"}).get("/v1/models")
    for headers in (asked.headers, reply.headers):
        assert not [name for name in headers if name.startswith("access-control-")]


async def test_a_listed_origin_may_ask_and_read_the_headers_but_bring_no_cookies() -> None:
    async with living(build(cors_origins=("https://good.example",), keys=(KEY,))) as app:
        asked = await preflight(app, "https://good.example")
        reply = await Client(app, headers={**LISTED, **bear(SECRET)}).post(URL, SPEECH)
    assert asked.status == 204
    assert asked.headers["access-control-allow-origin"] == "https://good.example"
    assert "authorization" in asked.headers["access-control-allow-headers"].lower()
    assert reply.status == 200
    assert reply.headers["access-control-allow-origin"] == "https://good.example"
    exposed = {name.lower() for name in reply.headers["access-control-expose-headers"].split(", ")}
    own = {name for name in reply.headers if name.startswith("x-audio-") or name == "x-request-id"}
    assert own
    assert own | {"retry-after"} <= exposed
    assert len(exposed) == len(EXPOSED_HEADERS)
    for headers in (asked.headers, reply.headers):
        assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "https://good.example.evil", "http://good.example", "null"],
)
async def test_another_origin_is_not_let_in(origin: str) -> None:
    async with living(build(cors_origins=("https://good.example",))) as app:
        asked = await preflight(app, origin)
        reply = await Client(app, headers={"Origin": origin}).get("/v1/models")
    assert asked.status == 400
    for headers in (asked.headers, reply.headers):
        assert "access-control-allow-origin" not in headers


# Rate


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@given(st.integers(1, 1_000), st.integers(0, 3))
def test_a_minutes_worth_is_free_at_once_and_then_as_much_as_time_gives(
    per_minute: int, minutes: int
) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError):
        limit.take("a")
    # Not more than a bucket is saved up.
    clock.seconds += 60.001 * (1 + minutes)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError):
        limit.take("a")


@given(st.integers(1, 1_000))
def test_who_comes_when_told_is_let_in_and_who_comes_sooner_is_not(per_minute: int) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for _ in range(per_minute):
        limit.take("a")
    with pytest.raises(RateLimitedError) as refused:
        limit.take("a")
    wait_seconds = refused.value.retry_after_seconds or 0.0
    assert wait_seconds == pytest.approx(60 / per_minute, rel=0.01)
    clock.seconds += wait_seconds * 0.9
    with pytest.raises(RateLimitedError):
        limit.take("a")
    clock.seconds += wait_seconds * 0.11
    limit.take("a")


def test_one_client_does_not_use_up_anothers() -> None:
    limit = RateLimit(1, Clock())
    limit.take("a")
    limit.take("b")


def test_clients_are_forgotten_once_it_makes_no_difference() -> None:
    clock = Clock()
    limit = RateLimit(60, clock)
    for index in range(100):
        limit.take(str(index))
    assert limit.clients == 100
    clock.seconds += 1.01
    limit.take("last")
    assert limit.clients == 1


def test_no_number_of_clients_takes_more_than_a_bounded_memory() -> None:
    limit = RateLimit(1, Clock())
    for index in range(MOST_CLIENTS + 500):
        limit.take(str(index))
    assert limit.clients == MOST_CLIENTS
    with pytest.raises(RateLimitedError):
        limit.take(str(MOST_CLIENTS + 499))


async def test_too_many_speeches_are_refused_with_the_time_to_come_again() -> None:
    async with living(build(speeches_per_minute=2)) as app:
        assert (await Client(app).post(URL, SPEECH)).status == 200
        assert (await Client(app).get(f"{URL}?input=one")).status == 200
        reply = await Client(app).post(URL, SPEECH)
        assert reply.status == 429
        assert reply.error["code"] == "rate_limit_exceeded"
        assert 1 <= int(reply.headers["retry-after"]) <= 30
        # Nothing else is counted, and OPTIONS makes no speech.
        assert (await Client(app).get("/v1/models")).status == 200
        assert (await Client(app).request("OPTIONS", URL)).status == 204


async def test_each_key_has_a_rate_of_its_own_and_who_has_none_uses_up_none() -> None:
    async with living(build(speeches_per_minute=1, keys=(KEY, TRUSTED_KEY))) as app:
        for _ in range(3):
            assert (await Client(app).post(URL, SPEECH)).status == 401
        statuses = [
            (await Client(app, headers=bear(secret)).post(URL, SPEECH)).status
            for secret in (SECRET, SECRET, TRUSTED_SECRET)
        ]
    assert statuses == [200, 429, 200]


async def test_a_rate_of_zero_is_none() -> None:
    async with living(build(speeches_per_minute=0)) as app:
        for _ in range(3):
            assert (await Client(app).post(URL, SPEECH)).status == 200


async def test_a_socket_that_opens_for_a_speech_is_counted() -> None:
    app = build_sockets(speeches_per_minute=1)
    path = "/v1/audio/speech/stream"
    assert (await open_socket(app, path=path))[0]["type"] == "websocket.accept"
    start, body = await open_socket(app, path=path)
    assert start["status"] == 429
    assert dict(start["headers"])[b"retry-after"] == b"60"
    assert json.loads(body["body"])["error"]["code"] == "rate_limit_exceeded"
    assert (await open_socket(app))[0]["type"] == "websocket.accept"
