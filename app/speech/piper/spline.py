"""The inverse of a monotonic rational-quadratic spline (Durkan et al. 2019, "Neural Spline Flows").

Constants as in VITS: bins at least 1e-3 wide and high, slopes at least 1e-3, and the identity
outside [-5, 5].
"""

from typing import Final

from app.mlx_cpu import mx

TAIL: Final = 5.0
SMALLEST: Final = 1e-3


def invert_spline(
    y: mx.array, *, widths: mx.array, heights: mx.array, slopes: mx.array
) -> mx.array:
    """Return the x whose spline value is `y` (n,).

    `widths` and `heights` (n, bins) and `slopes` (n, bins - 1) are as the network gives them,
    before softmax and softplus.
    """
    left, right = _pick_edges(widths), _pick_edges(heights)
    slope = mx.pad(
        SMALLEST + mx.logaddexp(slopes, mx.array(0.0)), [(0, 0), (1, 1)], constant_values=1.0
    )
    bins = heights.shape[1]
    clamped = mx.clip(y, -TAIL, TAIL)[:, None]
    number = mx.clip((clamped >= right).sum(axis=1, keepdims=True) - 1, 0, bins - 1)
    x = _invert_bin(clamped, number, left, right, slope)
    return mx.where(mx.abs(y) <= TAIL, x[:, 0], y)


def _pick_edges(raw: mx.array) -> mx.array:
    """Turn raw bin sizes (n, bins) into the bins' edges (n, bins + 1) from -TAIL to TAIL."""
    bins = raw.shape[1]
    sizes = SMALLEST + (1 - SMALLEST * bins) * mx.softmax(raw, axis=1)
    inner = mx.cumsum(sizes, axis=1)[:, :-1] * (2 * TAIL) - TAIL
    rows = (raw.shape[0], 1)
    return mx.concatenate([mx.full(rows, -TAIL), inner, mx.full(rows, TAIL)], axis=1)


def _invert_bin(
    y: mx.array, number: mx.array, xs: mx.array, ys: mx.array, slope: mx.array
) -> mx.array:
    """Solve the quadratic of bin `number` for its x; everything is (n, 1) or (n, bins + 1)."""

    def pick(edges: mx.array, offset: int) -> mx.array:
        return mx.take_along_axis(edges, number + offset, axis=1)

    x0, y0 = pick(xs, 0), pick(ys, 0)
    width, height = pick(xs, 1) - x0, pick(ys, 1) - y0
    delta, first, second = height / width, pick(slope, 0), pick(slope, 1)
    bend, rise = first + second - 2 * delta, y - y0
    a = rise * bend + height * (delta - first)
    b = height * first - rise * bend
    c = -delta * rise
    root = 2 * c / (-b - mx.sqrt(b * b - 4 * a * c))
    return root * width + x0
