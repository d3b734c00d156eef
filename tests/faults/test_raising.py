"""A model or an encoder that fails at any step, with anything that can be raised."""

from typing import Final

import pytest

from tests.faults.scene import STAGED, STAGED_WHOLE, URL, Scene, staged
from tests.web.asgi import Client

pytestmark = pytest.mark.anyio

KINDS: Final = (ValueError, MemoryError, StopIteration, KeyboardInterrupt, SystemExit)
BEFORE_THE_FIRST_BYTE: Final = ("open", "generate", "next 0", "marks 0", "feed 0")
AFTER_IT: Final = ("next 3", "marks 3", "feed 3", "end", "close", "finish", "encoder close")


async def fail(scene: Scene, step: str, kind: type[BaseException]) -> Client:
    """Ask for a speech that fails at that step."""
    scene.stage.clear()
    scene.stage.faults[step] = kind
    client = Client(scene.app)
    await client.post(URL, STAGED)
    return client


@pytest.mark.parametrize("step", BEFORE_THE_FIRST_BYTE)
async def test_what_fails_before_the_first_byte_is_answered_with_500_and_harms_nobody_else(
    step: str,
) -> None:
    async with staged() as scene:
        for kind in KINDS:
            reply = (await fail(scene, step, kind)).reply
            assert (reply.status, reply.error["type"]) == (500, "server_error"), kind
            assert reply.complete
            scene.expect_all_closed()
        assert scene.count_ends() == {"failed": len(KINDS)}
        await scene.end()


@pytest.mark.parametrize("step", AFTER_IT)
async def test_what_fails_after_the_first_byte_breaks_its_body_off_and_harms_nobody_else(
    step: str,
) -> None:
    async with staged() as scene:
        for kind in KINDS:
            reply = (await fail(scene, step, kind)).reply
            assert reply.status == 200
            assert reply.failure is not None, kind
            assert not reply.complete
            assert STAGED_WHOLE.startswith(reply.body)
            scene.expect_all_closed()
        assert scene.count_ends() == {"failed": len(KINDS)}
        await scene.end()


@pytest.mark.parametrize("step", ["close", "encoder close"])
async def test_what_cannot_even_be_closed_when_its_listener_leaves_harms_nobody_else(
    step: str,
) -> None:
    async with staged() as scene:
        for kind in KINDS:
            scene.stage.clear()
            scene.stage.faults[step] = kind
            client = scene.start(most_pieces=1)
            await scene.rest()
            client.hang_up.set()
            await client.ended.wait()
            await scene.rest()
            assert scene.worker.jobs == 1
            scene.expect_all_closed()
        assert scene.count_ends() == {"cancelled": len(KINDS)}
        await scene.end()
