"""What MLX computes on, in words."""

import platform

from app.mlx_cpu import mx


def describe_device() -> str:
    """Name the device that MLX uses by default, for a person to read."""
    kind = "CPU" if mx.default_device().type == mx.cpu else "GPU"
    return f"{kind} ({platform.machine()}, {platform.system()})"
