"""Tensors put together: functions of several tensors that only move elements."""
from __future__ import annotations

from typing import Sequence, TypeVar

from uopd import _dtype
from uopd._build import broadcast_shapes, broadcast_to, cast, normal_axis, reshape
from uopd._dtype import DType
from uopd._movement import MovementOps
from uopd._views import join

T = TypeVar("T", bound=MovementOps)


def cat(tensors: Sequence[T], axis: int = 0) -> T:
    """The tensors one after the other along ``axis``; all other axes are the same, and dtypes meet as in arithmetic."""
    first, dtype = _first(tensors, "cat")
    axis = normal_axis(axis, first.ndim)
    shape = list(first.shape)
    for i, t in enumerate(tensors):
        other = list(t.shape)
        if len(other) == len(shape):
            other[axis] = shape[axis]
        if other != shape:
            raise ValueError(f"cat along axis {axis} of {list(first.shape)} and (tensor {i}) {list(t.shape)}: all "
                             "other axes must be the same")  # fmt: skip
    return first._make(join([cast(t.node, dtype) for t in tensors], axis), *tensors)


concatenate = cat


def stack(tensors: Sequence[T], axis: int = 0) -> T:
    """The tensors, of one shape, along a new axis."""
    first, dtype = _first(tensors, "stack")
    axis = normal_axis(axis, first.ndim + 1)
    for i, t in enumerate(tensors):
        if t.shape != first.shape:
            raise ValueError(f"stack of {list(first.shape)} and (tensor {i}) {list(t.shape)}: all must have one shape")
    shape = (*first.shape[:axis], 1, *first.shape[axis:])
    return first._make(join([reshape(cast(t.node, dtype), shape) for t in tensors], axis), *tensors)


def _first(tensors: Sequence[T], what: str) -> tuple[T, DType]:
    """The first tensor, and the dtype all meet in."""
    if len(tensors) == 0:
        raise ValueError(f"{what} of no tensors has no shape")
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = _dtype.promote(dtype, t.dtype)
    return tensors[0], dtype


def hstack(tensors: Sequence[T]) -> T:
    """Along the second axis, or the only one."""
    parts = [atleast_1d(t) for t in tensors]
    return cat(parts, 0 if parts and parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[T]) -> T:
    """Along the first axis, of at least two."""
    return cat([atleast_2d(t) for t in tensors], 0)


def meshgrid(*tensors: T, indexing: str = "ij") -> list[T]:
    """Vectors as coordinates of a grid: each repeated along the axes of the others. ``indexing`` "xy" swaps the first
    two axes, as NumPy does by default."""
    if indexing not in ("ij", "xy"):
        raise ValueError(f'meshgrid is indexed "ij" or "xy", not {indexing!r}')
    shape = tuple(t.numel() for t in tensors)
    swap = indexing == "xy" and len(shape) > 1
    grids = []
    for i, t in enumerate(tensors):
        if t.ndim > 1:
            raise ValueError(f"meshgrid takes vectors; tensor {i} is {list(t.shape)}")
        along = reshape(t.node, [n if i == a else 1 for a, n in enumerate(shape)])
        grid = t._make(broadcast_to(along, shape))
        grids.append(grid.transpose(0, 1) if swap else grid)
    return grids


def broadcast_tensors(*tensors: T) -> list[T]:
    """All expanded to the shape they broadcast to."""
    shape = broadcast_shapes(*(t.shape for t in tensors)) if tensors else ()
    return [t.expand(shape) for t in tensors]


def atleast_1d(x: T) -> T:
    return x.reshape(1) if x.ndim == 0 else x


def atleast_2d(x: T) -> T:
    """New axes come in front."""
    return x.reshape([1] * (2 - x.ndim) + list(x.shape)) if x.ndim < 2 else x


def atleast_3d(x: T) -> T:
    """A matrix gets its new axis at the end, a vector one on each side (as in NumPy)."""
    return x.reshape(1, *(x.shape or (1,)), 1) if x.ndim < 2 else x.unsqueeze(2) if x.ndim == 2 else x
