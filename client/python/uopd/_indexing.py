"""Indexing and what reads or writes at places that are data: GATHER and SCATTER, never a product with one-hot vectors.

An index from a tensor that lies outside of its axis reads 0 and writes nothing. One from the host (an int, a list, an
array) that does is an IndexError. In x[…], ``take`` and ``take_along_axis`` negative indices count from the end; in
``gather``, ``scatter`` and ``embedding`` they lie outside.
"""
from __future__ import annotations

from typing import Any, Self, Sequence

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import Number, broadcast_shapes, broadcast_to, cast, constant, full, normal_axis, reshape
from uopd._dtype import DTypeLike, dtype_of
from uopd._graph import Shape, UOp, node
from uopd._views import index_along, index_dtype, pad, shrink
from uopd._sorting import SortingOps
from uopd._subscript import gather_parts, parts_of, scatter_parts, wide_dtype, wrapped

Index = TensorBase | np.ndarray | Sequence[Any] | int


class IndexingOps(SortingOps):
    """The indexing methods of Tensor."""

    __slots__ = ()

    # ------------------------------------------------------------------ x[...]

    def __getitem__(self, key: Any) -> Self:
        """As in NumPy: integers, slices with steps, None, ..., and integer tensors, arrays and lists, which broadcast
        together. A mask is a TypeError: how many elements it selects is data. Raises IndexError for an integer, or an
        element of a host array, outside of its axis; an element of a tensor outside of it reads 0."""
        parts = parts_of(key, self)
        return self._make(gather_parts(self.node, parts), *(p.index for p in parts if p.index is not None))

    def __setitem__(self, key: Any, value: Any) -> None:
        """``value``, broadcast and cast, in place of what x[key] is; masks too. All that was built from this tensor,
        and ``value`` itself, reads what was there before. Of two values for one element the later one stays; an element
        of an index tensor outside of its axis writes nothing."""
        parts = parts_of(key, self)
        inputs = [p.index for p in parts if p.index is not None]
        if isinstance(value, (bool, int, float, np.generic)):
            u = constant(value.item() if isinstance(value, np.generic) else value, self.dtype)
        else:
            other = self._wrap(value)
            u = cast(other.node, self.dtype)
            inputs.append(other)
        self.assign(self._make(scatter_parts(self.node, parts, u), *inputs))

    # ------------------------------------------------------------------ reading

    def _index(self, index: Index) -> TensorBase:
        """An index as an integer tensor beside this one."""
        t = index if isinstance(index, TensorBase) else type(self)(np.asarray(index), device=self.device)
        if not t.dtype.is_integer:
            raise TypeError(f"an index is of an integer dtype, not {t.dtype.name}; cast it")
        return t

    def gather(self, axis: int, index: Index) -> Self:
        """out[…, i, …] = x[…, index[…, i, …], …]: the index has all the axes of the tensor, and along the others at
        most its size."""
        axis = normal_axis(axis, self.ndim)
        i = self._index(index)
        x = shrink(self.node, self._beside(axis, i, "gather"))
        return self._make(node("GATHER", (x, i.node), value=axis), i)

    def _beside(self, axis: int, index: TensorBase, what: str) -> list[tuple[int, int]]:
        """The region that lies beside an index: all of ``axis``, and of the other axes what the index has."""
        if index.ndim != self.ndim or any(m > n for a, (m, n) in enumerate(zip(index.shape, self.shape)) if a != axis):
            raise ValueError(f"{what} along axis {axis} of {self.node.type} by {index.node.type}: the index has the "
                             "same number of axes, none but that one longer")  # fmt: skip
        return [(0, n if a == axis else m) for a, (m, n) in enumerate(zip(index.shape, self.shape))]

    def take_along_axis(self, index: Index, axis: int) -> Self:
        """The same, but the other axes broadcast, and negative indices count from the end."""
        axis = normal_axis(axis, self.ndim)
        i = self._index(index)
        if i.ndim != self.ndim:
            raise ValueError(f"take_along_axis of {self.node.type} by {i.node.type}: both have the same number of axes")
        n = self.shape[axis]
        at = cast(i.node, wide_dtype([i.dtype], n))
        at = wrapped(at, n) if i.dtype.is_signed else at
        rest = broadcast_shapes(_with(self.shape, axis, 1), _with(i.shape, axis, 1))
        x = broadcast_to(self.node, _with(rest, axis, n))
        return self._make(node("GATHER", (x, broadcast_to(at, _with(rest, axis, i.shape[axis]))), value=axis), i)

    take_along_dim = take_along_axis

    def take(self, index: Index, axis: int | None = None) -> Self:
        """x[index] along ``axis``, or of the flattened tensor; negative indices count from the end."""
        if axis is None:
            return self.ravel().take(index, 0)
        key = index if isinstance(index, (TensorBase, int)) else np.asarray(index)
        return self[(slice(None),) * normal_axis(axis, self.ndim) + (key,)]

    def index_select(self, axis: int, index: Index) -> Self:
        """The parts of ``axis`` that a vector of indices names."""
        if self._index(index).ndim != 1:
            raise ValueError("index_select takes a vector of indices; use take for others")
        return self.take(index, axis)

    def embedding(self, index: Index) -> Self:
        """Row i of this matrix for each integer i of ``index``: (…) -> (…, columns). Outside of the rows: 0."""
        if self.ndim != 2:
            raise ValueError(f"embedding reads rows of a matrix, not of {self.node.type}")
        i = self._index(index)
        rows, columns = i.numel(), self.shape[1]
        each = broadcast_to(reshape(i.node, (rows, 1)), (rows, columns))
        return self._make(reshape(node("GATHER", (self.node, each), value=0), (*i.shape, columns)), i)

    # ------------------------------------------------------------------ writing

    def scatter(self, axis: int, index: Index, src: Self | Number) -> Self:
        """A copy in which out[…, index[…, i, …], …] = src[…, i, …]; of two values for one element the later stays."""
        return self._scattered(axis, index, src, "", "scatter")

    def scatter_add(self, axis: int, index: Index, src: Self | Number) -> Self:
        """A copy in which src is added at ``index``: twice where an index comes twice."""
        return self._scattered(axis, index, src, "ADD", "scatter_add")

    def _scattered(self, axis: int, index: Index, src: Self | Number, reduce: str, what: str) -> Self:
        axis = normal_axis(axis, self.ndim)
        i = self._index(index)
        inputs: list[TensorBase] = [i]
        if isinstance(src, (bool, int, float)):
            u = full(src, i.shape, self.dtype)
        else:
            values = self._wrap(src)
            inputs.append(values)
            if values.ndim != i.ndim or any(m > n for m, n in zip(i.shape, values.shape)):
                raise ValueError(f"{what} of {values.node.type} by {i.node.type}: the source is as long as the index")
            u = shrink(cast(values.node, self.dtype), [(0, n) for n in i.shape])
        ranges = self._beside(axis, i, what)
        old = shrink(self.node, ranges)
        new = node("SCATTER", (old, i.node, u), value=axis, reduce=reduce)
        if old.shape != self.shape:
            around = [(0, n - end) for (_, end), n in zip(ranges, self.shape)]
            inside = pad(full(True, old.shape, _dtype.bool_), around)
            new = node("WHERE", (inside, pad(new, around), self.node))
        return self._make(new, *inputs)

    def masked_fill(self, mask: Self | np.ndarray[Any, Any], value: Self | Number) -> Self:
        """``value`` (a number, or a tensor that broadcasts) where ``mask`` holds, else this; of this dtype."""
        where = self._wrap(mask)
        if isinstance(value, (bool, int, float)):
            u, inputs = constant(value, self.dtype), [where]
        else:
            other = self._wrap(value)
            u, inputs = cast(other.node, self.dtype), [where, other]
        shape = broadcast_shapes(self.shape, where.shape, u.shape)
        condition = broadcast_to(cast(where.node, _dtype.bool_), shape)
        return self._make(node("WHERE", (condition, broadcast_to(u, shape), broadcast_to(self.node, shape))), *inputs)

    # ------------------------------------------------------------------ indices as values

    def one_hot(self, num_classes: int, dtype: DTypeLike = _dtype.i32) -> Self:
        """(…) -> (…, num_classes): 1 at the place that each integer names, else 0; all 0 for one outside of it. By
        comparison. To pick elements, index or ``gather``: it reads what it needs only."""
        if not self.dtype.is_integer:
            raise TypeError(f"one_hot is of integers, not of {self.node.type}; cast it")
        kind = wide_dtype([self.dtype], num_classes)
        shape: Shape = (*self.shape, num_classes)
        own = broadcast_to(reshape(cast(self.node, kind), (*self.shape, 1)), shape)
        places = broadcast_to(index_along((1,) * self.ndim + (num_classes,), self.ndim, kind), shape)
        return self._make(cast(node("CMPEQ", (own, places)), dtype_of(dtype)))


def _with(shape: Shape, axis: int, n: int) -> Shape:
    return (*shape[:axis], n, *shape[axis + 1 :])
