"""Which WebSockets open, and what the others are told."""

import json

import pytest
import websockets.sync.client
from litestar import websocket
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.serving import serving
from tests.web.asgi import Client, living
from tests.web.doors import KEY, SECRET, bear, build, build_sockets, greet, open_socket

pytestmark = pytest.mark.anyio


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


async def test_a_subprotocol_is_no_key_for_a_plain_request() -> None:
    headers = {"Sec-WebSocket-Protocol": f"openai-insecure-api-key.{SECRET}"}
    async with living(build(keys=(KEY,))) as app:
        assert (await Client(app, headers=headers).get("/v1/models")).status == 401


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
