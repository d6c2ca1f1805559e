"""Movement of nodes: RESHAPE, PERMUTE, EXPAND, PAD, SHRINK, FLIP, and what is made of them alone.

(``reshape``, ``permute`` and ``broadcast_to`` are in _build.)
"""
from __future__ import annotations

from typing import Sequence

from uopd import _dtype
from uopd._build import broadcast_to, full, permute, reshape
from uopd._dtype import DType
from uopd._graph import Shape, UOp, node

Pairs = Sequence[tuple[int, int]]


def shrink(u: UOp, ranges: Pairs) -> UOp:
    """begin <= i < end of each axis."""
    ints = [i for r in ranges for i in r]
    return u if ints == [i for n in u.shape for i in (0, n)] else node("SHRINK", (u,), ints=ints)


def shrink_axis(u: UOp, axis: int, begin: int, end: int) -> UOp:
    """begin <= i < end of one axis."""
    return shrink(u, [(begin, end) if a == axis else (0, n) for a, n in enumerate(u.shape)])


def pad(u: UOp, padding: Pairs) -> UOp:
    """Zeros before and after each axis."""
    ints = [n for pair in padding for n in pair]
    return node("PAD", (u,), ints=ints) if any(ints) else u


def pad_axis(u: UOp, axis: int, before: int, after: int) -> UOp:
    """Zeros before and after one axis."""
    return pad(u, [(before, after) if a == axis else (0, 0) for a in range(len(u.shape))])


def flip(u: UOp, axes: Sequence[int]) -> UOp:
    return node("FLIP", (u,), ints=[int(a in axes) for a in range(len(u.shape))]) if axes else u


def index_dtype(n: int) -> DType:
    """The dtype for indices below ``n``, and for ``n``."""
    return _dtype.i32 if n < 2**31 else _dtype.i64


def index_along(shape: Shape, axis: int, dtype: DType | None = None) -> UOp:
    """0, 1, 2, … along ``axis`` of a tensor of ``shape``; the other axes are 1."""
    n = shape[axis]
    along = node("IOTA", dtype=dtype or index_dtype(n), ints=(n,))
    return reshape(along, [n if a == axis else 1 for a in range(len(shape))])


#: So many parts of a join are stored together before they are joined with others.
_STORED_JOIN = 16


def join(parts: Sequence[UOp], axis: int) -> UOp:
    """The parts, of one dtype, one after the other along ``axis``. They are joined two by two; each is
    WHERE(index < n, PAD(a), PAD(b)), which keeps every bit. Of many, every 16 are stored: kernels stay small, and alike
    where the parts are."""
    parts = [p for p in parts if p.shape[axis] > 0] or list(parts[:1])
    joined = 1
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [_join_two(p[0], p[1], axis) if len(p) == 2 else p[0] for p in pairs]
        joined *= 2
        if joined == _STORED_JOIN and len(parts) > 1:
            parts, joined = [node("STAGE", (p,)) for p in parts], 1
    return parts[0]


def _join_two(a: UOp, b: UOp, axis: int) -> UOp:
    m, n = a.shape[axis], b.shape[axis]
    left, right = pad_axis(a, axis, 0, n), pad_axis(b, axis, m, 0)
    index = index_along(left.shape, axis)
    first = node("CMPLT", (index, full(m, index.shape, index.dtype)))
    return node("WHERE", (broadcast_to(first, left.shape), left, right))


def repeated(u: UOp, axis: int, times: int) -> UOp:
    """``u``, ``times`` times along ``axis``."""
    shape = u.shape
    front, back = shape[:axis], shape[axis:]
    many = broadcast_to(reshape(u, (*front, 1, *back)), (*front, times, *back))
    return reshape(many, (*front, times * shape[axis], *shape[axis + 1 :]))


def windows_of(u: UOp, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> UOp:
    """The windows over the last axes; see ``windows``."""
    first = len(u.shape) - len(kernel)
    for i, (k, s, d) in enumerate(zip(kernel, stride, dilation)):
        # The axis becomes (out, k); what was done before stays in front, what is to do behind.
        u = _windows_of_axis(u, first + 2 * i, k, s, d)
    order = [*range(first), *range(first, len(u.shape), 2), *range(first + 1, len(u.shape), 2)]
    return permute(u, order)


def _windows_of_axis(u: UOp, axis: int, k: int, s: int, d: int) -> UOp:
    n = u.shape[axis]
    front, back = u.shape[:axis], u.shape[axis + 1 :]
    out = (n - d * (k - 1) - 1) // s + 1
    if k == 1 or (k <= s and d == 1):
        # Windows do not overlap: cut into steps, and each step to its window.
        u = shrink_axis(u, axis, 0, min(n, out * s))
        u = pad_axis(u, axis, 0, out * s - u.shape[axis])
        return shrink_axis(reshape(u, (*front, out, s, *back)), axis + 1, 0, k)
    # Rows of (some) n + d elements of a repetition with period n: row j begins d further on than row j - 1. A row has
    # room for `out` whole steps.
    row = max(1, -(-(out * s - d) // n)) * n + d
    u = shrink_axis(repeated(u, axis, -(-k * row // n)), axis, 0, k * row)
    u = shrink_axis(reshape(u, (*front, k, row, *back)), axis + 1, 0, out * s)
    u = shrink_axis(reshape(u, (*front, k, out, s, *back)), axis + 2, 0, 1)
    order = list(range(axis)) + [axis + 1, axis] + list(range(axis + 2, axis + 2 + len(back)))
    return permute(reshape(u, (*front, k, out, *back)), order)
