"""The server does what its own OpenAPI document says, whatever it is sent."""

from collections.abc import Iterator

import httpx
import pytest

from app.formats import FORMATS
from tests.web.fuzzing import fuzz, serving_patiently


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving_patiently() as url:
        yield url


def test_every_answer_is_as_documented(address: str) -> None:
    run = fuzz(address, "--max-examples", "45")
    assert run.returncode == 0, run.stdout
    assert "Tested: 9" in run.stdout


def test_the_document_names_every_type_of_sound_and_every_error(address: str) -> None:
    document = httpx.get(address).json()
    for method in ("get", "post"):
        answers = document["paths"]["/v1/audio/speech"][method]["responses"]
        kinds = {known.media_type for known in FORMATS.values()}
        assert kinds | {"text/event-stream"} == set(answers["200"]["content"])
        assert {"400", "404", "409", "413", "429", "500", "503"} < set(answers)
    body = document["components"]["schemas"]["SpeechBody"]["properties"]
    assert body["response_format"]["enum"] == list(FORMATS)
    assert body["input"]["maxLength"] == 4_096
