"""Servers with keys and the like before them, and clients that knock."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Litestar, WebSocket, websocket

from app.main import create_app
from app.settings import Key, Settings
from app.settings.keys import hash_key
from app.web.access import choose_subprotocol, identify
from app.web.gate import Gate
from app.web.headers import add_security_headers
from tests.voices import ToneEngine

URL = "/v1/audio/speech"
SPEECH = {"input": "one", "response_format": "pcm"}
SECRET, TRUSTED_SECRET = "legato-of-the-phone", "legato-of-the-page"
KEY = Key(name="phone", sha256=hash_key(SECRET))
TRUSTED_KEY = Key(name="page", sha256=hash_key(TRUSTED_SECRET), trusted=True)


def build(**chosen: Any) -> Litestar:  # noqa: ANN401 - any setting
    return create_app(Settings(**chosen), load=lambda _settings: [ToneEngine()])


def bear(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


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
