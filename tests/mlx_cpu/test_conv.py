"""The rewrites against MLX's own convolutions, over random shapes."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.mlx_cpu import conv, is_linux_cpu, mx

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


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_half_precision_stays_and_is_summed_in_single(dtype: mx.Dtype) -> None:
    x, weight = (array.astype(dtype) for array in draw_pair(1, (1, 50, 8), 5, 8))
    single = [array.astype(mx.float32) for array in (x, weight)]
    for ours, original in (
        (conv.conv1d(x, weight, 1, 2, 3), conv.original_conv1d(*single, 1, 2, 3)),
        (conv.conv_transpose1d(x, weight, 4), conv.original_conv_transpose1d(*single, 4)),
    ):
        assert ours.dtype == dtype
        assert_same(ours.astype(mx.float32), original.astype(dtype).astype(mx.float32))


def test_grouped_ones_are_left_to_mlx() -> None:
    x, weight = draw_pair(2, (2, 20, 6), 3, 6)
    part = weight[:, :, :3]
    assert_same(conv.conv1d(x, part, 1, 2, 2, 2), conv.original_conv1d(x, part, 1, 2, 2, 2))
    assert_same(
        conv.conv_transpose1d(x, part, 2, groups=2),
        conv.original_conv_transpose1d(x, part, 2, groups=2),
    )


def test_mistakes_are_mlx_own_errors() -> None:
    x, weight = draw_pair(3, (1, 20, 6), 3, 6)
    for operation in (conv.conv1d, conv.conv_transpose1d):
        with pytest.raises(ValueError, match="conv"):
            operation(x, weight[:, :, :4], 1, 0, 2)


def test_importing_is_enough_on_a_linux_cpu() -> None:
    assert (mx.conv1d is conv.conv1d) == is_linux_cpu()
    assert (mx.conv_transpose1d is conv.conv_transpose1d) == is_linux_cpu()


@pytest.fixture
def untouched() -> Iterator[None]:
    mx.conv1d, mx.conv_transpose1d = conv.original_conv1d, conv.original_conv_transpose1d
    yield
    conv.install()


@pytest.mark.usefixtures("untouched")
def test_installing_reaches_the_layers_of_mlx_nn_and_twice_is_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mlx.nn.layers.convolution import Conv1d  # noqa: PLC0415 - MLX must not be loaded before its BLAS

    monkeypatch.setattr(conv, "is_linux_cpu", lambda: True)
    assert conv.install()
    assert conv.install()
    assert mx.conv1d is conv.conv1d
    assert conv.original_conv1d is not conv.conv1d
    layer = Conv1d(4, 4, 3, dilation=2)
    expected = conv.original_conv1d(mx.ones((1, 9, 4)), layer.weight, dilation=2) + layer.bias
    monkeypatch.setattr(conv, "sum_taps", lambda *_, **__: mx.array(0.0))
    assert float(mx.abs(layer(mx.ones((1, 9, 4))) - layer.bias).max()) == 0
    monkeypatch.undo()
    assert_same(layer(mx.ones((1, 9, 4))), expected)


@pytest.mark.usefixtures("untouched")
def test_nothing_is_installed_on_any_other_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv, "is_linux_cpu", lambda: False)
    assert not conv.install()
    assert mx.conv1d is conv.original_conv1d
    assert mx.conv_transpose1d is conv.original_conv_transpose1d
