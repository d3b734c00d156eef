"""The fast BLAS is there before MLX is, and nothing is done where MLX needs none."""

import ctypes
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import app
from app.mlx_cpu import blas, memory

FOLDER = Path(app.__file__).parent


def run(program: str, **environment: str) -> str:
    """Run `program` in a fresh interpreter, since a process loads MLX only once."""
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return result.stdout.strip()


def test_importing_mx_from_here_puts_openblas_in_place_first() -> None:
    program = (
        "import sys, ctypes\n"
        "from app.mlx_cpu import mx\n"
        "print(hasattr(ctypes.CDLL(None), 'openblas_get_num_threads'))\n"
        "print(float((mx.ones((8, 8)) @ mx.ones((8, 8))).sum()))\n"
    )
    assert run(program).split() == ["True", "512.0"]


def test_nothing_is_done_once_mlx_is_loaded() -> None:
    program = (
        "import mlx.core, ctypes\n"
        "from app.mlx_cpu.blas import preload\n"
        "print(preload(), hasattr(ctypes.CDLL(None), 'openblas_get_num_threads'))\n"
    )
    assert run(program) == "False False"


def test_the_operator_may_choose_the_threads() -> None:
    program = "import app.mlx_cpu, ctypes\nprint(ctypes.CDLL(None).openblas_get_num_threads())\n"
    assert run(program, OPENBLAS_NUM_THREADS="2") == str(min(2, os.cpu_count() or 1))


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 2), (4, 3), (8, 4), (64, 4)])
def test_a_core_is_left_to_the_rest(
    cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert blas.choose_thread_count() == threads


def pretend_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "is_wanted", lambda: True)
    monkeypatch.delitem(sys.modules, "mlx.core", raising=False)


def test_a_library_that_does_not_load_is_one_warning_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError("libgfortran.so.5: cannot open shared object file")

    pretend_fresh(monkeypatch)
    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert blas.preload() is False
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    message = record.getMessage()
    assert "libgfortran5" in message
    assert "libgfortran.so.5" in message
    assert "\n" not in message


def test_a_missing_package_is_the_same_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pretend_fresh(monkeypatch)
    monkeypatch.setattr(blas, "PACKAGE", "no-such-package")
    assert blas.preload() is False
    (record,) = caplog.records
    assert "no-such-package is not installed" in record.getMessage()


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_nothing_is_done_off_linux(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert blas.is_wanted.__wrapped__() is False


def test_nothing_is_done_for_a_cuda_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "CUDA_PACKAGES", ("numpy",))
    assert blas.is_wanted.__wrapped__() is False


def test_a_c_library_without_mallopt_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert memory.keep_freed_memory() is False
