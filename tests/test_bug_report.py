"""The table of the bug report: streamed against not streamed, by format and interval.

A body is measured as MediaSource plays it, every coded sample of every container in it: what the
report did by hand when it summed the segments. Beside each stream stands the encoder that finishes
a file per chunk, on the same samples.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import pytest

from app.audit.containers import count_containers
from app.audit.decoding import decode_body
from app.formats import FORMATS, find_format
from app.speech.encoder import StreamEncoder
from app.speech.engine import Samples
from tests.audit.sounds import make_noise
from tests.files import encode_file
from tests.naive import NaiveEncoder
from tests.speech.encoding import LOSSLESS, MakesEncoder, cut, encode

RATE: Final = 24_000
SPOKEN_SECONDS: Final = 34.66
INTERVALS: Final = (2, 4)
REPORTED: Final = [name for name in FORMATS if name not in {"pcm", "raw"}]


@dataclass(frozen=True)
class Row:
    """One line of the table; the delta is in samples at the coded rate."""

    containers: int
    delta_samples: int
    seams: int


@cache
def speak() -> Samples:
    return make_noise(int(SPOKEN_SECONDS * RATE), RATE)


@cache
def measure_unstreamed(name: str) -> int:
    return measure(encode_file(find_format(name), RATE, [speak()]), name)


def measure(body: bytes, name: str) -> int:
    return decode_body(body, name, pcm_rate=RATE, every_coded_sample=True).total_samples


@cache
def make_row(name: str, interval_seconds: int, encoder: MakesEncoder) -> Row:
    pieces = cut(speak(), range(0, speak().size, interval_seconds * RATE)[1:])
    body = encode(pieces, find_format(name), rate=RATE, encoder=encoder)
    return Row(
        containers=count_containers(body, name),
        delta_samples=measure(body, name) - measure_unstreamed(name),
        seams=len(pieces) - 1,
    )


@pytest.mark.parametrize("interval_seconds", INTERVALS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_stream_is_one_container_and_as_long_as_the_file(
    name: str, interval_seconds: int
) -> None:
    row = make_row(name, interval_seconds, StreamEncoder)
    assert row.containers == 1
    assert row.delta_samples == 0
    assert row.seams == {2: 17, 4: 8}[interval_seconds]


@pytest.mark.parametrize("interval_seconds", INTERVALS)
@pytest.mark.parametrize("name", REPORTED)
def test_a_file_per_chunk_is_a_container_per_chunk(name: str, interval_seconds: int) -> None:
    row = make_row(name, interval_seconds, NaiveEncoder)
    assert row.containers == row.seams + 1


@pytest.mark.parametrize("name", [name for name in REPORTED if name not in LOSSLESS])
def test_a_file_per_chunk_grows_with_every_seam_where_the_codec_is_lossy(name: str) -> None:
    rows = [make_row(name, interval_seconds, NaiveEncoder) for interval_seconds in INTERVALS]
    assert rows[0].delta_samples > rows[1].delta_samples > 0


@pytest.mark.parametrize("name", [name for name in REPORTED if name in LOSSLESS])
def test_a_file_per_chunk_is_no_longer_where_the_codec_is_lossless(name: str) -> None:
    assert make_row(name, 4, NaiveEncoder).delta_samples == 0
