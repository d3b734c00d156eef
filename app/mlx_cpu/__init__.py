"""MLX, made fast where it runs on a Linux CPU; the only place of the product that imports it.

Importing it is enough: from then on every model of the process, mlx-audio's too, uses the BLAS and
the convolutions that are put in place here.

An OpenBLAS must be in the process's global namespace before `mlx` is loaded, so every module
writes `from app.mlx_cpu import mx` and none imports `mlx.core` by itself.
"""

from app.mlx_cpu.blas import is_wanted, preload
from app.mlx_cpu.memory import keep_freed_memory

preload()
if is_wanted():
    keep_freed_memory()

import mlx.core as mx  # noqa: E402 - importing it any earlier would bind the reference BLAS

__all__ = ["is_linux_cpu", "mx"]


def is_linux_cpu() -> bool:
    """Say whether MLX runs on a Linux CPU by default: no rewrite is meant for anything else."""
    return is_wanted() and mx.default_device().type == mx.cpu


from app.mlx_cpu.conv import install  # noqa: E402 - it needs what is above

install()
