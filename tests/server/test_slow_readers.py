"""Who takes what is sent slowly, or not at all: a paused player, or somebody with an intent."""

from http.client import IncompleteRead
from typing import Any

import pytest

from app.jobs import State
from tests.server.clients import (
    RECEIVE_BUFFER_BYTES,
    WORD_BYTES,
    Client,
    build,
    leaving_nothing,
    playing_on,
    wait_until,
    write_speech,
)
from tests.serving import Served, running
from tests.voices import ToneEngine

LEAD_BYTES = 65_536
SEND_BUFFER_BYTES = 32_768
BROKEN = (IncompleteRead, ConnectionResetError)


def is_parked(served: Served) -> bool:
    """Tell whether the one stream stands still, all the way from the socket to the engine."""
    connections: list[Any] = list(served.server.server_state.connections)
    tasks = served.app.state.studio.worker._schedule.lanes.running  # noqa: SLF001
    return (
        len(connections) == len(tasks) == 1
        and connections[0].flow.write_paused
        and tasks[0].state is State.PARKED
    )


def test_a_reader_that_takes_nothing_stops_the_engine_after_a_bounded_number_of_bytes() -> None:
    engine = ToneEngine()
    app = build(engine, lead_bytes=LEAD_BYTES, send_buffer_bytes=SEND_BUFFER_BYTES)
    with running(app) as served, leaving_nothing(served):
        with Client(served.port).send(write_speech(300)) as reference:
            whole = reference.answer().body
        engine.chunks_made = 0
        with Client(served.port).send(write_speech(300)) as client:
            wait_until(lambda: is_parked(served))
            # One piece may exceed the lead, and one is on its way from the worker to the kernel.
            # The client's kernel has taken twice the buffer that it was told, as ours does.
            bound = LEAD_BYTES + SEND_BUFFER_BYTES + 2 * RECEIVE_BUFFER_BYTES + 2 * WORD_BYTES
            assert engine.chunks_made * WORD_BYTES <= bound < len(whole) / 4
            assert client.answer().body == whole


def test_a_client_that_takes_nothing_for_too_long_is_cut_and_its_job_closed() -> None:
    engine = ToneEngine()
    app = build(engine, lead_bytes=LEAD_BYTES, stall_seconds=0.2)
    with (
        running(app) as served,
        leaving_nothing(served),
        Client(served.port).send(write_speech(800)) as client,
    ):
        response = client.begin_answer()
        wait_until(lambda: served.app.state.studio.worker.jobs == 0)
        assert engine.closed.is_set()
        with pytest.raises(BROKEN):
            response.read()


def test_a_reader_of_a_byte_now_and_then_is_cut_as_well_and_one_of_a_word_is_not() -> None:
    app = build(lead_bytes=LEAD_BYTES, send_buffer_bytes=SEND_BUFFER_BYTES, stall_seconds=1.0)
    with running(app) as served, playing_on(served) as listener:
        worker = served.app.state.studio.worker
        with Client(served.port).send(write_speech(800)) as client:
            response = client.begin_answer()
            assert worker.jobs == 2
            while worker.jobs == 2:
                assert response.read(1)
                listener.hear_more()
            with pytest.raises(BROKEN):
                response.read()
