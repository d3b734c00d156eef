"""The rewrites against MLX's own convolutions, over random shapes."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.mlx_cpu import conv, mx

SIZES = st.integers(1, 9)


def draw_pair(seed: int, shape: tuple[int, ...], taps: int, outputs: int) -> list[mx.array]:
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape)
    weight = generator.standard_normal((outputs, taps, shape[-1]))
    return [mx.array(array.astype(np.float32)) for array in (x, weight)]


def assert_same(actual: mx.array, expected: mx.array) -> None:
    assert actual.shape == expected.shape
    scale = max(float(mx.abs(expected).max()), 1e-3)
    assert float(mx.abs(actual - expected).max()) <= 1e-4 * scale


@settings(max_examples=80, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 40), SIZES),
    taps=SIZES,
    outputs=SIZES,
    stride=st.integers(1, 4),
    padding=st.integers(0, 12),
    dilation=st.integers(2, 6),
    seed=st.integers(0, 99),
)
def test_dilated_convolution_equals_mlx_own(  # noqa: PLR0913, PLR0917 - every parameter of the operation
    shape: tuple[int, int, int],
    taps: int,
    outputs: int,
    stride: int,
    padding: int,
    dilation: int,
    seed: int,
) -> None:
    assume(shape[1] + 2 * padding > dilation * (taps - 1))
    x, weight = draw_pair(seed, shape, taps, outputs)
    arguments = (stride, padding, dilation)
    assert_same(conv.conv1d(x, weight, *arguments), conv.original_conv1d(x, weight, *arguments))


@settings(max_examples=80, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 20), SIZES),
    taps=SIZES,
    outputs=SIZES,
    stride=st.integers(1, 8),
    padding=st.integers(0, 4),
    dilation=st.integers(1, 4),
    extra=st.integers(0, 7),
    seed=st.integers(0, 99),
)
def test_transposed_convolution_equals_mlx_own(  # noqa: PLR0913, PLR0917 - every parameter of the operation
    shape: tuple[int, int, int],
    taps: int,
    outputs: int,
    stride: int,
    padding: int,
    dilation: int,
    extra: int,
    seed: int,
) -> None:
    assume(extra < stride)
    length = (shape[1] - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + extra
    assume(length > 0 and padding <= dilation * (taps - 1))
    x, weight = draw_pair(seed, shape, taps, outputs)
    arguments = (stride, padding, dilation, extra)
    expected = conv.original_conv_transpose1d(x, weight, *arguments)
    assert_same(conv.conv_transpose1d(x, weight, *arguments), expected)
