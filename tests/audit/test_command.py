"""python -m app audit: every seam of a file per chunk is named, and our own streams pass."""

import argparse
import io
import sys

import numpy as np
import pytest

from app.__main__ import main
from app.audit.command import add_arguments
from app.formats import FORMATS, find_format
from tests.audit.auditing import CUTS, RATE, SOUND, Auditor, make_bad, make_good, silence
from tests.audit.sounds import make_noise
from tests.files import encode_file
from tests.speech.encoding import LOSSLESS, cut, encode

WITH_CONTAINER = [name for name in FORMATS if name not in {"pcm", "raw"}]
LOSSY = [name for name in WITH_CONTAINER if name not in LOSSLESS]
EVERY = pytest.mark.parametrize("name", FORMATS)


@EVERY
def test_our_stream_is_gapless_by_itself_and_against_what_was_made(
    auditor: Auditor, name: str
) -> None:
    alone = auditor.judge(make_good(name), "--format", name)
    compared = auditor.judge(make_good(name), "--format", name, against=SOUND)
    assert (alone.status, alone.verdict) == (0, "GAPLESS: one container.")
    assert compared.status == 0
    assert compared.verdict == "GAPLESS: one container, nothing inserted, nothing lost."
    assert compared.out.count("heard: yes") == 2


@pytest.mark.parametrize("name", WITH_CONTAINER)
def test_a_file_per_chunk_shows_each_seam_without_a_reference(auditor: Auditor, name: str) -> None:
    audit = auditor.judge(make_bad(name), "--json")
    found = audit.document
    files = [encode_file(find_format(name), RATE, [piece]) for piece in cut(SOUND, CUTS)]
    assert audit.status == 1
    assert found["containers"] == 3
    assert [row["size_bytes"] for row in found["segments"]] == [len(file) for file in files]
    assert [row["start_byte"] for row in found["segments"]] == [
        0,
        len(files[0]),
        len(files[0]) + len(files[1]),
    ]
    assert sum(row["samples"] for row in found["segments"]) == found["samples"]
    assert found["seconds"] == pytest.approx(found["samples"] / found["sample_rate"])


@pytest.mark.parametrize("name", LOSSY)
def test_each_seam_of_a_lossy_file_per_chunk_has_its_place_and_size(
    auditor: Auditor, name: str
) -> None:
    audit = auditor.judge(make_bad(name), "--json", against=SOUND)
    found = audit.document
    breaks, rows = found["comparison"]["first_breaks"], found["segments"]
    assert audit.status == 1
    assert [one["seam"] for one in breaks] == [1, 2]
    made = [CUTS[0] / RATE, (CUTS[1] - CUTS[0]) / RATE]
    for one, row, place, length in zip(breaks, rows, CUTS, made, strict=False):
        assert one["at_seconds"] == pytest.approx(row["begins_seconds"] + row["seconds"], abs=1e-3)
        assert one["made_seconds"] == pytest.approx(place / RATE, abs=1e-3)
        assert one["size_seconds"] == pytest.approx(row["seconds"] - length, abs=0.2e-3)


@pytest.mark.parametrize("name", sorted(set(WITH_CONTAINER) - set(LOSSY)))
def test_a_seam_that_inserts_nothing_is_a_seam_all_the_same(auditor: Auditor, name: str) -> None:
    audit = auditor.judge(make_bad(name), "--json", against=SOUND)
    assert audit.status == 1
    assert audit.document["comparison"]["breaks"] == 0
    begins = [row["begins_seconds"] for row in audit.document["segments"]]
    assert begins == pytest.approx([0, CUTS[0] / RATE, CUTS[1] / RATE], abs=1e-3)


def test_the_table_names_the_seams_and_the_verdict_comes_last(auditor: Auditor) -> None:
    audit = auditor.judge(make_bad("mp3"), against=SOUND)
    assert "the seam after container 1" in audit.out
    assert "the seam after container 2" in audit.out
    assert audit.verdict.startswith("NOT GAPLESS: 3 containers where one belongs;")


def test_of_many_containers_the_first_ten_and_the_last_are_listed(auditor: Auditor) -> None:
    file = encode_file(find_format("flac"), RATE, [SOUND[:1_000]])
    lines = auditor.judge(file * 25).out.splitlines()
    numbers = [line.split()[0] for line in lines if line[:5].strip().isdigit()]
    assert numbers == [*map(str, range(1, 11)), "25"]
    assert any("14 more" in line for line in lines)


def test_hidden_samples_are_what_a_plain_player_skips(auditor: Auditor) -> None:
    (row,) = auditor.judge(encode_file(find_format("mp3"), RATE, [SOUND]), "--json").document[
        "segments"
    ]
    assert row["samples"] - row["hidden_samples"] == SOUND.size


@pytest.mark.parametrize("name", ["mp3", "aac", "flac", "ogg", "webm", "mp4-flac"])
def test_a_torn_end_is_not_gapless_and_is_said(auditor: Auditor, name: str) -> None:
    body = make_good(name)
    audit = auditor.judge(body[: -len(body) // 5])
    assert audit.status == 1
    assert "torn" in audit.verdict or "decoded" in audit.verdict


def test_an_ogg_without_its_last_page_is_torn(auditor: Auditor) -> None:
    body = make_good("ogg")
    assert "torn" in auditor.judge(body[: body.rindex(b"OggS")]).verdict


def test_a_wav_that_promises_more_than_it_holds_is_torn(auditor: Auditor) -> None:
    body = encode_file(find_format("wav"), RATE, [SOUND])
    assert auditor.judge(body).status == 0
    assert "torn" in auditor.judge(body[:-1_000]).verdict


def test_bytes_between_frames_are_told(auditor: Auditor) -> None:
    body = make_good("mp3")
    frame = 192
    audit = auditor.judge(body[: 50 * frame] + b"xyz" * 7 + body[50 * frame :])
    assert audit.status == 1
    assert "21 bytes" in audit.verdict


@pytest.mark.parametrize("lost", [1, 2, 72])
@pytest.mark.parametrize("name", ["wav", "mp3"])
def test_a_click_of_a_few_lost_samples_is_found(auditor: Auditor, name: str, lost: int) -> None:
    heard = np.delete(SOUND, np.s_[50_000 : 50_000 + lost])
    audit = auditor.judge(encode([heard], find_format(name), rate=RATE), "--json", against=SOUND)
    (one,) = audit.document["comparison"]["first_breaks"]
    assert audit.status == 1
    assert one["size_seconds"] == pytest.approx(-lost / RATE, abs=0.3 / RATE)
    assert one["made_seconds"] == pytest.approx(50_000 / RATE, abs=1e-3)
    assert one["seam"] is None


def test_a_hole_that_moves_nothing_is_a_dip(auditor: Auditor) -> None:
    heard = SOUND.copy()
    heard[50_000:50_096] = 0
    audit = auditor.judge(encode([heard], find_format("mp3"), rate=RATE), against=SOUND)
    assert (audit.status, audit.verdict) == (1, "NOT GAPLESS: 1 dip.")


def test_a_burst_is_a_click(auditor: Auditor) -> None:
    made = SOUND * np.float32(0.3)
    heard = made.copy()
    heard[50_000:50_004] = 1
    audit = auditor.judge(encode([heard], find_format("wav"), rate=RATE), against=made)
    assert (audit.status, audit.verdict) == (1, "NOT GAPLESS: 1 click.")


def test_a_pause_is_told_and_is_no_fault(auditor: Auditor) -> None:
    heard = np.concatenate((SOUND[:RATE], silence(0.5), SOUND[RATE:]))
    audit = auditor.judge(encode([heard], find_format("flac"), rate=RATE), "--json")
    (pause,) = audit.document["silences"]["first"]
    assert audit.status == 0
    assert pause["start_seconds"] == pytest.approx(1.0, abs=1e-3)
    assert pause["length_seconds"] == pytest.approx(0.5, abs=1e-3)
    assert not pause["at_seam"]


def test_silence_at_a_seam_is_told_apart(auditor: Auditor) -> None:
    file = encode_file(find_format("wav"), RATE, [np.concatenate((SOUND[:RATE], silence(0.2)))])
    assert auditor.judge(file * 2, "--json").document["silences"]["first"][0]["at_seam"]


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (SOUND[RATE // 2 :], "first 500.0 ms are not heard"),
        (SOUND[: -RATE // 2], "last 500.0 ms are not heard"),
        (make_noise(4 * RATE, RATE, seed=9), "the reference is not heard in it"),
    ],
    ids=["start", "end", "other"],
)
def test_sound_that_is_never_heard_is_said(
    auditor: Auditor, heard: np.ndarray[tuple[int], np.dtype[np.float32]], said: str
) -> None:
    audit = auditor.judge(encode([heard], find_format("flac"), rate=RATE), against=SOUND)
    assert audit.status == 1
    assert said in audit.verdict


def test_a_reference_at_another_rate_is_resampled(auditor: Auditor) -> None:
    body = encode([SOUND], find_format("webm"), rate=RATE)
    reference = auditor.write(encode_file(find_format("flac"), 48_000, [SOUND]), "slow.flac")
    # The same numbers at twice the rate are another sound; as WebM they come back as this one.
    assert auditor.run(auditor.write(body), "--against", reference).status == 1
    reference = auditor.write(body, "reference.webm")
    assert auditor.run(auditor.write(make_good("mp3")), "--against", reference).status == 0


def test_standard_input_is_read(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(make_bad("webm"))))
    assert auditor.run("-").status == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "no byte"),
        (b'{"error": {"message": "no such voice"}}', "no such voice"),
        (b"<html>\n<body>Bad gateway", "<html>"),
        (bytes(range(256)) * 40, "no known audio"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "no readable wav"),
    ],
    ids=["empty", "json", "html", "binary", "header"],
)
def test_what_is_no_audio_is_told_in_one_line(auditor: Auditor, body: bytes, said: str) -> None:
    audit = auditor.judge(body)
    assert audit.status == 2
    assert said in audit.err
    assert (audit.out, audit.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("body", [b"", b"text", bytes(1_000)])
def test_a_reference_that_is_no_audio_is_told_in_one_line(auditor: Auditor, body: bytes) -> None:
    reference = auditor.write(body, "reference.wav")
    audit = auditor.run(auditor.write(make_good("mp3")), "--against", reference)
    assert (audit.status, audit.err.count("\n")) == (2, 1)


def test_a_silent_reference_says_nothing(auditor: Auditor) -> None:
    audit = auditor.judge(make_good("mp3"), against=silence(2.0))
    assert (audit.status, "no sound in the reference" in audit.err) == (2, True)


@pytest.mark.parametrize("words", [["none.mp3"], ["ftp://h/a.mp3"], ["file:///etc/hostname"]])
def test_what_cannot_be_opened_is_told_in_one_line(auditor: Auditor, words: list[str]) -> None:
    audit = auditor.run(*words)
    assert (audit.status, audit.err.count("\n")) == (2, 1)


def test_the_commands_status_is_the_programs(auditor: Auditor) -> None:
    assert main(["audit", auditor.write(make_good("mp3"))]) == 0
    assert main(["audit", auditor.write(make_bad("mp3"))]) == 1
    assert main(["audit", auditor.write(b"")]) == 2


def test_help_says_what_each_status_means() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    said = parser.format_help()
    assert all(word in said for word in ("0 for one gapless", "1 when it is not", "2 when"))


@pytest.mark.parametrize(
    "words", [["--rate", "0"], ["--timeout", "-1"], ["--timeout", "inf"], ["--header", "nothing"]]
)
def test_an_option_out_of_bounds_is_refused(auditor: Auditor, words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        auditor.run("body", *words)
    assert refused.value.code == 2
