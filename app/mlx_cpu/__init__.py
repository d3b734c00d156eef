"""MLX, made fast where it runs on a Linux CPU; the only place of the product that imports it.

An OpenBLAS must be in the process's global namespace before `mlx` is loaded, so every module
writes `from app.mlx_cpu import mx` and none imports `mlx.core` by itself.
"""

from app.mlx_cpu.blas import preload

preload()

import mlx.core as mx  # noqa: E402 - importing it any earlier would bind the reference BLAS

__all__ = ["mx"]
