"""What the README tells people to write does what it says."""

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.main import create_app
from app.settings import Settings
from tests.serving import serving

README: Final = Path(__file__).parents[1] / "README.md"
ADDRESS: Final = "http://127.0.0.1:8000"


def find_code(language: str, containing: str) -> str:
    """Find the README's one block in `language` that contains a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if containing in block)
    return str(block)


def test_the_consumer_without_a_library_plays_the_voice_to_its_end(
    browser: Browser, tmp_path: Path
) -> None:
    consumer = find_code("js", 'addSourceBuffer("audio/mpeg")')
    with serving(create_app(Settings(cache_folder=tmp_path))) as address:
        page = browser.new_page(bypass_csp=True)
        page.goto(address)
        seconds = page.evaluate(
            f"""async () => {{
                const audio = document.body.appendChild(document.createElement("audio"));
                {consumer}
                await audio.play();
                await new Promise((done) => (audio.onended = done));
                return audio.currentTime;
            }}"""
        )
        page.close()
    assert 0.4 < seconds < 3


def test_the_openai_client_of_the_readme_writes_a_playable_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = find_code("python", "from openai import OpenAI")
    monkeypatch.chdir(tmp_path)
    with serving(create_app(Settings(cache_folder=tmp_path))) as address:
        exec(example.replace(ADDRESS, address), {})  # noqa: S102 - the README's own code
    body = (tmp_path / "hello.mp3").read_bytes()
    assert count_containers(body, "mp3") == 1
    assert decode_body(body, "mp3").seconds > 0.4
