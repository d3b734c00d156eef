"""The page, which works without JavaScript too, and the files that it is made of."""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from litestar import MediaType, Request, Response, Router, get
from litestar.datastructures import CacheControlHeader
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler
from litestar.params import FromQuery, QueryParameter
from litestar.response import Template
from litestar.static_files import create_static_files_router

from app.errors import NotReadyError
from app.formats import FORMATS
from app.settings import Settings
from app.speech.catalogue import Catalogue
from app.web.access import Connection
from app.web.problems import tell_retry

ROOT: Final = Path(__file__).resolve().parents[2]
STATIC_FOLDER: Final = ROOT / "static"
TEMPLATE_FOLDER: Final = ROOT / "templates"
SAMPLE_TEXT: Final = (
    "Hello. This voice is made while you listen, and it reaches you as one unbroken stream."
)
YEAR_SECONDS: Final = 365 * 24 * 3600


def name_static_prefix(folder: Path = STATIC_FOLDER) -> str:
    """Name the static files by a hash of what they hold, so that they may be cached for good."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return f"/static/{digest.hexdigest()[:12]}"


def serve_static_files(prefix: str) -> Router:
    """Serve static/ below `prefix`, cached for a year: a changed file has another address.

    Names are looked up in a list that is made now, so that none reaches the file system but those.
    """
    names = {path.relative_to(STATIC_FOLDER) for path in STATIC_FOLDER.rglob("*") if path.is_file()}

    def refuse_others(connection: Connection, _: BaseRouteHandler) -> None:
        if Path(str(connection.path_params["file_path"]).lstrip("/")) not in names:
            raise NotFoundException

    return create_static_files_router(
        path=prefix,
        directories=[STATIC_FOLDER],
        cache_control=CacheControlHeader(max_age=YEAR_SECONDS, public=True, immutable=True),
        guards=[refuse_others],
    )


def _ask_to_wait(_: Request[Any, Any, Any], error: NotReadyError) -> Response[str]:
    return Response(
        f"<!doctype html><html lang=en><title>Legato</title><p>{error.message}",
        status_code=error.status,
        media_type=MediaType.HTML,
        headers={"Refresh": "2", **tell_retry(error)},
    )


def _find_longest(settings: Settings) -> int:
    """Find how many characters the page may send: more than others, but not where keys decide."""
    few = settings.max_input_characters
    return few if settings.keys else max(few, settings.max_page_characters)


@get(
    "/",
    sync_to_thread=False,
    include_in_schema=False,
    exception_handlers={NotReadyError: _ask_to_wait},
)
def show_page(  # noqa: PLR0913 - one parameter for each field of the query
    *,
    catalogue: NamedDependency[Catalogue],
    settings: NamedDependency[Settings],
    static_prefix: NamedDependency[str],
    text: Annotated[str | None, QueryParameter(name="input")] = None,
    voice: FromQuery[str] = "",
    speed: FromQuery[str] = "1",
    response_format: FromQuery[str] = "",
) -> Template:
    """Show the page; with `input`, as the form sends it without JavaScript, an <audio> plays it."""
    query = {"input": text, "voice": voice, "speed": speed, "response_format": response_format}
    chosen = {name: value for name, value in query.items() if value}
    return Template(
        "index.html",
        context={
            "static": static_prefix,
            "voices": [
                {"id": v.id, "name": v.name, "language": v.language, "model": engine.id}
                for engine, v in catalogue.voices()
            ],
            "formats": list(FORMATS.values()),
            "max_characters": _find_longest(settings),
            "text": SAMPLE_TEXT if text is None else text,
            "voice": voice,
            "speed": speed,
            "response_format": response_format,
            "audio_source": f"/v1/audio/speech?{urlencode(chosen)}" if text else None,
        },
        headers={"Cache-Control": "no-cache"},
    )
