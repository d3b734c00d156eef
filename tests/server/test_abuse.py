"""Clients that go without a word, again and again: nobody else hears of it, and nothing is left."""

import asyncio
from random import Random

from tests.server.clients import (
    Client,
    Listener,
    build,
    leaving_nothing,
    playing_on,
    write_request,
    write_speech,
)
from tests.serving import running

SEED = 3
SPEECHES = (
    write_speech(100),
    write_speech(100, response_format="mp3"),
    write_speech(20, stream_format="sse"),
    write_speech(20, stream=False),
)


def take_some(client: Client, random: Random) -> None:
    """Read up to some random number of bytes."""
    left = random.randrange(200_000)
    while left > 0 and (piece := client.socket.recv(min(left, 8_192))):
        left -= len(piece)


def test_clients_that_are_killed_at_random_places_are_forgotten() -> None:
    random = Random(SEED)  # noqa: S311 - places to try, no secrets
    with running(build()) as served, playing_on(served):
        for _ in range(40):
            request = random.choice(SPEECHES)
            whole = random.random() < 0.7
            client = Client(served.port)
            client.send(request if whole else request[: random.randrange(len(request))])
            if whole:
                take_some(client, random)
            client.reset()


def test_clients_that_are_killed_while_they_wait_for_their_turn_are_forgotten() -> None:
    app = build(max_streams=2, max_waiting=20)
    with running(app) as served, playing_on(served), Client(served.port) as second:
        second.send(write_speech(800)).begin_answer()
        waiting = [Client(served.port).send(write_speech()) for _ in range(10)]
        for client in waiting:
            client.reset()


def test_thousands_of_half_open_requests_in_sequence_hold_nobody_up() -> None:
    half = write_request("/v1/audio/speech", b'{"input": "Hello."}')[:-8]

    async def come_and_go() -> None:
        # On the server's own thread, since the interpreter's lock is not what is tested here.
        for number in range(2_000):
            with Client(served.port) as client:
                await asyncio.sleep(0)
                if number % 3:
                    client.send(half[: -len(half) // (number % 3)])
                    await asyncio.sleep(0)

    with running(build()) as served, playing_on(served):
        served.run(come_and_go())


def test_half_open_requests_over_the_limit_are_refused_and_all_others_dropped_in_time() -> None:
    app = build(max_connections=50, header_seconds=1.0)
    with running(app) as served, leaving_nothing(served):
        listener = Listener(served.port)
        listener.start()
        clients = [Client(served.port) for _ in range(60)]
        refused = [client.answer().status for client in clients[49:]]
        assert refused == [503] * 11
        assert all(client.ends() for client in clients)
        for client in clients:
            client.socket.close()
        listener.hear_more()
        listener.hear_the_end()
