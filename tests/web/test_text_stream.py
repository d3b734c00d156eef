"""WS /v1/audio/speech/stream: text in as it is written, one container out, words in between."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.formats import FORMATS
from app.main import create_app
from app.settings import Settings
from app.speech.engine import Mark
from app.speech.stream import EncodedChunk
from tests.serving import serving
from tests.voices import ToneEngine
from tests.web.asgi import WAIT_SECONDS

TEXT = "One two three. Four five. Six seven eight nine. Ten."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(create_app(Settings(), load=lambda _: [ToneEngine()])) as url:
        yield url.replace("http", "ws") + "/v1/audio/speech/stream"


@contextmanager
def talking(address: str) -> Iterator["Talk"]:
    with connect(address, open_timeout=WAIT_SECONDS) as socket:
        yield Talk(socket)


@dataclass
class Talk:
    """One connection, and what came through it."""

    socket: ClientConnection
    sound: list[bytes] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)

    def say(self, kind: str, **fields: object) -> None:
        self.socket.send(json.dumps({"type": kind, **fields}))

    def listen(self) -> dict[str, Any] | bytes:
        """Take the next frame."""
        frame = self.socket.recv(timeout=WAIT_SECONDS)
        if isinstance(frame, bytes):
            self.sound.append(frame)
            return frame
        message: dict[str, Any] = json.loads(frame)
        self.told.append(message)
        return message

    def listen_for(self, kind: str) -> dict[str, Any]:
        while True:
            frame = self.listen()
            if isinstance(frame, dict) and frame["type"] == kind:
                return frame

    def listen_to_the_end(self) -> int:
        """Take all frames there are; the code that the server closed with."""
        with pytest.raises(ConnectionClosed) as closed:
            self._listen_on()
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code

    def _listen_on(self) -> None:
        while True:
            self.listen()

    @property
    def body(self) -> bytes:
        return b"".join(self.sound)

    @property
    def kinds(self) -> list[str]:
        return [message["type"] for message in self.told]

    @property
    def marks(self) -> list[dict[str, Any]]:
        return [mark for message in self.told for mark in message.get("marks", [])]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_sound_is_one_container_of_the_format_that_was_asked_for(
    address: str, name: str
) -> None:
    with talking(address) as talk:
        talk.say("start", response_format=name)
        talk.say("text", text=TEXT)
        talk.say("end")
        assert talk.listen_to_the_end() == 1000
    assert count_containers(talk.body, name) == 1
    started, done = talk.told[0], talk.told[-1]
    assert started["type"] == "started"
    assert started["media_type"] == FORMATS[name].media_type
    assert started["sample_rate"] == FORMATS[name].coded_rate(24_000)
    assert done["type"] == "done"
    decoded = decode_body(talk.body, name, pcm_rate=24_000)
    assert decoded.total_samples == FORMATS[name].decoded_samples(done["samples"], 24_000)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
def test_any_cut_of_the_text_gives_the_same_samples_and_words(
    address: str, cuts: list[int]
) -> None:
    def speak(pieces: list[str]) -> Talk:
        with talking(address) as talk:
            talk.say("start", response_format="pcm")
            for piece in pieces:
                talk.say("text", text=piece)
            talk.say("end")
            assert talk.listen_to_the_end() == 1000
        return talk

    edges = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[start:end] for start, end in pairwise(edges)]
    cut, whole = speak(pieces), speak([TEXT])
    assert cut.body == whole.body
    assert cut.marks == whole.marks
    words = [TEXT[mark["text_start"] : mark["text_end"]] for mark in whole.marks]
    assert " ".join(words).replace(".", "") == TEXT.replace(".", "")


def test_a_sentence_is_spoken_as_soon_as_it_is_certain_to_be_one(address: str) -> None:
    with talking(address) as talk:
        talk.say("start", response_format="pcm")
        talk.say("text", text="One two. And")
        while sum(map(len, talk.sound)) < 2 * 2 * 2_400:
            talk.listen()
        assert [mark["text"] for mark in talk.marks] == ["One", "two."]
        talk.say("end")
        assert talk.listen_to_the_end() == 1000
    assert [mark["text"] for mark in talk.marks][2:] == ["And."]


def test_words_are_told_before_the_frame_that_they_begin_in(address: str) -> None:
    with talking(address) as talk:
        talk.say("start", response_format="pcm")
        talk.say("text", text=TEXT)
        talk.say("end")
        heard_seconds, due = 0.0, 0
        try:
            while True:
                if isinstance(frame := talk.listen(), bytes):
                    heard_seconds += len(frame) / 2 / 24_000
                    due = sum(mark["start"] < heard_seconds - 1e-3 for mark in talk.marks)
                    assert due == len(talk.marks)
        except ConnectionClosed:
            assert due == len(TEXT.split())


def test_it_is_said_that_the_speech_begins_before_anything_of_it_however_fast_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = create_app(Settings(), load=lambda _: [ToneEngine()])

    async def make_at_once(
        _job: object, *, on_position: Callable[[int], None]
    ) -> AsyncGenerator[EncodedChunk]:
        on_position(0)
        yield EncodedChunk(b"sound", 2_400, 24_000, (Mark("word", "One", 0, 3, 0, 2_400),))

    with serving(app) as url:
        monkeypatch.setattr(app.state.studio.worker, "stream", make_at_once)
        with talking(url.replace("http", "ws") + "/v1/audio/speech/stream") as talk:
            talk.say("end")
            first = talk.listen()
            assert isinstance(first, dict)
            assert first["type"] == "started"
            assert talk.listen_to_the_end() == 1000
    assert talk.kinds == ["started", "marks", "done"]


def test_flush_speaks_what_is_there(address: str) -> None:
    with talking(address) as talk:
        talk.say("start", response_format="pcm")
        talk.say("text", text="Not a whole sentence")
        talk.say("flush")
        while len(talk.marks) < 4:
            talk.listen()
        talk.say("text", text=" and more.")
        talk.say("end")
        assert talk.listen_to_the_end() == 1000
    assert [mark["text"] for mark in talk.marks][4:] == ["and", "more."]
    assert talk.marks[4]["text_start"] == 21


def test_cancel_stops_at_once(address: str) -> None:
    with talking(address) as talk:
        talk.say("start", response_format="pcm")
        talk.say("text", text="word " * 2_000)
        talk.listen_for("marks")
        talk.say("cancel")
        assert talk.listen_to_the_end() == 1000
    assert talk.kinds[-1] == "cancelled"
    assert "done" not in talk.kinds
    assert len(talk.marks) < 2_000


@pytest.mark.parametrize("first", ["text", "flush", "end", "cancel"])
def test_start_may_be_left_out(address: str, first: str) -> None:
    with talking(address) as talk:
        talk.say(first, **({"text": "Hello there."} if first == "text" else {}))
        if first in {"text", "flush"}:
            talk.say("text", text=" And more.")
            talk.say("end")
        code = talk.listen_to_the_end()
    if first == "end":
        assert (code, talk.told[-1]["error"]["code"]) == (1008, "nothing_to_speak")
    else:
        assert code == 1000
        assert talk.kinds[-1] == ("cancelled" if first == "cancel" else "done")


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        (["not json"], "JSON"),
        ([b"\x00\xff"], "JSON"),
        (['{"type": "sing"}'], "sing"),
        (['{"type": "text"}'], "text"),
        (['{"type": "text", "text": 3}'], "text"),
        (['{"type": "text", "text": "a", "extra": 1}'], "extra"),
        (['{"type": "start", "voice": "nobody"}'], "nobody"),
        (['{"type": "start", "response_format": "mp5"}'], "mp5"),
        (['{"type": "start", "speed": 9}'], "speed"),
        (['{"type": "start"}', '{"type": "start"}'], "first"),
        (['{"type": "end"}', '{"type": "end"}'], ""),
    ],
)
def test_a_message_that_cannot_be_is_said_in_words_before_the_close(
    address: str, messages: list[str | bytes], word: str
) -> None:
    with talking(address) as talk:
        for message in messages:
            talk.socket.send(message)
        assert talk.listen_to_the_end() == 1008
    assert talk.kinds[-1] == "error"
    assert word in talk.told[-1]["error"]["message"]
    assert talk.told[-1]["error"]["type"] == "invalid_request_error"


def test_a_failure_midway_is_an_error_message_and_another_close() -> None:
    app = create_app(Settings(), load=lambda _: [ToneEngine(fail_after=2)])
    with (
        serving(app) as url,
        talking(url.replace("http", "ws") + "/v1/audio/speech/stream") as talk,
    ):
        talk.say("start", response_format="pcm")
        talk.say("text", text=TEXT)
        talk.say("end")
        assert talk.listen_to_the_end() == 1011
    assert talk.kinds[-1] == "error"
    assert talk.told[-1]["error"]["type"] == "server_error"
    assert len(talk.body) == 2 * 2 * 2_400


@contextmanager
def limited(settings: Settings) -> Iterator[str]:
    with serving(create_app(settings, load=lambda _: [ToneEngine()])) as url:
        yield url.replace("http", "ws") + "/v1/audio/speech/stream"


def test_too_much_text_that_waits_is_refused() -> None:
    with (
        limited(Settings(max_page_characters=100, lead_bytes=4_096)) as address,
        talking(address) as talk,
    ):
        talk.say("text", text="x" * 101)
        assert talk.listen_to_the_end() == 1008
    assert "at most 100" in talk.told[-1]["error"]["message"]


def test_a_message_over_the_limit_closes_the_connection() -> None:
    with limited(Settings(max_message_bytes=1_000)) as address, talking(address) as talk:
        talk.say("text", text="x" * 1_001)
        assert talk.listen_to_the_end() == 1009


def test_where_no_text_comes_for_too_long_it_says_so() -> None:
    with limited(Settings(stall_seconds=0.05)) as address, talking(address) as talk:
        talk.say("text", text="One two. And")
        assert talk.listen_to_the_end() == 1008
    assert "No text came" in talk.told[-1]["error"]["message"]


def test_one_speech_too_many_is_told_to_come_again() -> None:
    with limited(Settings(max_streams=1, max_waiting=0)) as address, talking(address) as first:
        first.say("text", text="One two. And")
        first.listen_for("started")
        with talking(address) as second:
            second.say("text", text="One")
            assert second.listen_to_the_end() == 1013
        assert second.told[-1]["error"]["code"] == "overloaded"
        first.say("end")
        assert first.listen_to_the_end() == 1000


def test_a_waiting_speech_is_told_its_position() -> None:
    with limited(Settings(max_streams=1)) as address, talking(address) as first:
        first.say("text", text="One two. And")
        first.listen_for("started")
        with talking(address) as second:
            second.say("text", text="One.")
            second.say("end")
            assert second.listen_for("queued")["position"] == 1
            first.say("end")
            assert second.listen_to_the_end() == 1000
        assert second.kinds[:2] == ["queued", "started"]


def test_a_client_that_hangs_up_leaves_no_job_behind() -> None:
    engine = ToneEngine()
    app = create_app(Settings(lead_bytes=4_096), load=lambda _: [engine])
    with (
        serving(app) as url,
        talking(url.replace("http", "ws") + "/v1/audio/speech/stream") as talk,
    ):
        talk.say("text", text="word " * 1_000)
        talk.listen_for("marks")
        talk.socket.socket.close()
        assert engine.closed.wait(WAIT_SECONDS)
    assert engine.chunks_made < 1_000


def test_an_unknown_address_opens_no_socket(address: str) -> None:
    with pytest.raises(InvalidStatus), talking(address + "/nothing"):
        """There is no such address."""
