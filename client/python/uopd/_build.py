"""Small nodes that all of the library is made of: constants, broadcasting, casts."""
from __future__ import annotations

import math
from typing import Sequence

from uopd import _dtype
from uopd._dtype import DType
from uopd._graph import Shape, UOp, node

Number = float | int | bool


def constant(value: Number, dtype: DType) -> UOp:
    return node("CONST", dtype=dtype, bits=_dtype.bits_of(value, dtype))


def reshape(u: UOp, shape: Sequence[int]) -> UOp:
    shape = tuple(shape)
    return u if shape == u.shape else node("RESHAPE", (u,), ints=shape)


def broadcast_to(u: UOp, shape: Shape) -> UOp:
    """``u`` with axes of size 1 repeated and new axes in front. Requires: it broadcasts to ``shape``."""
    if u.shape == shape:
        return u
    grown = reshape(u, (1,) * (len(shape) - len(u.shape)) + u.shape)
    return grown if grown.shape == shape else node("EXPAND", (grown,), ints=shape)


def full(value: Number, shape: Shape, dtype: DType) -> UOp:
    return broadcast_to(constant(value, dtype), shape)


def cast(u: UOp, dtype: DType) -> UOp:
    return u if u.dtype is dtype else node("CAST", (u,), dtype=dtype)


def permute(u: UOp, order: Sequence[int]) -> UOp:
    return u if list(order) == list(range(len(u.shape))) else node("PERMUTE", (u,), ints=order)


def base_buffer(u: UOp) -> UOp | None:
    """The BUFFER whose elements are those of ``u`` in order, if there is one."""
    while u.op == "RESHAPE":
        u = u.src[0]
    return u if u.op == "BUFFER" else None


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to, as in NumPy: aligned at the last axis, 1 gives way."""
    rank = max(map(len, shapes))
    result = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n != 1:
                if result[i] not in (1, n):
                    text = " and ".join(str(list(s)) for s in shapes)
                    raise ValueError(f"shapes {text} do not broadcast: axis {i - rank} is {result[i]} and {n}; one of "
                                     "them must be 1")  # fmt: skip
                result[i] = n
    return tuple(result)


def normal_axis(axis: int, rank: int) -> int:
    """``axis`` counted from the start. Raises IndexError where there is no such axis."""
    if not -rank <= axis < rank:
        raise IndexError(f"axis {axis} of a tensor of {rank} axes; it has {-rank}..{rank - 1}" if rank else
                         f"axis {axis} of a tensor without axes")  # fmt: skip
    return axis % rank


def normal_axes(axes: int | Sequence[int] | None, rank: int) -> list[int]:
    """``axes`` counted from the start and sorted; None: all. Raises ValueError where one is named twice."""
    if axes is None:
        return list(range(rank))
    normal = sorted(normal_axis(a, rank) for a in ([axes] if isinstance(axes, int) else axes))
    if len(set(normal)) != len(normal):
        raise ValueError(f"axes {axes} name one axis twice")
    return normal


def prod(numbers: Sequence[int]) -> int:
    return math.prod(numbers)
