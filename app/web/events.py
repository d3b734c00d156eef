"""GET /v1/audio/speech/{id}/events: what happens to a speech, beside its sound."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from litestar import Request, Response, get
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from app.web.access import identify
from app.web.body import wait_unless_gone
from app.web.event_log import EventLog, EventLogs

WAIT_SECONDS: Final = 10.0
"""How long a client may ask for the events before it asks for the speech."""

PING_SECONDS: Final = 15.0
"""How often something is sent where nothing happens, so that no proxy hangs up."""


@get("/v1/audio/speech/{stream_id:uuid}/events", summary="Follow a speech")
async def send_events(
    request: Request[Any, Any, Any],
    stream_id: FromPath[UUID],
    event_logs: NamedDependency[EventLogs],
    last_event_id: Annotated[
        int, HeaderParameter(name="Last-Event-ID", ge=0, description="go on after this one")
    ] = 0,
) -> Response[Any]:
    """Send the speech's events: `queued`, `started`, `chunk`, `total`, then how it ended.

    The id is the `X-Request-Id` of the speech's request or response.
    """
    find = partial(event_logs.find, str(stream_id), reader=identify(request).name)
    log = await wait_unless_gone(request, partial(find, wait_seconds=WAIT_SECONDS))
    if log.ended_at is not None and not log.read(last_event_id):
        # An EventSource that has seen the end stops asking when it is told 204.
        return Response(None, status_code=204)
    messages = _write(log, last_event_id)

    async def close() -> None:
        await messages.aclose()

    return ServerSentEvent(messages, background=BackgroundTask(close))


async def _write(log: EventLog, after: int) -> AsyncGenerator[ServerSentEventMessage]:
    while (events := await log.wait(after, seconds=PING_SECONDS)) or log.ended_at is None:
        for event in events:
            after = event.number
            yield ServerSentEventMessage(event.data, event=event.name, id=event.number)
        if not events:
            yield ServerSentEventMessage(None, comment="nothing new")
