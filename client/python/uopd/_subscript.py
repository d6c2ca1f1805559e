"""What stands in x[…]: NumPy's rules, as movement of nodes, one GATHER or one SCATTER.

A key is taken apart into parts, one for each axis and each new axis. First comes *basic* indexing: ``cut`` gives the
region that the slices and integers name, with the axes of index arrays left whole; ``place`` is its inverse. Then index
arrays: their axes are merged into one, along which ``gather_parts`` reads and ``scatter_parts`` writes.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import broadcast_shapes, broadcast_to, cast, full, permute, prod, reshape
from uopd._dtype import DType
from uopd._graph import Shape, UOp, node
from uopd._views import flip, index_dtype, pad, pad_axis, shrink, shrink_axis

_MASK_READ = ("x[mask] has as many elements as the mask has True, which a plan cannot know; use where(mask, x, other), "
              "masked_fill, or an index array")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Part:
    """One part of a key. ``kind``: "new" (an axis of size 1), "slice", "int", "index", "mask"."""

    kind: str
    n: int = 1  # size of the axis; of a mask's axes together
    low: int = 0  # slice: the least index; int: the index
    length: int = 1  # slice: how many
    step: int = 1  # slice: never 0
    index: TensorBase | None = None
    checked: bool = False  # the index comes from the host, and lies in 0..n-1
    axes: Shape = ()  # mask: the sizes of its axes


def parts_of(key: Any, x: TensorBase) -> list[Part]:
    """The parts of ``key``, one for each axis of ``x`` and each new one."""
    shape = x.shape
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_host_array(k) if isinstance(k, (list, tuple, range, np.ndarray)) else k for k in items]
    if sum(k is Ellipsis for k in items) > 1:
        raise IndexError("an index has one ellipsis (...) at most")
    used = sum(_axes_of(k) for k in items)
    if used > len(shape):
        raise IndexError(f"{used} indices into a tensor of {len(shape)} axes, {x.node.type}")
    if not any(k is Ellipsis for k in items):
        items.append(Ellipsis)
    parts: list[Part] = []
    axis = 0
    for k in items:
        if k is Ellipsis:
            for n in shape[axis : axis + len(shape) - used]:
                parts.append(Part("slice", n, 0, n))
            axis += len(shape) - used
        elif k is None:
            parts.append(Part("new"))
        else:
            parts.append(_part(k, axis, x))
            axis += _axes_of(k)
    return parts


def _host_array(k: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(k)
    return array.astype(np.int64) if array.size == 0 and not isinstance(k, np.ndarray) else array


def _axes_of(k: Any) -> int:
    """How many axes of the tensor an item stands for."""
    if k is None or k is Ellipsis:
        return 0
    if isinstance(k, TensorBase):
        return k.ndim if k.dtype is _dtype.bool_ else 1
    return k.ndim if isinstance(k, np.ndarray) and k.dtype == np.bool_ else 1


def _part(k: Any, axis: int, x: TensorBase) -> Part:
    shape = x.shape
    if isinstance(k, (bool, np.bool_)):
        raise TypeError(f"{k} is no index; {_MASK_READ}")
    if isinstance(k, np.ndarray) and k.ndim == 0 and k.dtype.kind in "iu":
        k = int(k)
    if isinstance(k, (int, np.integer)):
        n = shape[axis]
        if not -n <= k < n:
            raise IndexError(f"index {k} of axis {axis} of {x.node.type}, which has {n} elements")
        return Part("int", n, int(k) % n)
    if isinstance(k, slice):
        begin, end, step = k.indices(shape[axis])
        length = len(range(begin, end, step))
        low = begin if step > 0 else begin + (length - 1) * step
        return Part("slice", shape[axis], low if length else 0, length, step if length > 1 else 1)
    if isinstance(k, np.ndarray):
        return _host_part(k, axis, x)
    if not isinstance(k, TensorBase):
        raise TypeError(f"a {type(k).__name__} is no index; take integers, slices, None, ..., integer tensors or arrays")
    if k.dtype is _dtype.bool_:
        return _mask_part(k, axis, x)
    if not k.dtype.is_integer:
        raise TypeError(f"an index is of an integer dtype, not {k.dtype.name}; cast it")
    return Part("index", shape[axis], index=k)


def _host_part(k: np.ndarray[Any, Any], axis: int, x: TensorBase) -> Part:
    if k.dtype == np.bool_:
        return _mask_part(type(x)(k, device=x.device), axis, x)
    if k.dtype.kind not in "iu":
        raise TypeError(f"an index is of an integer dtype, not {k.dtype}; cast it")
    n = x.shape[axis]
    bad = k[(k < -n) | (k >= n)]
    if bad.size:
        raise IndexError(f"index {bad[0]} of axis {axis} of {x.node.type}, which has {n} elements")
    return Part("index", n, index=type(x)(np.where(k < 0, k + n, k), index_dtype(n), device=x.device), checked=True)


def _mask_part(mask: TensorBase, axis: int, x: TensorBase) -> Part:
    axes = x.shape[axis : axis + mask.ndim]
    if mask.shape != axes:
        raise IndexError(f"a mask of {list(mask.shape)} for axes {axis}.. of {list(x.shape)}: sizes must be the same")
    return Part("mask", prod(axes), index=mask, axes=axes)


# ---------------------------------------------------------------------- basic indexing


def _is_whole(part: Part) -> bool:
    return part.kind in ("index", "mask") or (part.kind == "slice" and part.length == part.n and part.step == 1)


def _sized(parts: Sequence[Part]) -> list[Part]:
    """The parts that stand for axes of the tensor; a mask's axes are whole slices."""
    found: list[Part] = []
    for p in parts:
        if p.kind == "mask":
            found += [Part("slice", n, 0, n) for n in p.axes]
        elif p.kind != "new":
            found.append(p)
    return found


def cut(u: UOp, parts: Sequence[Part]) -> UOp:
    """What slices and integers leave of ``u``; axes of integers are gone, new ones are not there yet."""
    axes = _sized(parts)
    spans = [(0, p.n) if _is_whole(p) else (p.low, p.low + _span(p)) for p in axes]
    u = shrink(u, spans)
    u = flip(u, [a for a, p in enumerate(axes) if p.step < 0])
    for axis, p in enumerate(axes):
        by = abs(p.step)
        if by > 1:
            u = pad_axis(u, axis, 0, p.length * by - u.shape[axis])
            u = reshape(u, (*u.shape[:axis], p.length, by, *u.shape[axis + 1 :]))
            u = shrink_axis(u, axis + 1, 0, 1)
            u = reshape(u, (*u.shape[: axis + 1], *u.shape[axis + 2 :]))
    return reshape(u, [n for n, p in zip(u.shape, axes) if p.kind != "int"])


def place(u: UOp, parts: Sequence[Part]) -> UOp:
    """``u``, of the shape that ``cut`` gives, back where it was cut from, with 0 around it."""
    axes = _sized(parts)
    sizes = iter(u.shape)
    u = reshape(u, [1 if p.kind == "int" else next(sizes) for p in axes])
    for axis, p in enumerate(axes):
        by = abs(p.step)
        if by > 1:
            u = pad_axis(reshape(u, (*u.shape[: axis + 1], 1, *u.shape[axis + 1 :])), axis + 1, 0, by - 1)
            u = reshape(u, (*u.shape[:axis], p.length * by, *u.shape[axis + 2 :]))
            u = shrink_axis(u, axis, 0, _span(p))
    u = flip(u, [a for a, p in enumerate(axes) if p.step < 0])
    return pad(u, [(0, 0) if _is_whole(p) else (p.low, p.n - p.low - _span(p)) for p in axes])


def replaced(x: UOp, parts: Sequence[Part], u: UOp) -> UOp:
    """``x`` with ``u``, of the shape that ``cut`` gives, in place of what it cuts."""
    if u.numel == 0:
        return x
    if all(_is_whole(p) for p in _sized(parts)):
        return reshape(u, x.shape)
    inside = place(full(True, u.shape, _dtype.bool_), parts)
    return node("WHERE", (inside, place(u, parts), x))


def _span(p: Part) -> int:
    return 1 if p.kind == "int" else (p.length - 1) * abs(p.step) + 1 if p.length else 0


# ---------------------------------------------------------------------- index arrays


@dataclasses.dataclass(frozen=True)
class Layout:
    """How what ``cut`` gives is turned for its index arrays, and the shape of what they give."""

    order: tuple[int, ...]  # axes: those in front, those of the index arrays, those behind
    front: Shape
    indexed: Shape  # of the index arrays' axes (or the mask's)
    back: Shape
    shape: Shape  # of the result, new axes included, with ``index_shape`` in it
    index_shape: Shape


def layout_of(parts: Sequence[Part]) -> Layout:
    """Where the axes of the index arrays go: to where they stand, if they stand side by side (integers among them count
    as index arrays), else to the front."""
    arrays = [p for p in parts if p.kind in ("index", "mask")]
    among = ("index", "mask", "int") if arrays else ()
    places = [i for i, p in enumerate(parts) if p.kind in among]
    first = places[0] if places and places[-1] - places[0] == len(places) - 1 else 0
    axes = [p for p in parts if p.kind not in ("new", "int")]
    numbers: list[list[int]] = []  # the axes of each, in what `cut` gives
    count = 0
    for p in axes:
        numbers.append(list(range(count, count + (len(p.axes) if p.kind == "mask" else 1))))
        count = count + len(numbers[-1])
    in_front = {id(p) for p in parts[:first]}
    front = [(p, a) for p, a in zip(axes, numbers) if p.kind == "slice" and id(p) in in_front]
    inner = [(p, a) for p, a in zip(axes, numbers) if p.kind != "slice"]
    back = [(p, a) for p, a in zip(axes, numbers) if p.kind == "slice" and id(p) not in in_front]
    before = [1 if p.kind == "new" else p.length for p in parts[:first] if p.kind in ("new", "slice")]
    after = [1 if p.kind == "new" else p.length for p in parts[first:] if p.kind in ("new", "slice")]
    if any(p.kind == "mask" for p in arrays):
        index_shape: Shape = (1,)
    else:
        shapes = [p.index.shape for p in arrays if p.index is not None]
        try:
            index_shape = broadcast_shapes((), *shapes)
        except ValueError as error:
            raise IndexError(f"index arrays are broadcast together: {error}") from None
    return Layout(
        tuple(n for _, a in (*front, *inner, *back) for n in a),
        tuple(p.length for p, _ in front),
        tuple(n for p, _ in inner for n in (p.axes if p.kind == "mask" else (p.n,))),
        tuple(p.length for p, _ in back),
        (*before, *index_shape, *after),
        index_shape,
    )


def flat_index(parts: Sequence[Part], shape: Shape) -> UOp:
    """The place in the merged axes that the index arrays name, of ``shape``; outside of it where one of them is outside
    of its axis. Negative ones count from the end."""
    arrays = [(p, p.index.node) for p in parts if p.kind == "index" and p.index is not None]
    dtype = wide_dtype([u.dtype for _, u in arrays], prod([p.n for p, _ in arrays]))
    flat: UOp | None = None
    valid: UOp | None = None
    for p, u in arrays:
        own = u.shape
        i = cast(u, dtype)
        if not p.checked and u.dtype.is_signed:
            i = wrapped(i, p.n)
        if not p.checked and len(arrays) > 1:
            inside = node("AND", (node("CMPLE", (full(0, own, dtype), i)), node("CMPLT", (i, full(p.n, own, dtype)))))
            inside = broadcast_to(inside, shape)
            valid = inside if valid is None else node("AND", (valid, inside))
        i = broadcast_to(i, shape)
        flat = i if flat is None else node("ADD", (node("MUL", (flat, full(p.n, shape, dtype))), i))
    assert flat is not None
    return flat if valid is None else node("WHERE", (valid, flat, full(-1, shape, dtype)))


def wide_dtype(dtypes: Sequence[DType], n: int) -> DType:
    """The dtype to compute an index below ``n`` in: i32 unless it may be wider."""
    narrow = all(d.itemsize < 4 or d is _dtype.i32 for d in dtypes)
    return _dtype.i32 if narrow and n < 2**31 else _dtype.i64


def wrapped(index: UOp, n: int) -> UOp:
    """Negative indices counted from the end of an axis of ``n``."""
    shape, dtype = index.shape, index.dtype
    negative = node("CMPLT", (index, full(0, shape, dtype)))
    return node("WHERE", (negative, node("ADD", (index, full(n, shape, dtype))), index))


def _merged(u: UOp, at: Layout) -> UOp:
    """(front…, indexed, back…)."""
    return reshape(permute(u, at.order), (*at.front, prod(at.indexed), *at.back))


def _along(index: UOp, at: Layout) -> UOp:
    """The flat index for each element in front and behind."""
    n = index.numel
    line = reshape(index, (*(1 for _ in at.front), n, *(1 for _ in at.back)))
    return broadcast_to(line, (*at.front, n, *at.back))


def gather_parts(u: UOp, parts: Sequence[Part]) -> UOp:
    """What a key gives of ``u``."""
    at = layout_of(parts)
    u = cut(u, parts)
    if any(p.kind == "mask" for p in parts):
        raise TypeError(_MASK_READ)
    if any(p.kind == "index" for p in parts):
        index = _along(flat_index(parts, at.index_shape), at)
        u = node("GATHER", (_merged(u, at), index), value=len(at.front))
    return reshape(u, at.shape)


def _expands(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(m in (1, n) for m, n in zip(shape[::-1], to[::-1]))


def scatter_parts(x: UOp, parts: Sequence[Part], value: UOp) -> UOp:
    """``x`` with ``value``, of x's dtype, where a key says; of two values for one element the later one stays."""
    at = layout_of(parts)
    masks = [p for p in parts if p.kind == "mask"]
    if masks and (len(masks) > 1 or any(p.kind == "index" for p in parts)):
        raise TypeError("a mask does not go with other masks or index arrays; combine them by & and where")
    while len(value.shape) > len(at.shape) and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    if not _expands(value.shape, at.shape):
        hint = "; how many elements a mask selects is not known: there the value has 1" if masks else ""
        raise ValueError(f"{value.type} does not broadcast to {list(at.shape)}, which is assigned to{hint}")
    value = broadcast_to(value, at.shape)
    if not masks and not any(p.kind == "index" for p in parts):
        return replaced(x, parts, reshape(value, [p.length for p in parts if p.kind == "slice"]))
    old = cut(x, parts)
    turned = permute(old, at.order)
    if masks:
        assert masks[0].index is not None
        mask = masks[0].index.node
        ones = (1,) * len(mask.shape)
        each = broadcast_to(reshape(value, (*at.front, *ones, *at.back)), turned.shape)
        mask = broadcast_to(reshape(mask, (*(1 for _ in at.front), *mask.shape, *(1 for _ in at.back))), turned.shape)
        new = node("WHERE", (mask, each, turned))
    else:
        index = _along(flat_index(parts, at.index_shape), at)
        new = node("SCATTER", (_merged(old, at), index, reshape(value, index.shape)), value=len(at.front))
        new = reshape(new, turned.shape)
    back = [at.order.index(a) for a in range(len(at.order))]
    return replaced(x, parts, permute(new, back))
