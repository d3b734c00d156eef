"""A body is parted while it arrives, however it is cut, and hardly any of it is held."""

from collections.abc import Iterator
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.containers import BodyParting, count_containers, find_kind, split_containers
from app.audit.walkers import WALKERS
from app.formats import FORMATS, find_format
from tests.audit.auditing import make_bad, make_good

WITH_CONTAINER = [name for name in FORMATS if name not in {"pcm", "raw"}]


def cut_evenly(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def part(body: bytes, kind: str, piece_bytes: int, read_bytes: int = 5_000) -> list[bytes]:
    parting = BodyParting(cut_evenly(body, piece_bytes), kind)
    return [b"".join(iter(partial(one.read, read_bytes), b"")) for one in parting.parts()]


@cache
def split(name: str) -> list[bytes]:
    return split_containers(make_bad(name), name)


@pytest.mark.parametrize("name", WITH_CONTAINER)
@settings(max_examples=8, deadline=None)
@given(piece_bytes=st.integers(1, 9_000), read_bytes=st.integers(1_000, 70_000))
def test_pieces_of_any_size_give_the_same_parts(
    name: str, piece_bytes: int, read_bytes: int
) -> None:
    kind = find_kind(find_format(name))
    assert part(make_bad(name), kind, max(piece_bytes, 50), read_bytes) == split(name)
    assert len(split(name)) == 3


@pytest.mark.parametrize("name", ["mp3", "webm", "ogg", "wav", "mp4"])
def test_even_single_bytes_give_the_same_parts(name: str) -> None:
    body = b"".join(one[:1_500] for one in split(name)[:1])
    assert part(body, find_kind(find_format(name)), 1) == [body]


@pytest.mark.parametrize("kind", WALKERS)
@settings(max_examples=40, deadline=None)
@given(body=st.binary(max_size=400), piece_bytes=st.integers(1, 50))
def test_any_bytes_are_parted_without_loss(kind: str, body: bytes, piece_bytes: int) -> None:
    parts = part(body, kind, piece_bytes)
    assert b"".join(parts) in {body, b""}


@pytest.mark.parametrize("name", WITH_CONTAINER)
def test_what_is_skipped_is_passed_over_with_its_part(name: str) -> None:
    parting = BodyParting(cut_evenly(make_bad(name), 3_000), find_kind(find_format(name)))
    starts = []
    for one in parting.parts():
        starts.append(one.start_byte)
        one.read(100)
    assert starts == [0, len(split(name)[0]), len(split(name)[0]) + len(split(name)[1])]
    assert parting.containers == 3
    assert not parting.torn
    assert not parting.stray_bytes


@pytest.mark.parametrize("name", ["mp3", "aac", "ogg", "webm", "mp4-flac", "flac"])
def test_a_part_is_handed_on_before_the_body_has_ended(name: str) -> None:
    body = make_good(name)
    taken: list[int] = []

    def arrive() -> Iterator[bytes]:
        for piece in cut_evenly(body, 1_000):
            taken.append(len(piece))
            yield piece

    parting = BodyParting(arrive(), find_kind(find_format(name)))
    only = next(parting.parts())
    handed = 0
    while piece := only.read(500):
        handed += len(piece)
        # A frame, page or box and a piece, and never more.
        assert sum(taken) - handed < 13_000
    assert handed == len(body)


def test_wav_files_within_one_that_claims_too_much_are_counted() -> None:
    body = split("wav")[0]
    claims = body[:4] + (len(body) * 20).to_bytes(4, "little") + body[8:]
    assert count_containers(claims * 3, "wav") == 3


def test_a_wav_of_unknown_length_ends_where_the_next_begins() -> None:
    body = make_good("wav")
    assert split_containers(body * 3, "wav") == [body] * 3


def test_a_body_without_a_start_is_given_up_and_not_held() -> None:
    pulled = 0

    def arrive() -> Iterator[bytes]:
        nonlocal pulled
        while True:
            pulled += 1
            yield bytes(1 << 20)

    assert list(BodyParting(arrive(), "ogg").parts()) == []
    assert pulled < 20


def test_a_picture_in_a_tag_belongs_to_the_file_that_follows() -> None:
    picture = b"ID3\x04\x00\x00\x00\x08\x00\x00" + bytes(8 << 14)
    body = make_good("mp3")
    assert part(body + picture + body, "mp3", 1_000) == [body, picture + body]
