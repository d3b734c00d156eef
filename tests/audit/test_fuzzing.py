"""Whatever comes, the command ends in good time with one of its three answers."""

import argparse
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.audit.command import add_arguments, run
from app.formats import FORMATS, find_format
from tests.audit.auditing import RATE, SOUND
from tests.speech.encoding import encode

NAMES = [name for name in FORMATS if name not in {"raw", "ogg"}]
BODIES = {name: encode([SOUND[:RATE]], find_format(name), rate=RATE) for name in NAMES}

any_body = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=100).map(str.encode),
    st.builds(
        lambda name, junk, at: BODIES[name][:at] + junk,
        st.sampled_from(NAMES),
        st.binary(max_size=64),
        st.integers(0, 2_000),
    ),
)
patient = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def judge(folder: Path, body: bytes, *words: str) -> int:
    path = folder / "body"
    path.write_bytes(body)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([str(path), *words]))


@given(body=any_body, name=st.sampled_from([None, *NAMES]))
@patient
def test_any_bytes_have_an_answer(tmp_path: Path, body: bytes, name: str | None) -> None:
    words = [] if name is None else ["--format", name]
    assert judge(tmp_path, body, *words) in {0, 1, 2}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(patient, max_examples=6)
def test_a_good_body_cut_anywhere_has_an_answer(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(BODIES[name])))
    assert judge(tmp_path, BODIES[name][:end], "--format", name) in {0, 1, 2}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(patient, max_examples=8)
def test_a_good_body_with_any_byte_changed_has_an_answer(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    body = bytearray(BODIES[name])
    # Headers are where a change does most harm.
    places = st.one_of(st.integers(0, 200), st.integers(0, len(body) - 1))
    for place in data.draw(st.lists(places, min_size=1, max_size=3)):
        body[place] = data.draw(st.integers(0, 255))
    reference = tmp_path / "reference.flac"
    reference.write_bytes(BODIES["flac"])
    words = ["--against", str(reference)] if data.draw(st.booleans()) else []
    assert judge(tmp_path, bytes(body), "--format", name, *words) in {0, 1, 2}


@pytest.mark.parametrize("name", ["mp3", "webm"])
def test_memory_does_not_grow_with_the_body(tmp_path: Path, name: str) -> None:
    path = tmp_path / "long"
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    peaks = []
    for seconds in (20, 120):
        write_seconds(path, name, seconds)
        tracemalloc.start()
        assert run(parser.parse_args([str(path)])) == (0 if name == "mp3" else 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 100_000


def write_seconds(path: Path, name: str, seconds: int) -> None:
    """Write copies of a second: frames of one mp3, or a WebM container each."""
    with path.open("wb") as file:
        for _ in range(seconds):
            file.write(BODIES[name])
