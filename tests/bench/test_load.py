"""A hundred streams at once on two cores, and a thousand clients that leave."""

import asyncio
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from tests.bench.launching import Report, launched
from tests.bench.players import Heard, count_frames, expect_frames, play, write_request

STREAMS: Final = 100
SEEDS: Final = 10
SECONDS: Final = 14
SETTINGS: Final = {"max_streams": STREAMS, "lead_bytes": 16_384, "send_buffer_bytes": 16_384}
"""Small buffers, so that the server waits for its readers within the time that a test has."""

MOST_LAG_SECONDS: Final = 0.025
MOST_STREAM_BYTES: Final = 1_000_000


async def play_alone(port: int) -> list[Heard]:
    """Make each sound with nothing else going on."""
    return [
        await play(port, write_request(seed, SECONDS), in_real_time=False) for seed in range(SEEDS)
    ]


async def play_together(port: int) -> list[Heard]:
    """Let all of them come at the same moment."""
    requests = [write_request(at % SEEDS, SECONDS, client=at) for at in range(STREAMS)]
    return await asyncio.gather(*[play(port, request) for request in requests])


def show(heard: list[Heard], before: Report, report: Report) -> None:
    first = np.percentile([one.first_byte_seconds for one in heard], [50, 99])
    spare = min(one.spare_seconds for one in heard)
    memory = (report.peak_memory - before.memory) / STREAMS
    print(f"\nfirst byte: p50 {first[0]:.3f} s, p99 {first[1]:.3f} s")  # noqa: T201
    print(f"least buffered: {spare:.3f} s")  # noqa: T201
    print("event loop's lag:", {q: round(lag, 4) for q, lag in report.lags.items()})  # noqa: T201
    print(f"memory: {memory / 1e6:.2f} MB a stream")  # noqa: T201


def test_a_hundred_listeners_hear_all_of_it_in_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with launched(tmp_path / "log", **SETTINGS) as server:
        alone = asyncio.run(play_alone(server.port))
        before = server.begin()
        heard = asyncio.run(play_together(server.port))
        report = server.report_at_rest(before)
    with capsys.disabled():
        show(heard, before, report)
    assert [one.body for one in heard] == [alone[at % SEEDS].body for at in range(STREAMS)]
    assert {count_frames(one.body) for one in alone} == {expect_frames(SECONDS)}
    assert min(one.spare_seconds for one in heard) >= 0
    assert report.lags["99"] < MOST_LAG_SECONDS
    assert report.peak_memory - before.memory < STREAMS * MOST_STREAM_BYTES
