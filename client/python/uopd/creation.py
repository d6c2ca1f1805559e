"""Tensors made of nothing but a shape: constants and ranges, which are computed where they are read.

``shape`` is a sequence, or numbers one by one (``zeros(2, 3)``). Without ``dtype``, ints make i32 (i64 where they do
not fit) and floats f32. None of these is in memory before it is realized, so zeros cost nothing where they are read.
"""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import Number, broadcast_shapes, broadcast_to, cast, constant, reshape
from uopd._build import full as full_node
from uopd._dtype import DType, DTypeLike, dtype_of
from uopd._graph import UOp, node
from uopd._leaves import computed
from uopd._movement import sizes
from uopd._tensor import Tensor
from uopd._views import index_dtype
from uopd.device import Device, default_device


def _made(u: UOp, device: Device | None, requires_grad: bool) -> Tensor:
    device = device or default_device()
    if requires_grad:  # equal nodes are one, so a parameter needs a buffer of its own
        flat = computed(reshape(u, (u.numel,)), u.shape, device)
        return Tensor._of(flat, device, requires_grad=True)
    return Tensor._of(u, device)


def tensor(
    data: Any, dtype: DTypeLike | None = None, *, requires_grad: bool = False, device: Device | None = None
) -> Tensor:
    """A tensor of numbers, nested lists or arrays; see Tensor."""
    return Tensor(data, dtype, requires_grad=requires_grad, device=device)


def from_numpy(array: np.ndarray[Any, Any], *, device: Device | None = None) -> Tensor:
    """The elements of a NumPy array, in its dtype."""
    return Tensor(np.asarray(array), device=device)


def full(
    shape: int | Sequence[int],
    value: Number,
    dtype: DTypeLike | None = None,
    *,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    """``value`` everywhere."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = dtype_of(dtype) if dtype is not None else _dtype_of_numbers(value)
    return _made(full_node(value, tuple(sizes([shape])), kind), device, requires_grad)


def zeros(
    *shape: int | Sequence[int],
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    return full(sizes(shape), 0, dtype, requires_grad=requires_grad, device=device)


def ones(
    *shape: int | Sequence[int],
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    return full(sizes(shape), 1, dtype, requires_grad=requires_grad, device=device)


#: Memory is never seen before it is written: an empty tensor is one of zeros.
empty = zeros


def full_like(x: TensorBase, value: Number, dtype: DTypeLike | None = None, *, requires_grad: bool = False) -> Tensor:
    """``value`` everywhere, in the shape and (without ``dtype``) the dtype of ``x``, where ``x`` lives."""
    return full(x.shape, value, dtype or x.dtype, requires_grad=requires_grad, device=x.device)


def zeros_like(x: TensorBase, dtype: DTypeLike | None = None, *, requires_grad: bool = False) -> Tensor:
    return full_like(x, 0, dtype, requires_grad=requires_grad)


def ones_like(x: TensorBase, dtype: DTypeLike | None = None, *, requires_grad: bool = False) -> Tensor:
    return full_like(x, 1, dtype, requires_grad=requires_grad)


empty_like = zeros_like


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    """The n x m matrix with 1 on its diagonal, 0 elsewhere."""
    m = n if m is None else m
    rows, columns = (_range(k, index_dtype(max(n, m))) for k in (n, m))
    same = node("CMPEQ", (broadcast_to(reshape(rows, (n, 1)), (n, m)), broadcast_to(reshape(columns, (1, m)), (n, m))))
    return _made(cast(same, dtype_of(dtype)), device, requires_grad)


def arange(
    start: Number,
    stop: Number | None = None,
    step: Number = 1,
    *,
    dtype: DTypeLike | None = None,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    """start, start + step, … as long as they are before ``stop``; ``arange(n)`` is 0..n-1. Floats are computed in f64
    and rounded once."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange by a step of 0 has no end")
    numbers = (start, stop, step)
    kind = dtype_of(dtype) if dtype is not None else _dtype_of_numbers(*numbers)
    whole = all(isinstance(n, (int, np.integer)) for n in numbers)
    if whole:
        n = len(range(int(start), int(stop), int(step)))
    else:
        n = max(0, math.ceil((stop - start) / step))
    wide = kind if whole and kind.is_integer else _dtype.f64
    if step < 0 and kind.kind is _dtype.Kind.UNSIGNED:
        wide = _dtype.i64
    u = _range(n, wide)
    if n and step != 1:
        u = node("MUL", (u, full_node(int(step) if whole else step, (n,), wide)))
    if n and start != 0:
        u = node("ADD", (u, full_node(int(start) if whole else start, (n,), wide)))
    return _made(cast(u, kind), device, requires_grad)


def linspace(
    start: Tensor | Number,
    stop: Tensor | Number,
    num: int = 50,
    *,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    requires_grad: bool = False,
    device: Device | None = None,
) -> Tensor:
    """``num`` values from ``start`` to ``stop`` (inclusive, if ``endpoint``), evenly spaced, along a new first axis.
    Both ends are exact: start + i * step is computed in f64 and rounded once, and the last one is ``stop``. An integer
    dtype rounds down. ``start`` and ``stop`` may be tensors, through which gradients pass."""
    if num < 0:
        raise ValueError(f"linspace takes a number of values, not {num}")
    ends = [x for x in (start, stop) if isinstance(x, TensorBase)]
    kind = dtype_of(dtype) if dtype is not None else next((x.dtype for x in ends if x.dtype.is_float), _dtype.f32)
    a, b = (cast(x.node, _dtype.f64) if isinstance(x, TensorBase) else constant(float(x), _dtype.f64)
            for x in (start, stop))  # fmt: skip
    shape = broadcast_shapes(a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    steps = num - 1 if endpoint else num
    whole = (num, *shape)
    index = broadcast_to(reshape(_range(num, _dtype.f64), (num, *(1 for _ in shape))), whole)
    step = node("DIV", (node("SUB", (b, a)), full_node(float(max(steps, 1)), shape, _dtype.f64)))
    u = node("ADD", (broadcast_to(a, whole), node("MUL", (index, broadcast_to(step, whole)))))
    if endpoint and num > 1:
        last = node("CMPEQ", (index, full_node(float(steps), whole, _dtype.f64)))
        u = node("WHERE", (last, broadcast_to(b, whole), u))
    if kind.is_integer:
        u = node("FLOOR", (u,))
    u = cast(u, kind)
    return ends[0]._make(u, *ends) if ends else _made(u, device, requires_grad)


def _range(n: int, dtype: DType) -> UOp:
    return node("IOTA", dtype=dtype, ints=(n,))


def _dtype_of_numbers(*numbers: Number) -> DType:
    """What Python's numbers become: f32 if one is a float, bool of bools, else i32, or i64 where they do not fit."""
    if any(isinstance(n, (float, np.floating)) for n in numbers):
        return _dtype.f32
    if all(isinstance(n, (bool, np.bool_)) for n in numbers):
        return _dtype.bool_
    return _dtype.i32 if all(-(2**31) <= n < 2**31 for n in numbers) else _dtype.i64
