"""Gives MLX's Linux CPU build a fast BLAS.

The wheel of `mlx[cpu]` is linked to the reference BLAS, about 50 times slower than OpenBLAS at a
1024 x 1024 product. A library with plain `cblas_*` symbols that is already in the global namespace
when MLX is loaded is bound instead of it.
"""

import ctypes
import logging
import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, files
from pathlib import Path
from typing import Final

PACKAGE: Final = "cmeel-openblas"
LIBRARY: Final = "libopenblas.so"
CUDA_PACKAGES: Final = ("mlx-cuda", "mlx-cuda-12", "mlx-cuda-13")
MOST_THREADS: Final = 4
"""The products of speech models are small: more threads than these only spin and wait."""
SPARE_CORES: Final = 1
"""OpenBLAS's threads wait for each other by spinning. Where they share their cores with the encoder
and the server, everything gets 5 to 10 times slower; one thread less costs a third at most."""

_logger: Final = logging.getLogger(__name__)


def preload() -> bool:
    """Load OpenBLAS for MLX to bind, and say whether that was done.

    Nothing is done where `is_wanted` says no, or when MLX is loaded already. Failing is no error,
    only slow: one warning names the cure.
    """
    if not is_wanted() or "mlx.core" in sys.modules:
        return False
    try:
        library = ctypes.CDLL(str(find_library()), ctypes.RTLD_GLOBAL)
        if "OPENBLAS_NUM_THREADS" not in os.environ:
            library.openblas_set_num_threads(choose_thread_count())
    except (OSError, AttributeError) as error:
        _logger.warning(
            "MLX will be about 50 times slower than it could be, since OpenBLAS cannot be loaded"
            " (%s): install the Python package %s and the system package libgfortran5.",
            error,
            PACKAGE,
        )
        return False
    return True


def find_library() -> Path:
    """Return where the OpenBLAS of the Python package lies; OSError if it is not installed."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError as error:
        raise FileNotFoundError(f"{PACKAGE} is not installed") from error
    for file in listed:
        if file.name == LIBRARY:
            return Path(str(file.locate()))
    raise FileNotFoundError(f"{PACKAGE} holds no {LIBRARY}")


@cache
def is_wanted() -> bool:
    """Say whether MLX will run on a Linux CPU: it is installed there without its CUDA backend."""
    return sys.platform == "linux" and not any(map(_is_installed, CUDA_PACKAGES))


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def choose_thread_count() -> int:
    """Return how many threads OpenBLAS should use: all cores of this process but one, 1 to 4."""
    return max(1, min(len(os.sched_getaffinity(0)) - SPARE_CORES, MOST_THREADS))
