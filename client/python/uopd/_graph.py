"""The graph: nodes as the server knows them, interned, with the rules of their shapes.

A ``UOp`` is immutable and equal nodes are one object, so that "the same value" is ``is``. Nodes are held by what uses
them (weakly by the table), so a value that nobody needs any more is gone, and with it the buffers it read.
"""
from __future__ import annotations

import math
import os
import sys
import types
import weakref
from typing import Any, Callable, Iterable, Iterator, Sequence

from uopd import _dtype
from uopd._dtype import DType

Shape = tuple[int, ...]

#: Number of each op on the wire: the table is core/ir/ops.inc.
OPS = {
    "BUFFER": 1, "CONST": 2, "IOTA": 3, "VARIABLE": 4,
    "RESHAPE": 10, "PERMUTE": 11, "EXPAND": 12, "PAD": 13, "SHRINK": 14, "FLIP": 15,
    "REDUCE": 20, "STAGE": 30, "DETACH": 31, "GRADIENT": 32, "GATHER": 40, "SCATTER": 41,
    "CAST": 100, "BITCAST": 101, "NEG": 102, "NOT": 103, "ABS": 104, "RECIPROCAL": 105, "SQRT": 106, "EXP2": 107,
    "LOG2": 108, "SIN": 109, "TRUNC": 110, "FLOOR": 111, "CEIL": 112, "ROUND": 113,
    "ADD": 120, "SUB": 121, "MUL": 122, "DIV": 123, "MOD": 124, "FLOORDIV": 125, "FLOORMOD": 126, "MAX": 127,
    "MIN": 128, "AND": 129, "OR": 130, "XOR": 131, "SHL": 132, "SHR": 133, "CMPLT": 134, "CMPLE": 135, "CMPEQ": 136,
    "CMPNE": 137, "WHERE": 150,
}  # fmt: skip

#: Dtypes of the operands of elementwise ops: B bool, I integers, F floats.
KINDS = {
    "CAST": "BIF", "BITCAST": "BIF", "NEG": "IF", "NOT": "BI", "ABS": "IF", "RECIPROCAL": "F", "SQRT": "F",
    "EXP2": "F", "LOG2": "F", "SIN": "F", "TRUNC": "F", "FLOOR": "F", "CEIL": "F", "ROUND": "F",
    "ADD": "IF", "SUB": "IF", "MUL": "IF", "DIV": "IF", "MOD": "I", "FLOORDIV": "I", "FLOORMOD": "I", "MAX": "BIF",
    "MIN": "BIF", "AND": "BI", "OR": "BI", "XOR": "BI", "SHL": "I", "SHR": "I", "CMPLT": "BIF", "CMPLE": "BIF",
    "CMPEQ": "BIF", "CMPNE": "BIF", "WHERE": "BIF",
}  # fmt: skip
_COMPARISONS = frozenset(("CMPLT", "CMPLE", "CMPEQ", "CMPNE"))
_REDUCTIONS = frozenset(("ADD", "MUL", "MAX", "MIN"))
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

#: Most elements of a tensor, and most axes: the server's limits.
MAX_ELEMENTS = 1 << 56
MAX_AXES = 32


class UOp:
    """A node: an op on sources, and what it gives. Fields are those of the Node message; ``shape`` and ``dtype`` are of
    the result. ``buffer`` is what a BUFFER reads. Make nodes with ``node``; equal ones are one object."""

    __slots__ = ("op", "src", "dtype", "shape", "ints", "value", "bits", "reduce", "buffer", "origin", "code", "line",
                 "__weakref__")  # fmt: skip

    op: str
    src: tuple[UOp, ...]
    dtype: DType
    shape: Shape
    ints: tuple[int, ...]
    value: int
    bits: int
    reduce: str
    buffer: Any
    #: Of a BUFFER that holds what another node was: that node, if gradients have to pass through it.
    origin: UOp | None
    code: types.CodeType | None
    line: int

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def where(self) -> str:
        """The line of the user's code that made the node: "train.py:12 in step"."""
        if self.code is None:
            return "an unknown place"
        return f"{self.code.co_filename}:{self.line} in {self.code.co_name}"

    def text(self, name_of: Callable[[UOp], str]) -> str:
        """The node in the server's listing: "REDUCE(%1) op=MAX axes=1 : f32[4]"."""
        fields = "".join(f" {k}={v}" for k, v in self._fields())
        return f"{self.op}{'(' + ', '.join(map(name_of, self.src)) + ')' if self.src else ''}{fields} : {self.type}"

    @property
    def type(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        return self.text(lambda s: s.type)

    def _fields(self) -> Iterator[tuple[str, object]]:
        numbers = "[" + ",".join(map(str, self.ints)) + "]"
        if self.op == "BUFFER":
            yield "size", self.ints[0]
        elif self.op == "CONST":
            yield "value", _dtype.value_of_bits(self.bits, self.dtype)
        elif self.op == "IOTA":
            yield "n", self.ints[0]
        elif self.op == "VARIABLE":
            yield from (("slot", self.value), ("min", self.ints[0]), ("max", self.ints[1]))
        elif self.op == "REDUCE":
            yield from (("op", self.reduce), ("axes", self.value))
        elif self.op in ("GATHER", "SCATTER"):
            if self.reduce:
                yield "op", self.reduce
            yield "axis", self.value
        elif self.op in _LISTS:
            yield _LISTS[self.op], numbers


_LISTS = {"RESHAPE": "shape", "EXPAND": "shape", "PERMUTE": "order", "PAD": "before_after", "SHRINK": "begin_end",
          "FLIP": "flags"}  # fmt: skip

_table: weakref.WeakValueDictionary[tuple[Any, ...], UOp] = weakref.WeakValueDictionary()


def node(
    op: str,
    src: tuple[UOp, ...] = (),
    *,
    dtype: DType | None = None,
    ints: Sequence[int] = (),
    value: int = 0,
    bits: int = 0,
    reduce: str = "",
    buffer: Any = None,
) -> UOp:
    """The node of these fields. Raises ValueError or TypeError, which say what the op takes, where they do not fit."""
    ints = tuple(ints)
    key = (op, src, dtype, ints, value, bits, reduce, None if buffer is None else id(buffer))
    known = _table.get(key)
    if known is not None:
        return known
    made = UOp()
    made.op, made.src, made.ints, made.value, made.bits, made.reduce = op, src, ints, value, bits, reduce
    made.buffer = buffer
    made.origin = None
    made.dtype, made.shape = _infer(op, src, dtype, ints, value, reduce)
    if len(made.shape) > MAX_AXES:
        raise ValueError(f"a tensor of {len(made.shape)} axes is over the limit of {MAX_AXES}; merge axes by reshape")
    if math.prod(made.shape) > MAX_ELEMENTS:
        raise ValueError(f"shape {list(made.shape)} has more than 2^56 elements; split the tensor")
    made.code, made.line = _caller()
    _table[key] = made
    return made


def _caller() -> tuple[types.CodeType | None, int]:
    """Where the user's code is: the first frame outside of this package."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno) if frame is not None else (None, 0)


def _infer(
    op: str, src: tuple[UOp, ...], dtype: DType | None, ints: tuple[int, ...], value: int, reduce: str
) -> tuple[DType, Shape]:
    if op in KINDS:
        return _infer_elementwise(op, src, dtype)
    x = src[0] if src else None
    if op in ("BUFFER", "IOTA"):
        assert dtype is not None
        if op == "IOTA" and dtype is _dtype.bool_:
            raise TypeError("a range counts in numbers, not in bool")
        return dtype, (ints[0],)
    if op in ("CONST", "VARIABLE"):
        assert dtype is not None
        return dtype, ()
    assert x is not None
    if op in _LISTS:
        return x.dtype, _infer_movement(op, x.shape, ints)
    if op == "REDUCE":
        return x.dtype, _infer_reduce(x, value, reduce)
    if op in ("STAGE", "DETACH"):
        return x.dtype, x.shape
    if op == "GRADIENT":
        if not x.dtype.is_float or x.numel != 1:
            raise ValueError(f"a gradient is of a loss of one float element, not of {x.type}; sum or mean it first")
        if not src[1].dtype.is_float:
            raise TypeError(f"a gradient is by a float tensor, not by {src[1].type}; cast it")
        return src[1].dtype, src[1].shape
    return _infer_indexed(op, src, value, reduce)


def _infer_elementwise(op: str, src: tuple[UOp, ...], dtype: DType | None) -> tuple[DType, Shape]:
    last = src[-1]
    operands = src
    if op == "WHERE":
        if src[0].dtype is not _dtype.bool_:
            raise TypeError(f"WHERE takes a bool condition, not {src[0].type}")
        operands = src[1:]
    for s in operands:
        if s.dtype is not last.dtype:
            raise TypeError(f"{op} takes operands of one dtype; got {', '.join(o.type for o in src)}; cast them")
    kind = "I" if last.dtype.is_integer else last.dtype.kind.value
    if kind not in KINDS[op]:
        raise TypeError(f"{op} does not take {last.dtype.name}; cast it")
    for s in src:
        if s.shape != last.shape:
            raise ValueError(f"{op} takes operands of one shape; got {', '.join(o.type for o in src)}")
    if op in ("CAST", "BITCAST"):
        assert dtype is not None
        if op == "BITCAST" and dtype.itemsize != last.dtype.itemsize:
            raise TypeError(f"a bitcast keeps the size: {last.dtype.name} has {last.dtype.itemsize} bytes, {dtype.name} "
                            f"has {dtype.itemsize}; use cast")  # fmt: skip
        return dtype, last.shape
    return (_dtype.bool_ if op in _COMPARISONS else last.dtype), last.shape


def _infer_movement(op: str, shape: Shape, ints: tuple[int, ...]) -> Shape:
    rank = len(shape)
    if op == "RESHAPE":
        if any(n < 0 for n in ints) or math.prod(ints) != math.prod(shape):
            raise ValueError(f"a reshape keeps the number of elements: {list(shape)} has {math.prod(shape)}, "
                             f"{list(ints)} has {math.prod(ints)}")  # fmt: skip
        return ints
    if len(ints) != rank * (2 if op in ("PAD", "SHRINK") else 1):
        raise ValueError(f"{op} of a tensor of {rank} axes got {len(ints)} numbers: {list(ints)}")
    if op == "EXPAND":
        for axis, (old, new) in enumerate(zip(shape, ints)):
            if old != new and (old != 1 or new < 0):
                raise ValueError(f"axis {axis} of {list(shape)} is {old} and cannot be expanded to {new}: only an axis "
                                 "of size 1 can")  # fmt: skip
        return ints
    if op == "PERMUTE":
        if sorted(ints) != list(range(rank)):
            raise ValueError(f"permute takes each axis 0..{rank - 1} once; got {list(ints)}")
        return tuple(shape[i] for i in ints)
    if op == "PAD":
        if any(n < 0 for n in ints):
            raise ValueError(f"padding adds elements; got {list(ints)}; shrink removes them")
        return tuple(n + ints[2 * i] + ints[2 * i + 1] for i, n in enumerate(shape))
    if op == "SHRINK":
        for i, n in enumerate(shape):
            if not 0 <= ints[2 * i] <= ints[2 * i + 1] <= n:
                raise ValueError(f"shrink takes 0 <= begin <= end <= size: axis {i} of {list(shape)} has "
                                 f"{ints[2 * i]}..{ints[2 * i + 1]}")  # fmt: skip
        return tuple(ints[2 * i + 1] - ints[2 * i] for i in range(rank))
    return shape  # FLIP


def _infer_reduce(x: UOp, axes: int, reduce: str) -> Shape:
    assert reduce in _REDUCTIONS and 0 <= axes <= len(x.shape)
    kind = "I" if x.dtype.is_integer else x.dtype.kind.value
    if kind not in KINDS[reduce]:
        raise TypeError(f"a reduction by {reduce} does not take {x.dtype.name}; cast it")
    kept = x.shape[: len(x.shape) - axes]
    if reduce in ("MAX", "MIN") and x.numel == 0 and math.prod(kept) > 0:
        raise ValueError(f"a {reduce} over no elements (of {list(x.shape)}) has no value; pad, or test the size first")
    return kept


def _infer_indexed(op: str, src: tuple[UOp, ...], axis: int, reduce: str) -> tuple[DType, Shape]:
    x, index = src[0], src[1]
    if not index.dtype.is_integer:
        raise TypeError(f"an index is of an integer dtype, not {index.dtype.name}; cast it")
    if len(index.shape) != len(x.shape) or any(
        i != axis and n != x.shape[i] for i, n in enumerate(index.shape)
    ):
        raise ValueError(f"the index {index.type} along axis {axis} of {x.type}: all other axes must be the same")
    if op == "GATHER":
        return x.dtype, index.shape
    if src[2].dtype is not x.dtype or src[2].shape != index.shape:
        raise ValueError(f"a scatter takes a source of the base's dtype and the index's shape: {x.dtype.name}"
                         f"{list(index.shape)}, not {src[2].type}")  # fmt: skip
    if reduce and x.dtype is _dtype.bool_:
        raise TypeError("a scatter that adds does not take bool; cast it")
    return x.dtype, x.shape


def toposort(roots: Iterable[UOp]) -> list[UOp]:
    """All nodes under ``roots``, each once, sources first: depth-first, sources from left to right. No recursion."""
    order: list[UOp] = []
    done: set[UOp] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            u, leave = stack.pop()
            if leave:
                order.append(u)
            elif u not in done:
                done.add(u)
                stack.append((u, True))
                stack.extend((s, False) for s in reversed(u.src))
    return order


def substitute(roots: Sequence[UOp], replacement: Callable[[UOp], UOp | None]) -> list[UOp]:
    """``roots`` with some nodes replaced; ``replacement`` answers None for the others. What a replacement reads is not
    looked into."""
    made: dict[UOp, UOp] = {}
    for u in toposort(roots):
        other = replacement(u)
        if other is None:
            src = tuple(made[s] for s in u.src)
            other = u if all(a is b for a, b in zip(src, u.src)) else with_src(u, src)
        made[u] = other
    return [made[r] for r in roots]


def with_src(u: UOp, src: tuple[UOp, ...]) -> UOp:
    """The same op on other sources."""
    dtype = u.dtype if u.op in ("CAST", "BITCAST") or not u.src else None
    made = node(u.op, src, dtype=dtype, ints=u.ints, value=u.value, bits=u.bits, reduce=u.reduce, buffer=u.buffer)
    made.code, made.line = u.code, u.line
    return made


def listing(roots: Sequence[UOp]) -> str:
    """The text form of the graph, as ``uop explain`` reads and prints it; slots are counted in order."""
    names: dict[UOp, str] = {}
    lines = []
    slots = 0
    for u in toposort(roots):
        text = u.text(names.__getitem__)
        if u.op == "BUFFER":
            text = text.replace("BUFFER", f"BUFFER slot={slots}", 1)
            slots += 1
        names[u] = f"%{len(names)}"
        lines.append(f"{names[u]} = {text}\n")
    return "".join(lines) + "return " + ", ".join(names[r] for r in roots) + "\n"
