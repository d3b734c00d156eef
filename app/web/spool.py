"""A file that a job writes to on the worker's thread, and a response reads once that is done."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from anyio import CancelScope, to_thread

from app.errors import ShuttingDownError
from app.worker import Worker

MEMORY_BYTES: Final = 8 * 2**20
"""It lies in memory up to this size, then on disk."""
READ_BYTES: Final = 65_536


@asynccontextmanager
async def open_spool(worker: Worker) -> AsyncGenerator[IO[bytes]]:
    """Give an empty file, the caller's to close; where the block fails, it is closed after that.

    The block's job must be over, or cancelled, when it fails.
    """
    file = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115 - it outlives the block
    try:
        yield file
    except BaseException:
        await _close_between_turns(file, worker)
        raise


async def read_spool(file: IO[bytes]) -> AsyncGenerator[bytes]:
    """Read the file to its end, a piece at a time, without holding up the event loop."""
    while piece := await to_thread.run_sync(file.read, READ_BYTES):
        yield piece


async def _close_between_turns(file: IO[bytes], worker: Worker) -> None:
    """Close a file that a cancelled job may be writing to just now."""
    try:
        with CancelScope(shield=True):
            await worker.call(file.close)
    except ShuttingDownError:
        file.close()
