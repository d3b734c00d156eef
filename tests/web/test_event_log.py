"""The events of a stream: numbered, kept for a while, and only their owner's."""

import msgspec
import pytest
from anyio import create_task_group, fail_after
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from app.errors import OverloadedError, StreamInUseError, UnknownStreamError
from app.speech.engine import Mark
from app.speech.stream import EncodedChunk
from app.web.event_log import LARGEST_LOG_BYTES, MOST_ENDED_LOGS, Event, EventLog, EventLogs
from app.web.progress import Asked, Progress

pytestmark = pytest.mark.anyio


def ask(stream_id: str = "one", client: str = "me") -> Progress:
    return Progress(Asked(stream_id, client, "tone", "a", "mp3", 22_050, 44_100))


def finish(logs: EventLogs, progress: Progress, error: Exception | None = None) -> None:
    progress.outcome, progress.error = ("failed" if error else "completed"), error
    logs.ended(progress)


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


async def find(logs: EventLogs, stream_id: str = "one", reader: str = "me") -> EventLog:
    return await logs.find(stream_id, reader=reader, wait_seconds=0)


@given(st.integers(0, 30), st.integers(0, 40) | st.just(2**70))
def test_reading_goes_on_after_any_number_without_a_gap(count: int, after: int) -> None:
    log = EventLog("me")
    for index in range(count):
        log.add("chunk", {"index": index})
    numbers = [event.number for event in log.read(after)]
    assert numbers == list(range(after + 1, count + 1))


def test_what_was_forgotten_is_said_to_be_lost() -> None:
    log = EventLog("me")
    for _ in range(100):
        log.add("chunk", {"filler": "x" * (LARGEST_LOG_BYTES // 50)})
    events = log.read(3)
    assert events[0].name == "lost"
    assert [event.number for event in events] == list(range(events[0].number, 101))
    assert msgspec.json.decode(events[0].data) == {"before": events[1].number}
    assert sum(len(event.data) for event in events) < 1.1 * LARGEST_LOG_BYTES
    assert names(log.read(99)) == ["chunk"]


async def test_waiting_ends_with_the_next_event_and_with_the_end() -> None:
    log = EventLog("me")
    got: list[list[Event]] = []

    async def wait(after: int) -> None:
        got.append(await log.wait(after, seconds=60))

    with fail_after(10):
        async with create_task_group() as tasks:
            tasks.start_soon(wait, 0)
            await checkpoint()
            assert got == []
            log.add("chunk", {})
        async with create_task_group() as tasks:
            tasks.start_soon(wait, 1)
            await checkpoint()
            log.end(0)
    assert [names(events) for events in got] == [["chunk"], []]


async def test_waiting_in_vain_ends_in_time() -> None:
    assert await EventLog("me").wait(0, seconds=0.01) == []


async def test_a_whole_stream_is_told_in_order_with_times_and_totals() -> None:
    logs, progress = EventLogs(keep_seconds=60), ask()
    logs.opened(progress)
    logs.queued(progress, 2)
    logs.queued(progress, 0)
    word, phoneme = Mark("word", "Hi", 0, 2, 2_205, 4_410), Mark("phoneme", "h", 0, 1, 2_205, 2_300)
    progress.samples, progress.sent_bytes = 11_025, 3
    logs.made(progress, EncodedChunk(b"abc", 11_025, 22_050, (word, phoneme)))
    logs.made(progress, EncodedChunk(b"d", 0, 22_050, last=True))
    finish(logs, progress)
    events = (await find(logs)).read(0)
    assert names(events) == ["queued", "started", "chunk", "total", "done"]
    told = {event.name: msgspec.json.decode(event.data) for event in events}
    assert told["queued"] == {"position": 2}
    assert told["started"]["sample_rate"] == 22_050
    assert told["chunk"] == {
        "samples": 11_025,
        "bytes": 3,
        "marks": [{"text": "Hi", "text_start": 0, "text_end": 2, "start": 0.1, "end": 0.2}],
    }
    assert told["total"] == told["done"]
    assert told["done"] == {
        "samples": 11_025,
        "sample_rate": 22_050,
        "coded_samples": 22_050,
        "coded_rate": 44_100,
        "seconds": 0.5,
    }


@pytest.mark.parametrize(
    ("error", "message"),
    [(OverloadedError("Too much."), "Too much."), (ValueError("secret"), "its log says how")],
)
async def test_a_failure_is_told_in_words_that_keep_a_bug_to_the_log(
    error: Exception, message: str
) -> None:
    logs, progress = EventLogs(keep_seconds=60), ask()
    logs.opened(progress)
    finish(logs, progress, error)
    (event,) = (await find(logs)).read(0)
    assert event.name == "failed"
    assert message in msgspec.json.decode(event.data)["error"]["message"]
    assert b"secret" not in event.data


async def test_a_stream_that_was_left_is_told_as_cancelled() -> None:
    logs, progress = EventLogs(keep_seconds=60), ask()
    logs.opened(progress)
    progress.outcome = "cancelled"
    logs.ended(progress)
    assert names((await find(logs)).read(0)) == ["cancelled"]


def test_an_id_in_use_is_refused_and_its_stream_goes_on() -> None:
    logs, progress = EventLogs(keep_seconds=60), ask()
    logs.opened(progress)
    with pytest.raises(StreamInUseError):
        logs.opened(ask())
    logs.queued(progress, 1)
    finish(logs, progress)


async def test_an_id_may_be_used_again_after_the_end() -> None:
    logs, progress = EventLogs(keep_seconds=60), ask()
    logs.opened(progress)
    finish(logs, progress)
    logs.opened(ask())
    assert (await find(logs)).read(0) == []


@pytest.mark.parametrize(("stream_id", "reader"), [("two", "me"), ("one", "another")])
async def test_another_id_and_anothers_stream_are_unknown(stream_id: str, reader: str) -> None:
    logs = EventLogs(keep_seconds=60)
    logs.opened(ask())
    with pytest.raises(UnknownStreamError):
        await find(logs, stream_id, reader)


async def test_whoever_asks_too_early_gets_the_log_once_it_is_there() -> None:
    logs = EventLogs(keep_seconds=60)
    found: list[EventLog] = []

    async def look() -> None:
        found.append(await logs.find("one", reader="me", wait_seconds=60))

    with fail_after(10):
        async with create_task_group() as tasks:
            tasks.start_soon(look)
            await checkpoint()
            logs.opened(ask("other"))
            await checkpoint()
            assert found == []
            logs.opened(ask())
    assert len(found) == 1


async def test_an_ended_stream_is_forgotten_in_time() -> None:
    clock = [0.0]
    logs, progress = EventLogs(keep_seconds=60, now=lambda: clock[0]), ask()
    logs.opened(progress)
    finish(logs, progress)
    clock[0] = 59
    assert (await find(logs)).ended_at is not None
    clock[0] = 61
    with pytest.raises(UnknownStreamError):
        await find(logs)


async def test_no_number_of_streams_makes_it_remember_more_than_so_many() -> None:
    logs, running = EventLogs(keep_seconds=60), ask("running")
    logs.opened(running)
    for index in range(MOST_ENDED_LOGS + 10):
        progress = ask(str(index))
        logs.opened(progress)
        finish(logs, progress)
    for gone in range(9):
        with pytest.raises(UnknownStreamError):
            await find(logs, str(gone))
    assert (await find(logs, str(MOST_ENDED_LOGS))).ended_at is not None
    assert (await find(logs, "running")).ended_at is None
