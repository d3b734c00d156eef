"""OpenAI's own Python client against a running server, which it must not tell from OpenAI's."""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import openai
import pytest

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.formats import FORMATS
from app.main import create_app
from app.settings import Settings
from app.speech.catalogue import OPENAI_VOICES
from tests.serving import serving
from tests.voices import ToneEngine

pytestmark = pytest.mark.anyio
OpenAIFormat = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
OPENAI_FORMATS: tuple[OpenAIFormat, ...] = ("mp3", "opus", "aac", "flac", "wav", "pcm")
TEXT = "One two three. Four five six."
ASKED: dict[str, Any] = {"model": "gpt-4o-mini-tts", "voice": "alloy", "input": TEXT}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(create_app(Settings(), load=lambda _: [ToneEngine()])) as address:
        yield f"{address}/v1"


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
async def waiting_client(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


def check(body: bytes, name: str) -> None:
    assert count_containers(body, name) == 1
    # Six words of 0.1 s and the pause between the sentences.
    assert 0.6 < decode_body(body, name).seconds < 1.5


@pytest.mark.parametrize("name", OPENAI_FORMATS)
def test_each_of_its_formats_at_once(client: openai.OpenAI, name: OpenAIFormat) -> None:
    check(client.audio.speech.create(**ASKED, response_format=name).content, name)


@pytest.mark.parametrize("name", OPENAI_FORMATS)
def test_each_of_its_formats_as_it_is_made(client: openai.OpenAI, name: OpenAIFormat) -> None:
    with client.audio.speech.with_streaming_response.create(
        **ASKED, response_format=name
    ) as response:
        assert response.headers["content-type"] == FORMATS[name].media_type
        pieces = list(response.iter_bytes())
    assert len(pieces) > 1
    check(b"".join(pieces), name)


@pytest.mark.parametrize("name", OPENAI_FORMATS)
async def test_each_of_its_formats_without_blocking(
    waiting_client: openai.AsyncOpenAI, name: OpenAIFormat
) -> None:
    whole = await waiting_client.audio.speech.create(**ASKED, response_format=name)
    check(whole.content, name)
    async with waiting_client.audio.speech.with_streaming_response.create(
        **ASKED, response_format=name
    ) as response:
        check(b"".join([piece async for piece in response.iter_bytes()]), name)


def test_the_default_is_mp3(client: openai.OpenAI) -> None:
    check(client.audio.speech.create(**ASKED).content, "mp3")


def test_it_streams_to_a_file(client: openai.OpenAI, tmp_path: Path) -> None:
    with client.audio.speech.with_streaming_response.create(**ASKED) as response:
        response.stream_to_file(tmp_path / "speech.mp3")
    check((tmp_path / "speech.mp3").read_bytes(), "mp3")


@pytest.mark.parametrize("voice", OPENAI_VOICES)
def test_each_of_its_voices(client: openai.OpenAI, voice: str) -> None:
    check(client.audio.speech.create(model="tts-1", voice=voice, input=TEXT).content, "mp3")


def test_a_custom_voice_is_an_object(client: openai.OpenAI) -> None:
    speech = client.audio.speech.create(model="tts-1-hd", voice={"id": "b"}, input=TEXT)
    check(speech.content, "mp3")


def test_instructions_and_speed(client: openai.OpenAI) -> None:
    speech = client.audio.speech.create(**ASKED, instructions="Be cheerful.", speed=4.0)
    check(speech.content, "mp3")


def read_lines(lines: Iterator[str]) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in lines if line]


def test_events_instead_of_the_sound_itself(client: openai.OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        **ASKED, stream_format="sse", response_format="wav"
    ) as response:
        events = read_lines(response.iter_lines())
    body = b"".join(base64.b64decode(event["audio"]) for event in events if "audio" in event)
    check(body, "wav")
    assert events[-1]["type"] == "speech.audio.done"
    usage = events[-1]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_a_request_may_have_a_name(client: openai.OpenAI) -> None:
    name = str(uuid4())
    with client.audio.speech.with_streaming_response.create(
        **ASKED, extra_headers={"X-Request-Id": name}
    ) as response:
        assert response.headers["x-request-id"] == name


@pytest.mark.parametrize(
    ("fields", "kind", "param", "code"),
    [
        ({"voice": "nobody"}, openai.NotFoundError, "voice", "voice_not_found"),
        ({"model": "gpt-99"}, openai.NotFoundError, "model", "model_not_found"),
        ({"input": "x" * 4_097}, openai.BadRequestError, "input", None),
        ({"speed": 9}, openai.BadRequestError, "speed", None),
        ({"response_format": "mp5"}, openai.BadRequestError, "response_format", None),
        ({"extra_body": {"pitch": 2}}, openai.BadRequestError, "pitch", None),
    ],
)
def test_it_understands_what_is_wrong(
    client: openai.OpenAI,
    fields: dict[str, Any],
    kind: type[openai.APIStatusError],
    param: str,
    code: str | None,
) -> None:
    with pytest.raises(kind) as refused:
        client.audio.speech.create(**{**ASKED, **fields})
    assert refused.value.param == param
    assert refused.value.code == code
    assert refused.value.type == "invalid_request_error"
    assert "Error code: 40" in refused.value.message


async def test_it_understands_it_without_blocking(waiting_client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        await waiting_client.audio.speech.create(**{**ASKED, "voice": "nobody"})


def test_a_failure_midway_is_a_broken_connection() -> None:
    app = create_app(Settings(), load=lambda _: [ToneEngine(fail_after=4)])
    with (
        serving(app) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client,
        client.audio.speech.with_streaming_response.create(**ASKED) as response,
        pytest.raises(Exception, match=r"incomplete|closed"),
    ):
        response.read()


def test_it_lists_the_models(client: openai.OpenAI) -> None:
    (model,) = client.models.list()
    assert (model.id, model.object) == ("tone", "model")
