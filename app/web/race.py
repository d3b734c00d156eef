"""Several things at once, of which the first to end decides."""

from collections.abc import Awaitable, Callable

import anyio


async def race(*runners: Callable[[], Awaitable[None]]) -> None:
    """Run all until one ends, cancel the others, and raise what that one raised, as it is."""
    failures: list[Exception] = []

    async def run(runner: Callable[[], Awaitable[None]]) -> None:
        try:
            await runner()
        except Exception as error:  # noqa: BLE001 - raised below, outside of the task group
            failures.append(error)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for runner in runners:
            tasks.start_soon(run, runner)
    if failures:
        raise failures[0]
