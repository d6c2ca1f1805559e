"""Sorting, of moderate sizes: up to some 100,000 elements along the axis.

Elements are compared by *keys*, unsigned integers of the same order, in which all NaNs are one value above infinity
and -0.0 is 0.0. Up to 1,024 elements are ranked by counting the smaller ones, which is one kernel of n^2 comparisons;
longer axes are ranked so in blocks, which are then merged two by two: an element's rank in a merged block is its rank
in its own plus, by binary search, that in the other. All is stable: equal elements keep their order.
"""
from __future__ import annotations

from typing import Any, Self

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import broadcast_to, cast, constant, full, normal_axis, permute, reshape
from uopd._dtype import DType
from uopd._graph import Shape, UOp, node
from uopd._views import flip, index_along, index_dtype, shrink_axis
from uopd._reduction import ReductionOps

#: The longest axis that is ranked by counting.
_COUNTED = 1024

_UNSIGNED = {1: _dtype.u8, 2: _dtype.u16, 4: _dtype.u32, 8: _dtype.u64}


def _bits(value: int, shape: Shape, dtype: DType) -> UOp:
    return broadcast_to(node("CONST", dtype=dtype, bits=value), shape)


def sort_key(u: UOp, descending: bool = False) -> UOp:
    """Unsigned integers in the order of ``u``'s elements, or in the reverse order."""
    dtype = _UNSIGNED[u.dtype.itemsize]
    sign = 1 << (8 * dtype.itemsize - 1)
    ones = (sign << 1) - 1
    if u.dtype.is_float:
        zero = full(0, u.shape, u.dtype)
        number = node("WHERE", (node("CMPEQ", (u, zero)), zero, u))  # -0.0 is 0.0
        bits = node("BITCAST", (number,), dtype=dtype)
        negative = node("CMPLE", (_bits(sign, u.shape, dtype), bits))
        flipped = node("WHERE", (negative, _bits(ones, u.shape, dtype), _bits(sign, u.shape, dtype)))
        key = node("XOR", (bits, flipped))
        key = node("WHERE", (node("CMPNE", (u, u)), _bits(ones, u.shape, dtype), key))
    elif u.dtype.is_signed:
        key = node("XOR", (node("BITCAST", (u,), dtype=dtype), _bits(sign, u.shape, dtype)))
    else:
        key = cast(u, dtype)  # bool becomes 0 and 1
    return node("XOR", (key, _bits(ones, u.shape, dtype))) if descending else key


def _sum_last(u: UOp) -> UOp:
    return node("REDUCE", (u,), value=1, reduce="ADD")


def _ranks(key: UOp) -> UOp:
    """The place of each element among those of the last axis: how many come before it."""
    front, n = key.shape[:-1], key.shape[-1]
    dtype = index_dtype(n)
    shape = (*front, n, n)
    own = broadcast_to(reshape(key, (*front, n, 1)), shape)
    other = broadcast_to(reshape(key, (*front, 1, n)), shape)
    square = (n, n)
    i, j = (broadcast_to(index_along(square, a), square) for a in (0, 1))
    earlier = node("CMPLT", (j, i))
    before = node("WHERE", (broadcast_to(earlier, shape), node("CMPLE", (other, own)), node("CMPLT", (other, own))))
    return _sum_last(cast(before, dtype))


def _inverse(ranks: UOp, count: int) -> UOp:
    """Of ranks along the last axis: the element of rank 0, 1, …, up to ``count`` of them."""
    front, n = ranks.shape[:-1], ranks.shape[-1]
    dtype = ranks.dtype
    order = broadcast_to(index_along(ranks.shape, len(front), dtype), ranks.shape)
    return node("SCATTER", (full(0, (*front, count), dtype), ranks, order), value=len(front))


def _gather(u: UOp, index: UOp) -> UOp:
    return node("GATHER", (u, index), value=len(u.shape) - 1)


def sorted_indices(key: UOp, count: int) -> UOp:
    """The indices of the ``count`` smallest keys along the last axis, in order; equal ones in their order."""
    n = key.shape[-1]
    if n <= _COUNTED:
        return _inverse(_ranks(node("STAGE", (key,))), count)
    return shrink_axis(_merge_sorted(key), len(key.shape) - 1, 0, count)


def _merge_sorted(key: UOp) -> UOp:
    """The indices that sort a long last axis."""
    front, n = key.shape[:-1], key.shape[-1]
    width = _COUNTED
    while width < n:
        width *= 2
    # Behind the last element come keys above all others; as they are also later, they stay behind.
    ones = (1 << (8 * key.dtype.itemsize)) - 1
    last = len(front)
    padded = node("PAD", (key,), ints=(0, 0) * last + (0, width - n))
    inside = node("CMPLT", (index_along(padded.shape, last), full(n, (1,) * last + (width,), index_dtype(width))))
    key = node("WHERE", (broadcast_to(inside, padded.shape), padded, _bits(ones, padded.shape, key.dtype)))
    blocks = width // _COUNTED
    key = node("STAGE", (reshape(key, (*front, blocks, _COUNTED)),))
    within = node("STAGE", (_inverse(_ranks(key), _COUNTED),))
    keys = _gather(key, within)
    begin = reshape(node("IOTA", dtype=_dtype.i32, ints=(blocks,)), (*(1 for _ in front), blocks, 1))
    begin = node("MUL", (begin, full(_COUNTED, begin.shape, _dtype.i32)))
    indices = node("ADD", (within, broadcast_to(begin, within.shape)))
    size = _COUNTED
    while size < width:
        pairs = (*front, width // (2 * size), 2, size)
        keys, indices = node("STAGE", (reshape(keys, pairs),)), node("STAGE", (reshape(indices, pairs),))
        ranks = _merged_ranks(keys)
        whole = (*front, width // (2 * size), 2 * size)
        order = node("STAGE", (_inverse(reshape(ranks, whole), 2 * size),))
        keys, indices = _gather(reshape(keys, whole), order), _gather(reshape(indices, whole), order)
        size *= 2
    return shrink_axis(reshape(indices, (*front, width)), last, 0, n)


def _merged_ranks(keys: UOp) -> UOp:
    """Of sorted halves (…, 2, size): the rank of each element in both together."""
    shape = keys.shape
    axis, size = len(shape) - 1, shape[-1]
    half = index_along(shape, axis - 1)
    second = broadcast_to(node("CMPEQ", (half, full(1, half.shape, half.dtype))), shape)
    other = flip(keys, [axis - 1])
    # Of equal ones, those of the first half come first.
    found = search(other, keys, second)
    return node("ADD", (found, broadcast_to(index_along(shape, axis, found.dtype), shape)))


def search(sorted_keys: UOp, keys: UOp, right: UOp) -> UOp:
    """How many of ``sorted_keys`` (along the last axis, sorted) are below each of ``keys``; where ``right``: or equal.
    Both have the same axes but the last."""
    n, shape = sorted_keys.shape[-1], keys.shape
    dtype = index_dtype(2 * n)
    found = full(0, shape, dtype)
    step = 1
    while 2 * step <= n:
        step *= 2
    while n and step:
        # Is the element at found + step - 1 still before the key?
        next_ = node("ADD", (found, full(step, shape, dtype)))
        probe = _gather(sorted_keys, node("ADD", (next_, full(-1, shape, dtype))))
        before = node("WHERE", (right, node("CMPLE", (probe, keys)), node("CMPLT", (probe, keys))))
        before = node("AND", (before, node("CMPLE", (next_, full(n, shape, dtype)))))
        found = node("WHERE", (before, next_, found))
        step //= 2
    return found


class SortingOps(ReductionOps):
    """The sorting methods of Tensor. NaN counts as the greatest value, as in NumPy."""

    __slots__ = ()

    def sort(self, axis: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """(values, indices), sorted along ``axis``; equal elements keep their order. Indices are i32."""
        u, axis, back = self._axis_last(axis)
        return self._picked(axis, u.shape[-1], descending)

    def argsort(self, axis: int = -1, descending: bool = False) -> Self:
        """The indices that sort."""
        return self.sort(axis, descending)[1]

    def topk(self, k: int, axis: int = -1, largest: bool = True) -> tuple[Self, Self]:
        """(values, indices) of the ``k`` largest elements along ``axis``, the largest first; of equal ones the first
        first. Or of the smallest. Raises ValueError where there are fewer than ``k``."""
        n = self.shape[normal_axis(axis, self.ndim)]
        if not 0 <= k <= n:
            raise ValueError(f"topk takes k from 0 to the size of the axis: {k} of axis {axis} of {list(self.shape)}")
        return self._picked(axis, k, largest)

    def _axis_last(self, axis: int) -> tuple[UOp, int, list[int]]:
        """This with ``axis`` last, the axis, and the order that brings it back."""
        axis = normal_axis(axis, self.ndim)
        order = [a for a in range(self.ndim) if a != axis] + [axis]
        return permute(self.node, order), axis, [order.index(a) for a in range(self.ndim)]

    def _picked(self, axis: int, count: int, descending: bool) -> tuple[Self, Self]:
        u, axis, back = self._axis_last(axis)
        indices = node("STAGE", (sorted_indices(sort_key(u, descending), count),))
        return self._make(permute(_gather(u, indices), back)), self._make(permute(indices, back))

    def searchsorted(self, values: Any, side: str = "left") -> Self:
        """Of this sorted vector: before which index each of ``values`` would be put, so that it stays sorted; ``side``
        "right": after its equals."""
        if side not in ("left", "right"):
            raise ValueError(f'searchsorted takes side "left" or "right", not {side!r}')
        if self.ndim != 1:
            raise ValueError(f"searchsorted takes a sorted vector, not {self.node.type}")
        v = self._wrap(values)
        dtype = _dtype.promote(self.dtype, v.dtype)
        keys = reshape(sort_key(cast(v.node, dtype)), (v.numel(),))
        right = broadcast_to(constant(side == "right", _dtype.bool_), keys.shape)
        found = search(sort_key(cast(self.node, dtype)), keys, right)
        return self._make(reshape(found, v.shape), v)
