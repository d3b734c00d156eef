"""Activation functions without transcendental loops, for MLX on a Linux CPU.

There, MLX computes exp, tanh and erf one number at a time (11 to 25 ns each), but adds and
multiplies in vectors: rational approximations that are exact to float32 are several times faster,
and so is numpy's exp. On any other device all of these are MLX's own.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from app.mlx_cpu import is_linux_cpu, mx

TANH_BOUND: Final = 7.90531110763549805
"""Beyond it tanh rounds to 1 in float32. Source: Eigen's generic_fast_tanh_float, as the rest."""
TANH_ODD: Final = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
TANH_EVEN: Final = (
    1.19825839466702e-06,
    1.18534705686654e-04,
    2.26843463243900e-03,
    4.89352518554385e-03,
)

ERF_BOUND: Final = 4.0
"""Beyond it erf rounds to 1 in float32. Source: Eigen's generic_fast_erf_float, as the rest."""
ERF_ODD: Final = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
ERF_EVEN: Final = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)


def tanh(x: mx.array) -> mx.array:
    """Return tanh of each element, to 4e-7."""
    if not is_linux_cpu():
        return mx.tanh(x)
    return _odd_ratio(mx.clip(x, -TANH_BOUND, TANH_BOUND), TANH_ODD, TANH_EVEN)


def erf(x: mx.array) -> mx.array:
    """Return the error function of each element, to 5e-7."""
    if not is_linux_cpu():
        return mx.erf(x)
    return _odd_ratio(mx.clip(x, -ERF_BOUND, ERF_BOUND), ERF_ODD, ERF_EVEN)


def gelu(x: mx.array) -> mx.array:
    """Return x/2 (1 + erf(x / sqrt 2)) of each element, the exact form that PyTorch calls gelu."""
    half = x * 0.5
    return half + half * erf(x * 0.7071067811865476)


def softmax(x: mx.array) -> mx.array:
    """Return the softmax of `x` over its last axis; evaluates `x` on a Linux CPU."""
    if not is_linux_cpu():
        return mx.softmax(x, axis=-1)
    values = np.asarray(x)
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return mx.array(shares)


def _odd_ratio(x: mx.array, above: Sequence[float], below: Sequence[float]) -> mx.array:
    """Evaluate an odd rational function: `x` times a ratio of two polynomials in its square."""
    square = x * x
    return x * (_polynomial(square, above) / _polynomial(square, below))


def _polynomial(x: mx.array, coefficients: Sequence[float]) -> mx.array:
    """Evaluate by Horner's rule, the highest power's coefficient first."""
    y = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        y = y * x + coefficient
    return y
