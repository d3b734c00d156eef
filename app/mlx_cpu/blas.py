"""Gives MLX's Linux CPU build a fast BLAS.

The wheel of `mlx[cpu]` is linked to the reference BLAS, about 50 times slower than OpenBLAS at a
1024 x 1024 product. A library with plain `cblas_*` symbols that is already in the global namespace
when MLX is loaded is bound instead of it.
"""

import ctypes
import logging
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution, files
from pathlib import Path
from typing import Final

PACKAGE: Final = "cmeel-openblas"
LIBRARY: Final = "libopenblas.so"
MOST_THREADS: Final = 4
"""The products of speech models are small: more threads than these only spin and wait."""

_logger: Final = logging.getLogger(__name__)


def preload() -> bool:
    """Load OpenBLAS for MLX to bind, and say whether that was done.

    Nothing is done off Linux, for a CUDA build of MLX, or when MLX is loaded already. Failing is
    no error, only slow: one warning names the cure.
    """
    if sys.platform != "linux" or "mlx.core" in sys.modules or has_cuda_build():
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


def has_cuda_build() -> bool:
    """Say whether MLX is installed with its CUDA backend, which needs no BLAS."""
    for package in ("mlx-cuda", "mlx-cuda-12", "mlx-cuda-13"):
        try:
            distribution(package)
        except PackageNotFoundError:
            continue
        return True
    return False


def choose_thread_count() -> int:
    """Return how many threads OpenBLAS should use: the cores this process may run on, up to 4."""
    return min(len(os.sched_getaffinity(0)), MOST_THREADS)
