"""Pooling over one, two or three trailing axes, and what convolutions share with it.

The input is (batch, channels, axes…), or without the batch axis. Windows are a view of it (see MovementOps.windows), and a
pooling reduces each. Parameters are those of PyTorch's functions: a number stands for one an axis.
"""
from __future__ import annotations

import math
from typing import Self, Sequence

from uopd import _dtype
from uopd._build import broadcast_to, cast, full, reshape
from uopd._dtype import float_dtype
from uopd._graph import Shape, UOp, node
from uopd._linalg import LinalgOps
from uopd._views import pad, shrink, windows_of

#: One number for all axes, or one an axis.
PerAxis = int | Sequence[int]


class PoolOps(LinalgOps):
    """The poolings among Tensor's methods."""

    __slots__ = ()

    def max_pool1d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """(N,C,L) -> (N,C,L'): the greatest element of each window, NaN if one is. ``stride``: by default the windows do
        not overlap. Elements beyond the border (at most half a window) count as the least value. ``ceil_mode``: also a
        last window that the input does not fill."""
        return self._max_pool(1, kernel, stride, padding, dilation, ceil_mode)

    def max_pool2d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """Over the last two axes: see max_pool1d."""
        return self._max_pool(2, kernel, stride, padding, dilation, ceil_mode)

    def max_pool3d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
    ) -> Self:
        """Over the last three axes: see max_pool1d."""
        return self._max_pool(3, kernel, stride, padding, dilation, ceil_mode)

    def _max_pool(
        self, rank: int, kernel: PerAxis, stride: PerAxis | None, padding: PerAxis, dilation: PerAxis, ceil_mode: bool
    ) -> Self:
        what = f"max_pool{rank}d"
        x = batched(self.node, rank, what)
        pool = _Pool(what, x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
        u = padded(x, pool.borders)
        if u is not x:
            inside = padded(full(True, x.shape, _dtype.bool_), pool.borders)
            u = node("WHERE", (inside, u, _least(x.dtype, u.shape)))
        y = node("REDUCE", (windows_of(u, pool.kernel, pool.stride, pool.dilation),), reduce="MAX", value=rank)
        return self._make(y if self.ndim == rank + 2 else reshape(y, y.shape[1:]))

    def avg_pool1d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """(N,C,L) -> (N,C,L'): the mean of each window; of integers: f32. Elements of the padding are zeros and count,
        unless ``count_include_pad`` is false; those beyond it (``ceil_mode``) never count. See max_pool1d."""
        return self._avg_pool(1, kernel, stride, padding, ceil_mode, count_include_pad)

    def avg_pool2d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """Over the last two axes: see avg_pool1d."""
        return self._avg_pool(2, kernel, stride, padding, ceil_mode, count_include_pad)

    def avg_pool3d(
        self,
        kernel: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """Over the last three axes: see avg_pool1d."""
        return self._avg_pool(3, kernel, stride, padding, ceil_mode, count_include_pad)

    def _avg_pool(
        self,
        rank: int,
        kernel: PerAxis,
        stride: PerAxis | None,
        padding: PerAxis,
        ceil_mode: bool,
        count_include_pad: bool,
    ) -> Self:
        what = f"avg_pool{rank}d"
        dtype = float_dtype(self.dtype)
        # As a mean: halves are divided before they are rounded, since their sum may be beyond their range.
        wide = _dtype.f32 if dtype.is_half else dtype
        x = cast(batched(self.node, rank, what), wide)
        pool = _Pool(what, x.shape[2:], kernel, stride, padding, 1, ceil_mode)
        total = pool.sums(padded(x, pool.borders))
        if pool.every_window_is_full(count_include_pad):
            count = full(math.prod(pool.kernel), total.shape, wide)
        else:
            # The same sums of ones: of the padding too, where it counts.
            within = [(p, p) if count_include_pad else (0, 0) for p in pool.padding]
            ones = full(1, (1, 1, *(n + a + b for n, (a, b) in zip(x.shape[2:], within))), wide)
            rest = [(a - p, b - q) for (a, b), (p, q) in zip(pool.borders, within)]
            count = broadcast_to(pool.sums(padded(ones, rest)), total.shape)
        y = cast(node("DIV", (total, count)), dtype)
        return self._make(y if self.ndim == rank + 2 else reshape(y, y.shape[1:]))


# ---------------------------------------------------------------------- parameters


class _Pool:
    """The parameters of a pooling, one an axis, and the borders that they add to an input."""

    def __init__(
        self,
        what: str,
        shape: Shape,
        kernel: PerAxis,
        stride: PerAxis | None,
        padding: PerAxis,
        dilation: PerAxis,
        ceil_mode: bool,
    ) -> None:
        rank = len(shape)
        self.kernel = per_axis(kernel, rank, "kernel", what)
        self.stride = self.kernel if stride is None else per_axis(stride, rank, "stride", what)
        self.padding = per_axis(padding, rank, "padding", what, least=0)
        self.dilation = per_axis(dilation, rank, "dilation", what)
        self.borders: list[tuple[int, int]] = []
        #: Whether a window reaches beyond the padding.
        self.overhangs = False
        for n, k, s, p, d in zip(shape, self.kernel, self.stride, self.padding, self.dilation):
            if p > k // 2:
                raise ValueError(f"{what}: a padding of {p} is more than half of the window of {k}")
            reach = d * (k - 1) + 1
            if reach > n + 2 * p:
                raise ValueError(f"{what}: a window of {reach} does not fit into {n} + 2 * {p} elements")
            after = p
            if ceil_mode:
                steps = -(-(n + 2 * p - reach) // s)
                if steps * s >= n + p:  # A window has to begin within the input or the padding before it.
                    steps -= 1
                over = steps * s + reach - (n + 2 * p)
                self.overhangs |= over > 0
                after += max(0, over)
            self.borders.append((p, after))

    def every_window_is_full(self, padding_counts: bool) -> bool:
        return not self.overhangs and (padding_counts or not any(self.padding))

    def sums(self, x: UOp) -> UOp:
        return node("REDUCE", (windows_of(x, self.kernel, self.stride, self.dilation),), reduce="ADD", value=len(self.kernel))


def per_axis(value: PerAxis, rank: int, name: str, what: str, least: int = 1) -> list[int]:
    numbers = [value] * rank if isinstance(value, int) else list(value)
    if len(numbers) != rank or any(not isinstance(n, int) or n < least for n in numbers):
        raise ValueError(f"{what}: {name} is a number of at least {least}, or {rank} of them; got {value}")
    return numbers


def batched(x: UOp, rank: int, what: str) -> UOp:
    if len(x.shape) not in (rank + 1, rank + 2):
        raise ValueError(f"{what} takes (batch, channels, {rank} axes) or (channels, {rank} axes); got {x.type}")
    return x if len(x.shape) == rank + 2 else reshape(x, (1, *x.shape))


# ---------------------------------------------------------------------- nodes


def padded(x: UOp, borders: Sequence[tuple[int, int]]) -> UOp:
    """Zeros before and after each of the last axes; a negative number of them removes elements."""
    lead = len(x.shape) - len(borders)
    ranges = [(0, n) for n in x.shape[:lead]]
    ranges += [(-min(a, 0), n + min(b, 0)) for n, (a, b) in zip(x.shape[lead:], borders)]
    return pad(shrink(x, ranges), [(0, 0)] * lead + [(max(a, 0), max(b, 0)) for a, b in borders])


def _least(dtype: _dtype.DType, shape: Shape) -> UOp:
    """The value that no element is below: -inf, the least integer, false."""
    if dtype.is_float:
        return full(-math.inf, shape, dtype)
    if dtype is _dtype.bool_:
        return full(False, shape, dtype)
    bits = 1 << (8 * dtype.itemsize - 1) if dtype.is_signed else 0
    return broadcast_to(node("CONST", dtype=dtype, bits=bits), shape)
