"""Keeps freed memory in the process, for MLX on a Linux CPU.

MLX has no cache of buffers on a CPU: each operation allocates its result. glibc takes a large one
from the kernel and gives it back right after, so that every page is faulted in again and again,
which is a quarter of the decoder's time.
"""

import ctypes
from typing import Final

TRIM_THRESHOLD: Final = -1
MMAP_THRESHOLD: Final = -3
"""Parameters of glibc's mallopt, from its malloc.h."""

MOST_KEPT_BYTES: Final = 256 << 20
LARGEST_KEPT_BYTES: Final = 32 << 20
"""How much freed memory stays, and the largest block that may (glibc allows no more)."""


def keep_freed_memory() -> bool:
    """Tell glibc to keep freed blocks for the next operation; say whether it took it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(
        mallopt(MMAP_THRESHOLD, LARGEST_KEPT_BYTES) and mallopt(TRIM_THRESHOLD, MOST_KEPT_BYTES)
    )
