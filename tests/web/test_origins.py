"""What pages of other sites may do."""

import json

import pytest
from litestar import Litestar

from app.web.gate import EXPOSED_HEADERS
from tests.web.asgi import Client, Reply, living
from tests.web.doors import KEY, SECRET, SPEECH, URL, bear, build, build_sockets, open_socket

pytestmark = pytest.mark.anyio

# Pages of other sites

FOREIGN = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
IMAGE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
TYPED = {"Sec-Fetch-Site": "none"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
OLD_BROWSER = {"Origin": "https://evil.example"}
LISTED = {"Origin": "https://good.example", "Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [(FOREIGN, 403), (IMAGE, 403), (LINK, 200), (TYPED, 200), (LISTED, 200), ({}, 200)],
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
