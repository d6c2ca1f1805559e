"""Reductions: sums, products, extremes and what is made of them, over any axes.

``axis`` is an axis, a tuple of axes, or None for all; ``keepdim`` keeps them with size 1. Reductions of halves
accumulate in f32. A bool counts as i32 in sums and products, or as i64 where there are 2^31 elements; integers keep
their dtype and wrap, unless ``dtype`` says in which one to add. Sums of nothing are 0, products 1; an extreme of
nothing is a ValueError.
"""
from __future__ import annotations

import math
from typing import Self, Sequence

from uopd import _dtype
from uopd._build import broadcast_to, cast, constant, full, normal_axes, normal_axis, permute, reshape
from uopd._dtype import DTypeLike, float_dtype
from uopd._graph import UOp, node
from uopd._views import index_along
from uopd._scan import ScanOps

Axes = int | Sequence[int] | None
Real = float


def reduce(op: str, u: UOp, axes: Sequence[int], keepdim: bool) -> UOp:
    """The reduction over ``axes`` (counted from the start, sorted). REDUCE takes trailing ones: they are moved
    there."""
    if not axes:
        return u
    order = [a for a in range(len(u.shape)) if a not in axes] + list(axes)
    result = node("REDUCE", (permute(u, order),), value=len(axes), reduce=op)
    return reshape(result, [1 if a in axes else n for a, n in enumerate(u.shape)]) if keepdim else result


class ReductionOps(ScanOps):
    """The reductions among Tensor's methods."""

    __slots__ = ()

    def _axes(self, axis: Axes) -> list[int]:
        """The axes that ``axis`` names, from the start. A tensor without axes has, as in PyTorch, axis 0 here."""
        if not self.shape and axis is not None:
            named = [axis] if isinstance(axis, int) else list(axis)
            for a in named:
                normal_axis(a, 1)
            return []
        return normal_axes(axis, self.ndim)

    # ------------------------------------------------------------------ sums and products

    def sum(self, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None) -> Self:
        """The sum; in ``dtype`` if that is given."""
        to = self._counting_dtype() if dtype is None else _dtype.dtype_of(dtype)
        return self._make(reduce("ADD", cast(self.node, to), self._axes(axis), keepdim))

    def prod(self, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None) -> Self:
        """The product; in ``dtype`` if that is given."""
        to = self._counting_dtype() if dtype is None else _dtype.dtype_of(dtype)
        return self._make(reduce("MUL", cast(self.node, to), self._axes(axis), keepdim))

    def count_nonzero(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """How many are not 0, as i32 (i64 where there are 2^31 elements)."""
        return self.bool().sum(axis, keepdim)

    # ------------------------------------------------------------------ extremes

    def max(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The greatest; NaN if one is. Its gradient is shared equally by all elements that are the greatest."""
        return self._make(reduce("MAX", self.node, self._axes(axis), keepdim))

    def min(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The least; NaN if one is. Its gradient is shared equally by all elements that are the least."""
        return self._make(reduce("MIN", self.node, self._axes(axis), keepdim))

    amax, amin = max, min

    def aminmax(self, axis: Axes = None, keepdim: bool = False) -> tuple[Self, Self]:
        """The least and the greatest."""
        return self.min(axis, keepdim), self.max(axis, keepdim)

    def any(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """Whether one is not 0 (a NaN is not); False of nothing."""
        return self._some("MAX", False, axis, keepdim)

    def all(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """Whether none is 0; True of nothing."""
        return self._some("MIN", True, axis, keepdim)

    def _some(self, op: str, of_nothing: bool, axis: Axes, keepdim: bool) -> Self:
        axes = self._axes(axis)
        u = cast(self.node, _dtype.bool_)
        if self.numel() == 0:
            kept = [1 if a in axes else n for a, n in enumerate(self.shape) if keepdim or a not in axes]
            return self._make(broadcast_to(constant(of_nothing, _dtype.bool_), tuple(kept)))
        return self._make(reduce(op, u, axes, keepdim))

    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The index of the greatest element along ``axis``, of all (flattened) without; the first one where several
        are, a NaN counts as the greatest. i32, or i64 where the axis has 2^31 elements."""
        return self._first_index("MAX", axis, keepdim)

    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The same of the least element; a NaN counts as the least."""
        return self._first_index("MIN", axis, keepdim)

    def _first_index(self, op: str, axis: int | None, keepdim: bool) -> Self:
        if axis is None or not self.shape:
            self._axes(axis)
            found = self.reshape(self.numel())._first_index(op, 0, False)
            return found.reshape((1,) * self.ndim) if keepdim else found
        (along,) = self._axes(axis)
        u = self.node
        hit = node("CMPEQ", (u, broadcast_to(reduce(op, u, [along], True), u.shape)))
        if u.dtype.is_float:
            hit = node("WHERE", (node("CMPEQ", (u, u)), hit, full(True, u.shape, _dtype.bool_)))
        index = index_along(u.shape, along)
        none = full(u.shape[along], u.shape, index.dtype)
        return self._make(reduce("MIN", node("WHERE", (hit, broadcast_to(index, u.shape), none)), [along], keepdim))

    # ------------------------------------------------------------------ means

    def mean(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The sum divided by the number of elements; NaN of nothing. Integers are averaged as f32. (A division: 1/n is
        not a number of the dtype. The sum of halves stays f32 until it is divided: it may be beyond their range.)"""
        return self._wide()._average(axis, keepdim, 0).cast(float_dtype(self.dtype))

    def var(self, axis: Axes = None, keepdim: bool = False, correction: Real = 0) -> Self:
        """The mean square distance from the mean, as NumPy's: the sum is divided by n - ``correction``, and
        ``correction`` is 0 unless it is given (PyTorch's 1). NaN where n - correction is not above 0."""
        x = self._wide()
        centred = x - x.mean(axis, keepdim=True)
        return (centred * centred)._average(axis, keepdim, correction).cast(float_dtype(self.dtype))

    def std(self, axis: Axes = None, keepdim: bool = False, correction: Real = 0) -> Self:
        """The square root of ``var``."""
        return self._wide().var(axis, keepdim, correction).sqrt().cast(float_dtype(self.dtype))

    def _average(self, axis: Axes, keepdim: bool, correction: Real) -> Self:
        axes = self._axes(axis)
        n = math.prod(self.shape[a] for a in axes) - correction
        total = reduce("ADD", self.node, axes, keepdim)
        return self._make(node("DIV", (total, full(n if n > 0 else math.nan, total.shape, total.dtype))))

    # ------------------------------------------------------------------ logarithms and norms

    def logsumexp(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """log(sum(exp(x))) without overflow; -inf of nothing."""
        x = self._wide()
        axes = x._axes(axis)
        if x.numel() == 0:
            return x.exp().sum(axis, keepdim).log().cast(float_dtype(self.dtype))
        top = x.max(axis, keepdim=True).detach()
        top = top.isfinite().where(top, 0.0)
        total = (x - top).exp().sum(axis, keepdim=True).log() + top
        if not keepdim:
            total = total.reshape([n for a, n in enumerate(x.shape) if a not in axes])
        return total.cast(float_dtype(self.dtype))

    def norm(self, p: Real = 2, axis: Axes = None, keepdim: bool = False) -> Self:
        """The p-norm of the elements: (sum |x|^p)^(1/p); for p = inf and -inf the greatest and the least |x|, for p = 0
        how many are not 0. The gradient of a norm of 0 is 0."""
        x = self._wide()
        if p == math.inf or p == -math.inf:
            result = x.abs().max(axis, keepdim) if p > 0 else x.abs().min(axis, keepdim)
        elif p == 0:
            result = x.count_nonzero(axis, keepdim).cast(x.dtype)
        elif p == 1:
            result = x.abs().sum(axis, keepdim)
        else:
            powers = x * x if p == 2 else x.abs() ** p
            total = powers.sum(axis, keepdim)
            zero = total.eq(0)
            # The root's derivative at 0 is infinite: it is taken elsewhere.
            safe = zero.where(1.0, total)
            result = zero.where(total, safe.sqrt() if p == 2 else safe ** (1 / p))
        return result.cast(float_dtype(self.dtype))
