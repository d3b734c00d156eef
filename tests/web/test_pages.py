"""The page, its files, the lists, and the headers that every response carries."""

import re
from collections.abc import AsyncGenerator

import pytest
from litestar import Litestar

from app.formats import FORMATS
from app.web.pages import STATIC_FOLDER
from tests.web.asgi import Client, living
from tests.web.test_speech import build

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app() -> AsyncGenerator[Litestar]:
    async with living(build()) as app:
        yield app


async def test_the_page_offers_each_voice_and_format(app: Litestar) -> None:
    reply = await Client(app).get("/")
    page = reply.body.decode()
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/html")
    for voice in ("a", "b"):
        assert f'value="{voice}"' in page
    for name, declared in FORMATS.items():
        # No browser plays PCM that comes without a header.
        assert (f'value="{name}"' in page) == (declared.media_type != "audio/pcm")


async def test_everything_that_the_page_names_is_served_and_cached_for_good(app: Litestar) -> None:
    page = (await Client(app).get("/")).body.decode()
    files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page))
    assert files
    for file in files:
        reply = await Client(app).get(file)
        assert reply.status == 200, file
        assert "immutable" in reply.headers["cache-control"]


async def test_scripts_are_served_as_modules_need_them(app: Litestar) -> None:
    page = (await Client(app).get("/")).body.decode()
    prefix = re.search(r'"(/static/\w+)/', page)
    assert prefix is not None
    for script in STATIC_FOLDER.rglob("*.js"):
        reply = await Client(app).get(f"{prefix[1]}/{script.relative_to(STATIC_FOLDER)}")
        assert "javascript" in reply.headers["content-type"]


async def test_without_javascript_the_form_gives_a_page_that_plays(app: Litestar) -> None:
    reply = await Client(app).get("/?input=Hello+there&voice=b&speed=1.5&response_format=")
    page = reply.body.decode()
    source = re.search(r'<audio[^>]* src="([^"]+)"', page)
    assert source is not None
    spoken = await Client(app).get(source[1].replace("&amp;", "&"))
    assert spoken.status == 200
    assert spoken.headers["content-type"] == "audio/mpeg"
    assert "Hello there" in page


async def test_a_text_in_the_address_is_shown_as_text_and_never_as_markup(app: Litestar) -> None:
    reply = await Client(app).get("/?input=%3Cscript%3Ealert(1)%3C/script%3E&voice=%22%3E%3Cb%3E")
    assert b"<script>alert" not in reply.body
    assert b'"><b>' not in reply.body


async def test_lists_tell_what_there_is(app: Litestar) -> None:
    models = await Client(app).get("/v1/models")
    voices = await Client(app).get("/v1/audio/voices")
    formats = await Client(app).get("/v1/audio/formats")
    assert b'"id":"tone"' in models.body
    assert b'"id":"b"' in voices.body
    assert b'"mse_type":"audio/mpeg"' in formats.body


@pytest.mark.parametrize(
    ("url", "status"),
    [("/", 200), ("/v1/models", 200), ("/nowhere", 404), ("/v1/audio/speech", 400)],
)
async def test_every_response_carries_the_security_headers(
    app: Litestar, url: str, status: int
) -> None:
    reply = await Client(app).get(url)
    assert reply.status == status
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_an_unknown_address_is_a_404_in_the_openai_shape(app: Litestar) -> None:
    reply = await Client(app).get("/v1/nowhere")
    assert reply.status == 404
    assert reply.error["type"] == "invalid_request_error"


async def test_a_wrong_method_is_a_405_in_the_openai_shape(app: Litestar) -> None:
    reply = await Client(app).post("/v1/models", {})
    assert reply.status == 405
    assert reply.error["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["../app/main.py", "..%2fapp%2fmain.py", "%2e%2e/app/main.py"])
async def test_static_files_end_at_their_folder(app: Litestar, path: str) -> None:
    page = (await Client(app).get("/")).body.decode()
    prefix = re.search(r'"(/static/\w+)/', page)
    assert prefix is not None
    assert (await Client(app).get(f"{prefix[1]}/{path}")).status == 404
