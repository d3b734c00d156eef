"""The rewritten convolutions beside MLX's own."""

from collections.abc import Callable, Iterator

from app.bench.timing import Ratio, clock, time_in_turns
from app.mlx_cpu import mx
from app.mlx_cpu.conv import conv1d, conv_transpose1d, original_conv1d, original_conv_transpose1d
from app.settings import Settings


def measure_convolutions(_: Settings) -> Iterator[Ratio]:
    """Convolve as a vocoder does: 256 channels, dilated, and upsampling by 8."""
    x = mx.random.normal((1, 256, 256), key=mx.random.key(1))
    taps = mx.random.normal((256, 7, 256), key=mx.random.key(2))
    yield _compare(
        "conv1d, dilation 3: as products / MLX's own",
        lambda: conv1d(x, taps, padding=9, dilation=3),
        lambda: original_conv1d(x, taps, 1, 9, 3),
    )
    wide = mx.random.normal((128, 16, 256), key=mx.random.key(3))
    yield _compare(
        "conv_transpose1d, stride 8: as products / MLX's own",
        lambda: conv_transpose1d(x, wide, stride=8, padding=4),
        lambda: original_conv_transpose1d(x, wide, 8, 4),
    )


def _compare(name: str, ours: Callable[[], mx.array], theirs: Callable[[], mx.array]) -> Ratio:
    measured = time_in_turns(clock(lambda: mx.eval(ours())), clock(lambda: mx.eval(theirs())))
    return Ratio(name, *measured)
