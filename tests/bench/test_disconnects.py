"""A thousand clients that leave at random moments: nothing is left of them, and nobody suffers."""

import asyncio
from pathlib import Path
from random import Random
from typing import Final
from uuid import UUID

from tests.bench.launching import launched
from tests.bench.leavers import Visit, pay_visits
from tests.bench.players import Heard, play, write_request

VISITS: Final = 1_000
SEED: Final = 5
SECONDS: Final = 13
STREAM_ID: Final = UUID(int=1)
SETTINGS: Final = {
    # Few enough that many wait, so that clients leave the queue as well.
    "max_streams": 8,
    "max_waiting": 30,
    "lead_bytes": 4_096,
    "send_buffer_bytes": 4_096,
}
MOMENTS: Final = ("WAITING", "READY", "ACTIVE", "PARKED")


async def play_through(port: int, visits: list[Visit]) -> Heard:
    """Play, beyond the last visit."""
    request = write_request(1, SECONDS, f"X-Request-Id: {STREAM_ID}")
    async with asyncio.TaskGroup() as group:
        group.create_task(pay_visits(port, visits))
        return await play(port, request)


def test_of_a_thousand_clients_that_leave_nothing_is_left_and_another_one_hears_all(
    tmp_path: Path,
) -> None:
    random = Random(SEED)  # noqa: S311 - moments to try, no secrets
    visits = [Visit.draw(random, followed=STREAM_ID) for _ in range(VISITS)]
    with launched(tmp_path / "log", **SETTINGS) as server:
        alone = asyncio.run(play(server.port, write_request(1, SECONDS), in_real_time=False))
        before = server.begin()
        heard = asyncio.run(play_through(server.port, visits))
        report = server.report_at_rest(before)
    assert heard.body == alone.body
    assert heard.spare_seconds >= 0
    assert all(report.cancels.get(moment, 0) >= 5 for moment in MOMENTS), report.cancels
