"""A streamed body: primed before the headers leave, closed however it ends."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from litestar import Request
from litestar.background_tasks import BackgroundTask
from litestar.response import Stream

from app.errors import ClientGoneError
from app.web.race import race

T = TypeVar("T")


async def _wait_for_hang_up(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        """A body's remaining parts are of no interest here."""


async def wait_unless_gone(request: Request[Any, Any, Any], wait: Callable[[], Awaitable[T]]) -> T:
    """Give what `wait` gives, or raise what it raises; where the client hangs up, end it.

    Raises ClientGoneError then.
    """
    results: list[T] = []

    async def run() -> None:
        results.append(await wait())

    await race(run, partial(_wait_for_hang_up, request))
    if not results:
        raise ClientGoneError("The client hung up before the first byte.")
    return results[0]


async def prime(request: Request[Any, Any, Any], pieces: AsyncGenerator[bytes]) -> bytes:
    """Wait for the first piece, or for the client to hang up, whichever comes first.

    A failure of the first piece is raised here, where it still becomes an honest status; a hang-up
    cancels `pieces`, which ends it, and raises ClientGoneError. Gives b"" where there is no piece.
    """
    return await wait_unless_gone(request, lambda: anext(pieces, b""))


async def stream_body(
    request: Request[Any, Any, Any],
    pieces: AsyncGenerator[bytes],
    *,
    media_type: str,
    headers: dict[str, str],
) -> Stream:
    """Prime `pieces` and make the response that sends them.

    The generator is closed on every path; an error after the first piece aborts the body, so that
    no client takes a torn stream for a whole one.
    """
    first = await prime(request, pieces)

    async def resume() -> AsyncGenerator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    async def close() -> None:
        # A function of its own, for Litestar takes a bare `pieces.aclose` for a synchronous one,
        # calls it in a thread and drops the awaitable. And `pieces`, not the body: that one's
        # closing would not reach `pieces` where it never began.
        await pieces.aclose()

    return Stream(
        resume(), media_type=media_type, headers=headers, background=BackgroundTask(close)
    )
