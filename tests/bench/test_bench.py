"""The benchmark measures what it says; how fast anything is, no test asserts."""

from pathlib import Path

import pytest

from app.bench import encoding, run, timing
from app.settings import Settings


def test_two_ways_are_timed_in_turns_and_the_best_of_each_counts() -> None:
    log: list[str] = []
    seconds = {"ours": iter([3.0, 1.0, 2.0, 9.0, 9.0]), "theirs": iter([5.0, 6.0, 4.0, 9.0, 9.0])}

    def take(name: str) -> float:
        log.append(name)
        return next(seconds[name])

    assert timing.time_in_turns(lambda: take("ours"), lambda: take("theirs")) == (1.0, 4.0)
    assert log == ["ours", "theirs"] * 5


def test_a_ratio_is_ours_in_units_of_theirs() -> None:
    assert timing.Ratio("x", 1.0, 4.0).value == 0.25


def test_every_ratio_of_the_readme_is_printed_with_its_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(timing, "ROUNDS", 1)
    monkeypatch.setattr(encoding, "CHUNKS", 5)
    run(Settings(cache_folder=tmp_path))
    lines = capsys.readouterr().out.splitlines()
    for name, bound in (
        ("mp3: a 0.2 s chunk", "0.02"),
        ("its share of one pass", "1.3"),
        ("webm: a 0.2 s chunk", "0.02"),
        ("a long sentence / its duration", "0.167"),
        ("its first sound / onnxruntime", "0.4"),
    ):
        assert any(name in line and line.endswith(f"<= {bound}") for line in lines), name
    assert any("conv_transpose1d" in line for line in lines)
