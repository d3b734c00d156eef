"""The judge counts what is there: one for one container, and every one that was joined on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.containers import count_containers, split_containers
from app.errors import InvalidRequestError
from app.formats import FORMATS, AudioFormat, find_format
from tests.files import encode_file
from tests.speech.encoding import encode, make_sound

WITH_CONTAINER = [name for name in FORMATS if name not in {"pcm", "raw"}]
EVERY = pytest.mark.parametrize("audio_format", FORMATS.values(), ids=FORMATS)
TAG = b"ID3\x04\x00\x00\x00\x00\x00\x0aTSSE plus "
"""An empty-worded ID3v2 tag of ten bytes."""


def stream(name: str, count: int = 6_000) -> bytes:
    return encode([make_sound(count)], find_format(name), rate=24_000)


def file(name: str, count: int = 6_000) -> bytes:
    return encode_file(find_format(name), 24_000, [make_sound(count)])


@EVERY
def test_nothing_holds_no_container(audio_format: AudioFormat) -> None:
    assert count_containers(b"", audio_format) == 0


@pytest.mark.parametrize("name", WITH_CONTAINER)
@settings(max_examples=10, deadline=None)
@given(counts=st.lists(st.integers(1_500, 6_000), min_size=1, max_size=5))
def test_joined_files_are_parted_where_they_were_joined(name: str, counts: list[int]) -> None:
    files = [file(name, count) for count in counts]
    assert split_containers(b"".join(files), name) == files


@pytest.mark.parametrize("name", sorted(set(WITH_CONTAINER) - {"mp3"}))
def test_joined_streams_are_parted_where_they_were_joined(name: str) -> None:
    streams = [stream(name, count) for count in (5_000, 6_000, 7_000)]
    assert split_containers(b"".join(streams), name) == streams


def test_an_mp3_begins_at_its_tag_or_its_xing_frame_or_both_at_once() -> None:
    files = [TAG + stream("mp3"), file("mp3"), TAG + file("mp3"), TAG + stream("mp3")]
    assert split_containers(b"".join(files), "mp3") == files


def test_a_long_aac_stream_that_signs_itself_again_is_one() -> None:
    body = stream("aac", 240_000)
    assert body.count(b"Lavc") > 1
    assert count_containers(body, "aac") == 1


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("webm", b"\x1a\x45\xdf\xa3"),
        ("mp4-flac", b"\x00\x00\x00\x14ftypiso5"),
        ("wav", b"RIFF\x24\x00\x00\x00WAVEfmt "),
        ("ogg", b"OggS\x00\x02" + bytes(20) + b"\x01\x01"),
    ],
)
def test_a_header_within_the_payload_is_no_container(name: str, mark: bytes) -> None:
    body = file(name)
    fooled = body[:-200] + mark + body[-200 + len(mark) :]
    assert mark in fooled
    assert count_containers(fooled, name) == 1


def test_flac_needs_more_than_its_marker_to_begin() -> None:
    body = file("flac")
    assert count_containers(body[:-100] + b"fLaC" + body[-96:], "flac") == 1


@pytest.mark.parametrize("name", WITH_CONTAINER)
def test_a_body_cut_short_is_still_one(name: str) -> None:
    body = stream(name)
    for size in range(len(body) - 1, len(body) // 2, -len(body) // 12):
        assert count_containers(body[:size], name) == 1


def test_an_mp4_box_with_a_size_of_64_bits_is_walked_over() -> None:
    body = file("mp4")
    wide = (1).to_bytes(4, "big") + b"free" + (24).to_bytes(8, "big") + b"\0\0\0\x14ftyp"
    assert split_containers(body + wide + body, "mp4") == [body + wide, body]


def test_an_mp4_box_that_goes_on_to_the_end_is_the_last() -> None:
    body = file("mp4")
    assert count_containers(body + b"\0\0\0\0mdat" + body, "mp4") == 1


def test_an_ebml_element_cut_after_its_identity_ends_the_walk() -> None:
    body = file("webm")
    assert count_containers(body + b"\x1a\x45\xdf\xa3", "webm") == 1


def test_an_mp3_header_with_an_impossible_field_is_no_frame() -> None:
    body = stream("mp3")
    free, reserved, layer_two = b"\xff\xf3\x04\xc4", b"\xff\xf3\x8c\xc4", b"\xff\xf5\x84\xc4"
    for header in (free, reserved, layer_two):
        assert count_containers(header + bytes(188), "mp3") == 0
        assert count_containers(body + header + bytes(188), "mp3") == 1


@pytest.mark.parametrize("name", WITH_CONTAINER)
def test_what_is_no_audio_holds_no_container(name: str) -> None:
    assert count_containers(b'{"error": {"message": "no"}}', name) == 0


@pytest.mark.parametrize("name", ["pcm", "raw"])
def test_pcm_counts_as_one(name: str) -> None:
    assert count_containers(stream(name) * 3, name) == 1


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidRequestError):
        count_containers(b"", "mp5")
