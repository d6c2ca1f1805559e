"""Scans: the reduction of all elements up to each one, along an axis."""
from __future__ import annotations

import math
from typing import Self

import numpy as np

from uopd import _dtype
from uopd._build import Number, broadcast_to, cast, full, normal_axis, permute, reshape
from uopd._dtype import DType, DTypeLike
from uopd._graph import UOp, node
from uopd._movement import MovementOps
from uopd._views import index_along, pad_axis, shrink_axis

#: Up to so many elements a scan is one reduction under a triangle; longer axes are cut into blocks of about as many.
_BLOCK = 64


def _identity(op: str, dtype: DType) -> Number:
    if op in ("ADD", "MUL"):
        return int(op == "MUL")
    greatest = op == "MIN"
    if dtype.is_float:
        return math.inf if greatest else -math.inf
    if dtype is _dtype.bool_:
        return greatest
    info = np.iinfo(dtype.numpy)
    return int(info.max if greatest else info.min)


def _widened(u: UOp, axis: int, before: int, after: int, value: Number) -> UOp:
    """``value`` added before and after an axis."""
    if before == after == 0:
        return u
    padded = pad_axis(u, axis, before, after)
    if value == 0:
        return padded
    index = index_along(padded.shape, axis)
    inside = node("CMPLT", (index, full(before + u.shape[axis], index.shape, index.dtype)))
    if before:
        inside = node("AND", (inside, node("CMPLE", (full(before, index.shape, index.dtype), index))))
    return node("WHERE", (broadcast_to(inside, padded.shape), padded, full(value, padded.shape, padded.dtype)))


def _scan(op: str, u: UOp) -> UOp:
    """The scan of the last axis. Element i of a block is the reduction of its elements j <= i; then what all blocks
    before come to is put to it, which is a scan of the blocks' results. Errors of sums grow with the number of blocks'
    levels, not with the length; the work is a block for each element."""
    n, last = u.shape[-1], len(u.shape) - 1
    neutral = _identity(op, u.dtype)
    blocks = -(-n // _BLOCK)
    if blocks <= 1:
        return _triangle(op, u, neutral)
    size = -(-n // blocks)
    u = _widened(u, last, 0, blocks * size - n, neutral)
    u = reshape(u, (*u.shape[:-1], blocks, size))
    totals = _scan(op, node("STAGE", (node("REDUCE", (u,), value=1, reduce=op),)))
    before = _widened(shrink_axis(totals, last, 0, blocks - 1), last, 1, 0, neutral)
    before = broadcast_to(reshape(node("STAGE", (before,)), (*before.shape, 1)), u.shape)
    whole = node(op, (before, _triangle(op, u, neutral)))
    return shrink_axis(reshape(whole, (*u.shape[:-2], blocks * size)), last, 0, n)


def _triangle(op: str, u: UOp, neutral: Number) -> UOp:
    """Element i: the reduction of the elements j <= i of the last axis."""
    n = u.shape[-1]
    if n <= 1:
        return u
    square = (*u.shape, n)
    index = node("IOTA", dtype=_dtype.i32, ints=(n,))
    row, column = (broadcast_to(reshape(index, shape), (n, n)) for shape in ((n, 1), (1, n)))
    taken = broadcast_to(node("CMPLE", (column, row)), square)
    across = broadcast_to(reshape(u, (*u.shape[:-1], 1, n)), square)
    return node("REDUCE", (node("WHERE", (taken, across, full(neutral, square, u.dtype))),), value=1, reduce=op)


def _product_scan(u: UOp) -> UOp:
    """The running products of the last axis, by doubling: what is 1, 2, 4, … before is multiplied to each. Only
    products, so that its gradient holds where factors are 0 (W. D. Hillis and G. L. Steele, 1986). Every second step is
    stored."""
    last, n = len(u.shape) - 1, u.shape[-1]
    distance, steps = 1, 0
    while distance < n:
        u = node("MUL", (_widened(shrink_axis(u, last, 0, n - distance), last, distance, 0, 1), u))
        distance *= 2
        steps += 1
        if steps % 2 == 0 and distance < n:
            u = node("STAGE", (u,))
    return u


class ScanOps(MovementOps):
    """The scans among Tensor's methods."""

    __slots__ = ()

    def _counting_dtype(self) -> DType:
        """The dtype in which the elements are added: a bool is counted."""
        if self.dtype is not _dtype.bool_:
            return self.dtype
        return _dtype.i32 if self.numel() < 2**31 else _dtype.i64

    def cumsum(self, axis: int, dtype: DTypeLike | None = None) -> Self:
        """Sums of the elements up to each one along ``axis``; dtypes as of ``sum``, halves add in f32."""
        return self._scanned("ADD", axis, self._counting_dtype() if dtype is None else _dtype.dtype_of(dtype))

    def cumprod(self, axis: int, dtype: DTypeLike | None = None) -> Self:
        """Products of the elements up to each one along ``axis``; dtypes as of ``prod``."""
        return self._scanned("MUL", axis, self._counting_dtype() if dtype is None else _dtype.dtype_of(dtype))

    def cummax(self, axis: int) -> Self:
        """The greatest of the elements up to each one along ``axis``; NaN from the first NaN on. Gradients are shared
        as of ``max``, and between what came before a block of elements and the block as of ``maximum``."""
        return self._scanned("MAX", axis, self.dtype)

    def cummin(self, axis: int) -> Self:
        """The same of the least."""
        return self._scanned("MIN", axis, self.dtype)

    def _scanned(self, op: str, axis: int, dtype: DType) -> Self:
        u = cast(cast(self.node, dtype), _dtype.f32 if dtype.is_half else dtype)
        if not u.shape:
            normal_axis(axis, 1)
            return self._make(cast(u, dtype))
        axis, rank = normal_axis(axis, len(u.shape)), len(u.shape)
        if u.numel == 0:
            return self._make(cast(u, dtype))
        u = permute(u, [a for a in range(rank) if a != axis] + [axis])
        u = _product_scan(u) if op == "MUL" else _scan(op, u)
        back = list(range(axis)) + [rank - 1] + list(range(axis, rank - 1))
        return self._make(cast(permute(u, back), dtype))
