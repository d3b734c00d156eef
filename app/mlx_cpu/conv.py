"""Dilated and transposed 1-d convolutions as matrix products, for MLX on a Linux CPU.

MLX's CPU backend has a fast path for plain convolutions only; these two take a scalar loop that is
about 100 times slower. Both are sums of products over shifted rows, which is exact: slices of rows
are contiguous, so nothing is gathered and dilation costs nothing.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from app.mlx_cpu import is_linux_cpu, mx

FLOAT_TYPES: Final = (mx.float32, mx.float16, mx.bfloat16)

Target: TypeAlias = mx.Stream | mx.ThreadLocalStream | mx.Device | mx.DeviceType
"""Where an operation runs, as MLX lets a caller say."""

original_conv1d: Final[Callable[..., mx.array]] = mx.conv1d
original_conv_transpose1d: Final[Callable[..., mx.array]] = mx.conv_transpose1d


def conv1d(  # noqa: PLR0913, PLR0917 - mx.conv1d's own signature
    x: mx.array,
    weight: mx.array,
    /,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    *,
    stream: Target | None = None,
) -> mx.array:
    """Convolve `x` (batch, length, channels) with `weight` (out, taps, channels), as MLX does.

    What MLX does fast by itself, and grouped convolutions, are left to it, and so are its errors.
    """
    if dilation == 1 or groups != 1 or stream is not None or not _is_rewritable(x, weight):
        return original_conv1d(x, weight, stride, padding, dilation, groups, stream=stream)
    padded = mx.pad(x, [(0, 0), (padding, padding), (0, 0)])
    if padded.shape[1] <= dilation * (weight.shape[1] - 1):
        return original_conv1d(x, weight, stride, padding, dilation, groups)
    return sum_taps(padded, weight, stride=stride, dilation=dilation)


def conv_transpose1d(  # noqa: PLR0913, PLR0917 - mx.conv_transpose1d's own signature
    x: mx.array,
    weight: mx.array,
    /,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    output_padding: int = 0,
    groups: int = 1,
    *,
    stream: Target | None = None,
) -> mx.array:
    """Transposed convolution of `x` (batch, length, channels) with `weight` (out, taps, channels).

    Grouped ones are left to MLX, and so are its errors.
    """
    if groups != 1 or stream is not None or not _is_rewritable(x, weight):
        return original_conv_transpose1d(
            x, weight, stride, padding, dilation, output_padding, groups, stream=stream
        )
    whole = overlap_add(x, spread_taps(weight, dilation), stride=stride)
    reach = dilation * (weight.shape[1] - 1) + 1
    end = (x.shape[1] - 1) * stride + reach - padding + output_padding
    missing = max(0, end - whole.shape[1])
    return mx.pad(whole, [(0, 0), (0, missing), (0, 0)])[:, padding:end]


def sum_taps(x: mx.array, weight: mx.array, *, stride: int, dilation: int) -> mx.array:
    """Convolve without padding: one product per tap over the rows that it meets, summed."""
    span = x.shape[1] - dilation * (weight.shape[1] - 1)
    rows, taps = x.astype(mx.float32), weight.astype(mx.float32)
    y = rows[:, :span:stride] @ taps[:, 0].T
    for tap in range(1, weight.shape[1]):
        start = tap * dilation
        y = mx.addmm(y, rows[:, start : start + span : stride], taps[:, tap].T)
    return y.astype(x.dtype)


def overlap_add(x: mx.array, weight: mx.array, *, stride: int) -> mx.array:
    """Upsample `x` by `stride` without cropping; the result is a multiple of `stride` rows long.

    The `stride` rows that one input row starts are the channels of one row of a plain convolution
    whose taps are the ceil(taps / stride) inputs that overlap there.
    """
    outputs, taps, inputs = weight.shape
    pieces = -(-taps // stride)
    padded = mx.pad(weight, [(0, 0), (0, pieces * stride - taps), (0, 0)])
    kernel = padded.reshape(outputs, pieces, stride, inputs)[:, ::-1]
    kernel = kernel.transpose(2, 0, 1, 3).reshape(stride * outputs, pieces, inputs)
    edged = mx.pad(x, [(0, 0), (pieces - 1, pieces - 1), (0, 0)])
    y = sum_taps(edged, kernel, stride=1, dilation=1)
    return y.reshape(x.shape[0], -1, outputs)


def spread_taps(weight: mx.array, dilation: int) -> mx.array:
    """Put `dilation` - 1 zeros between the taps of `weight` (out, taps, channels)."""
    if dilation == 1:
        return weight
    outputs, taps, inputs = weight.shape
    spaced = mx.pad(weight[:, :, None], [(0, 0), (0, 0), (0, dilation - 1), (0, 0)])
    return spaced.reshape(outputs, taps * dilation, inputs)[:, : dilation * (taps - 1) + 1]


def install() -> bool:
    """Put both forms in MLX's place on a Linux CPU, for every model; say whether they are there.

    Nothing happens on any other device, where MLX's own are the fast ones.
    """
    if not is_linux_cpu():
        return False
    mx.conv1d, mx.conv_transpose1d = conv1d, conv_transpose1d
    return True


def _is_rewritable(x: mx.array, weight: mx.array) -> bool:
    return (
        x.ndim == weight.ndim == 3
        and x.shape[2] == weight.shape[2]
        and x.dtype == weight.dtype
        and x.dtype in FLOAT_TYPES
    )
