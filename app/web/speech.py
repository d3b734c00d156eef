"""POST and GET /v1/audio/speech: a text in, one container out."""

from typing import Annotated, Any

from litestar import Controller, Request, Response, get, post, route
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream

from app.errors import InvalidRequestError
from app.schemas import LARGEST_SEED, LONGEST_INSTRUCTIONS, SpeechBody, StreamFormat
from app.web.json_body import read_body
from app.web.studio import Studio


def read_query(  # noqa: PLR0913 - one parameter for each field of the query
    request: Request[Any, Any, Any],
    *,
    text: Annotated[str, QueryParameter(name="input", description="the text to speak")],
    model: FromQuery[str | None] = None,
    voice: FromQuery[str | None] = None,
    response_format: FromQuery[str] = "mp3",
    speed: Annotated[float, QueryParameter(ge=0.25, le=4)] = 1.0,
    stream_format: FromQuery[StreamFormat] = "audio",
    instructions: Annotated[str | None, QueryParameter(max_length=LONGEST_INSTRUCTIONS)] = None,
    stream: FromQuery[bool] = True,
    streaming_interval: Annotated[float, QueryParameter(ge=0.05, le=10)] = 1.0,
    seed: Annotated[float | None, QueryParameter(ge=0, le=LARGEST_SEED, multiple_of=1)] = None,
) -> SpeechBody:
    """Read the query of a GET as if it were the body of a POST.

    Raises InvalidRequestError for a field that there is not.
    """
    for name in request.query_params:
        if name not in SpeechBody.__struct_fields__:
            raise InvalidRequestError(f"{name}: There is no such field.", param=name)
    return SpeechBody(
        input=text,
        model=model,
        voice=voice,
        response_format=response_format,
        speed=speed,
        stream_format=stream_format,
        instructions=instructions,
        stream=stream,
        streaming_interval=streaming_interval,
        seed=seed,
    )


async def read_speech(request: Request[Any, Any, Any]) -> SpeechBody:
    """Read the body of a POST; raises the InvalidRequestError that names what is wrong with it."""
    return await read_body(request, SpeechBody)


class SpeechController(Controller):
    """One speech a request, streamed as it is made or sent whole."""

    path = "/v1/audio/speech"
    tags = ("speech",)

    @route(http_method="OPTIONS", status_code=204, sync_to_thread=False, include_in_schema=False)
    def allow(self) -> Response[None]:
        """Tell the methods.

        Litestar's own answer names only the method of the handler that it registers first, and is
        made unless another one comes before it: they are registered in the order of their names.
        """
        return Response(None, headers={"Allow": "GET, OPTIONS, POST"})

    @post(status_code=200, dependencies={"asked": Provide(read_speech)}, summary="Speak a text")
    async def speak(
        self,
        request: Request[Any, Any, Any],
        asked: NamedDependency[SpeechBody],
        studio: NamedDependency[Studio],
    ) -> Stream:
        """Speak the text in the JSON body."""
        return await studio.respond(request, asked)

    @get(dependencies={"asked": Provide(read_query, sync_to_thread=False)}, summary="Speak a text")
    async def speak_query(
        self,
        request: Request[Any, Any, Any],
        asked: NamedDependency[SpeechBody],
        studio: NamedDependency[Studio],
    ) -> Stream:
        """Speak the text in the query, so that <audio src> works by itself."""
        return await studio.respond(request, asked)
