"""Waiting for the worker's thread by its own turns, never by the clock."""

from app.worker import Worker


async def settle(worker: Worker) -> None:
    """Let the thread come to rest: a turn of our own comes after those that are due."""
    for _ in range(5):
        await worker.call(lambda: None)
