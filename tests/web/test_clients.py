"""Real clients against a real server that speaks with the real voice."""

from collections.abc import Generator, Iterator
from pathlib import Path

import httpx
import openai
import pytest

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.main import create_app
from app.settings import Settings
from tests.serving import serving
from tests.voices import ToneEngine

TEXT = "Hello there. This sentence is spoken by a real voice, to a real client."
FIELDS = {"input": TEXT, "voice": "joe", "seed": 5}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cache = tmp_path_factory.getbasetemp() / "voice-cache"
    with serving(create_app(Settings(cache_folder=cache))) as address:
        yield address


@pytest.fixture
def client(url: str) -> Generator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        yield client


def test_the_openai_client_writes_a_file(client: openai.OpenAI, tmp_path: Path) -> None:
    speech = client.audio.speech.create(model="tts-1", voice="joe", input=TEXT)
    speech.write_to_file(tmp_path / "speech.mp3")
    body = (tmp_path / "speech.mp3").read_bytes()
    assert count_containers(body, "mp3") == 1
    assert decode_body(body, "mp3").seconds > 2


def test_the_openai_client_streams(client: openai.OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="joe", input=TEXT, response_format="opus"
    ) as response:
        assert response.headers["content-type"].startswith("audio/ogg")
        pieces = list(response.iter_bytes())
    assert len(pieces) > 1
    assert count_containers(b"".join(pieces), "opus") == 1


@pytest.mark.anyio
async def test_the_asynchronous_openai_client_streams(url: str) -> None:
    async with (
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client,
        client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="joe", input=TEXT, response_format="wav"
        ) as response,
    ):
        body = b"".join([piece async for piece in response.iter_bytes()])
    assert count_containers(body, "wav") == 1


def test_the_openai_client_understands_our_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        client.audio.speech.create(model="tts-1", voice="nobody", input=TEXT)
    assert unknown.value.code == "voice_not_found"
    with pytest.raises(openai.BadRequestError) as silent:
        client.audio.speech.create(model="tts-1", voice="joe", input="...")
    assert silent.value.param == "input"


def test_the_openai_client_lists_the_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["en_US-joe-medium"]


def test_a_body_is_sent_in_chunks_and_each_format_decodes_to_the_samples_made(url: str) -> None:
    pcm = httpx.post(f"{url}/v1/audio/speech", json={**FIELDS, "response_format": "pcm"})
    flac = httpx.post(f"{url}/v1/audio/speech", json={**FIELDS, "response_format": "flac"})
    assert flac.headers["transfer-encoding"] == "chunked"
    assert (
        decode_body(flac.content, "flac").samples == decode_body(pcm.content, "pcm").samples
    ).all()


def test_a_client_that_hangs_up_is_forgotten_and_the_next_one_is_served(url: str) -> None:
    long = {**FIELDS, "input": TEXT * 40}
    with httpx.stream("POST", f"{url}/v1/audio/speech", json=long) as response:
        next(response.iter_bytes())
    assert httpx.post(f"{url}/v1/audio/speech", json=FIELDS, timeout=20).status_code == 200


def test_a_failure_midway_breaks_the_connection_so_that_no_client_takes_it_for_an_end() -> None:
    app = create_app(Settings(), load=lambda _: [ToneEngine(fail_after=5)])
    body = {"input": " ".join(["word"] * 9), "response_format": "pcm"}
    with (
        serving(app) as address,
        httpx.stream("POST", f"{address}/v1/audio/speech", json=body) as response,
    ):
        assert response.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            response.read()
