"""Debian's nginx with our snippet: it holds nothing back, and what the server must know passes."""

import json
import logging
import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.sync.client import connect

from app.main import create_app
from app.settings import Settings
from app.speech.engine import AudioChunk, Utterance
from tests.deploy.proxies import proxying
from tests.serving import serving
from tests.voices import ToneEngine

URL = "/v1/audio/speech"
WORDS = 12
BODY = {"input": " ".join(["word"] * WORDS), "response_format": "pcm"}
PIECE_BYTES = 4_800


GATE_SECONDS = 5


class GatedEngine(ToneEngine):
    """Makes three chunks, and the others only once it may, or breaks where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def generate(self, utterance: Utterance) -> Generator[AudioChunk]:
        for index, chunk in enumerate(super().generate(utterance)):
            if index == 3 and not self.gate.wait(GATE_SECONDS):
                raise TimeoutError("nobody heard the first chunks")
            if utterance.words[index].spoken == "break":
                raise ValueError("the model broke")
            yield chunk


class Endings(logging.Handler):
    """What is logged of streams that end, as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: queue.Queue[dict[str, Any]] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.put(vars(record)["fields"])


@pytest.fixture(scope="module")
def engine() -> GatedEngine:
    return GatedEngine()


@pytest.fixture(scope="module")
def proxy(engine: GatedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    app = create_app(Settings(), load=lambda _: [engine])
    with serving(app) as address, proxying(address, tmp_path_factory.mktemp("nginx")) as proxy:
        yield proxy


@pytest.fixture
def gate(engine: GatedEngine) -> Iterator[threading.Event]:
    """Hold back all but three chunks until it is set."""
    engine.gate.clear()
    yield engine.gate
    engine.gate.set()


@pytest.fixture
def endings() -> Iterator[Endings]:
    endings, logger = Endings(), logging.getLogger("app.web.stream_log")
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(endings)
    yield endings
    logger.removeHandler(endings)
    logger.setLevel(level)


@pytest.fixture
def client(proxy: str) -> Iterator[httpx.Client]:
    headers = {"Accept-Encoding": "gzip"}
    with httpx.Client(base_url=proxy, timeout=20, headers=headers) as client:
        yield client


def read_first_chunks(pieces: Iterator[bytes]) -> None:
    """Read all that comes before the gate."""
    size = 0
    while size < 3 * PIECE_BYTES:
        size += len(next(pieces))


def test_sound_arrives_before_the_rest_is_made(client: httpx.Client, gate: threading.Event) -> None:
    with client.stream("POST", URL, json=BODY) as response:
        assert "content-encoding" not in response.headers
        pieces = response.iter_raw()
        read_first_chunks(pieces)
        gate.set()
        rest = sum(len(piece) for piece in pieces)
    assert rest >= (WORDS - 3) * PIECE_BYTES


def test_events_arrive_as_they_happen(client: httpx.Client, gate: threading.Event) -> None:
    stream_id = str(uuid4())
    with (
        client.stream("POST", URL, json=BODY, headers={"X-Request-Id": stream_id}) as speech,
        client.stream("GET", f"{URL}/{stream_id}/events") as events,
    ):
        lines = events.iter_lines()
        assert any(line == "event: chunk" for line in lines)
        gate.set()
        assert any(line == "event: done" for line in lines)
        speech.read()


def test_sound_as_events_arrives_before_the_rest_is_made(
    client: httpx.Client, gate: threading.Event
) -> None:
    with client.stream("POST", URL, json={**BODY, "stream_format": "sse"}) as response:
        kinds = (
            json.loads(line.removeprefix("data: "))["type"]
            for line in response.iter_lines()
            if line.startswith("data: ")
        )
        assert next(kinds) == "speech.audio.delta"
        gate.set()
        assert list(kinds)[-1] == "speech.audio.done"


def test_a_hang_up_reaches_the_server_while_there_is_nothing_to_send(
    client: httpx.Client, gate: threading.Event, endings: Endings
) -> None:
    with client.stream("POST", URL, json=BODY) as response:
        read_first_chunks(response.iter_raw())
    assert endings.seen.get(timeout=GATE_SECONDS)["outcome"] == "cancelled"
    assert not gate.is_set()


def test_a_torn_stream_looks_torn(client: httpx.Client, gate: threading.Event) -> None:
    gate.set()
    body = {**BODY, "input": "one two three break four"}
    with client.stream("POST", URL, json=body) as response:
        assert response.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            response.read()


def test_text_and_sound_pass_through_a_websocket_as_they_come(
    proxy: str, gate: threading.Event
) -> None:
    gate.set()
    with connect(f"{proxy.replace('http', 'ws')}{URL}/stream") as socket:
        socket.send('{"type": "start", "response_format": "pcm"}')
        socket.send('{"type": "text", "text": "One two. And"}')
        # The second sentence is not there yet: the first one is heard already.
        while not isinstance(socket.recv(timeout=20), bytes):
            """The messages before the first sound."""
        socket.send('{"type": "end"}')
        assert '"done"' in [frame for frame in socket if isinstance(frame, str)][-1]


def test_the_client_is_known_by_its_own_address_whatever_it_claims(
    proxy: str, gate: threading.Event, endings: Endings
) -> None:
    gate.set()
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=proxy, timeout=20, transport=transport) as client:
        headers = {"X-Forwarded-For": "203.0.113.9"}
        client.post(URL, json=BODY, headers=headers).raise_for_status()
    assert endings.seen.get(timeout=GATE_SECONDS)["client"] == "127.0.0.2"


def test_the_page_is_known_by_the_name_that_its_browser_knows(
    client: httpx.Client, gate: threading.Event
) -> None:
    gate.set()
    longer_than_others_may = {**BODY, "input": "word " * 1_000}
    origins = {str(client.base_url).rstrip("/"): 200, "http://elsewhere.example": 400}
    for origin, status in origins.items():
        reply = client.post(URL, json=longer_than_others_may, headers={"Origin": origin})
        assert reply.status_code == status


def test_a_body_too_large_is_refused_by_the_server_itself(client: httpx.Client) -> None:
    reply = client.post(URL, content=b" " * (Settings().max_body_bytes + 500_000))
    assert reply.status_code == 413
    assert reply.json()["error"]["type"] == "invalid_request_error"


def test_metrics_stay_within(client: httpx.Client) -> None:
    assert client.get("/metrics").status_code == 403
    assert client.get("/readyz").status_code == 200
