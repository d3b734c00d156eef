"""The approximations against the C library, and MLX's own on other devices."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.mlx_cpu import elementwise, mx

NUMBERS = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=50)


@given(NUMBERS)
def test_tanh_is_exact_to_single_precision(numbers: list[float]) -> None:
    expected = [math.tanh(number) for number in numbers]
    assert np.array(elementwise.tanh(mx.array(numbers))) == pytest.approx(expected, abs=4e-7)


@given(NUMBERS)
def test_erf_is_exact_to_single_precision(numbers: list[float]) -> None:
    expected = [math.erf(number) for number in numbers]
    assert np.array(elementwise.erf(mx.array(numbers))) == pytest.approx(expected, abs=5e-7)


@given(NUMBERS)
def test_gelu_is_the_exact_form(numbers: list[float]) -> None:
    expected = [number / 2 * (1 + math.erf(number / math.sqrt(2))) for number in numbers]
    actual = np.array(elementwise.gelu(mx.array(numbers)))
    assert actual == pytest.approx(expected, rel=1e-6, abs=2e-6)


@given(st.lists(st.floats(-200, 200, width=32), min_size=4, max_size=4))
def test_softmax_sums_to_one_and_equals_mlx_own(numbers: list[float]) -> None:
    x = mx.array(numbers).reshape(2, 2)
    shares = np.array(elementwise.softmax(x))
    assert shares.sum(axis=1) == pytest.approx([1, 1], abs=1e-6)
    assert shares == pytest.approx(np.array(mx.softmax(x, axis=-1)), abs=1e-6)


@pytest.mark.parametrize("name", ["tanh", "erf", "softmax"])
def test_other_devices_use_mlx_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = mx.array([[0.1, 2.0, -3.0]])
    monkeypatch.setattr(elementwise, "is_linux_cpu", lambda: False)
    expected = getattr(mx, name)(x, **({"axis": -1} if name == "softmax" else {}))
    assert np.array_equal(np.array(getattr(elementwise, name)(x)), np.array(expected))
