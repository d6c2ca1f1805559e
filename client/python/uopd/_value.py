"""Formulas over nodes: a ``Value`` is a node with Python's operators, so that a function reads as in a book.

All values of one formula have one shape and, but for conditions, one dtype; a number stands for the constant of that
dtype. Differences and negations are SUB and NEG.
"""
from __future__ import annotations

from typing import Sequence, Union

from uopd import _dtype
from uopd._build import Number, full
from uopd._build import cast as cast_node
from uopd._dtype import DType
from uopd._graph import UOp, node


class Value:
    """A node in a formula."""

    __slots__ = ("u",)

    def __init__(self, u: UOp) -> None:
        self.u = u

    @property
    def dtype(self) -> DType:
        return self.u.dtype

    def unary(self, op: str) -> Value:
        return Value(node(op, (self.u,)))

    def of(self, other: Operand) -> UOp:
        """The node of an operand beside this value."""
        return other.u if isinstance(other, Value) else full(other, self.u.shape, self.u.dtype)

    def binary(self, op: str, other: Operand) -> Value:
        return Value(node(op, (self.u, self.of(other))))

    def reversed(self, op: str, other: Operand) -> Value:
        return Value(node(op, (self.of(other), self.u)))

    def __add__(self, other: Operand) -> Value:
        return self.binary("ADD", other)

    def __radd__(self, other: Number) -> Value:
        return self.reversed("ADD", other)

    def __sub__(self, other: Operand) -> Value:
        return self.binary("SUB", other)

    def __rsub__(self, other: Number) -> Value:
        return self.reversed("SUB", other)

    def __mul__(self, other: Operand) -> Value:
        return self.binary("MUL", other)

    def __rmul__(self, other: Number) -> Value:
        return self.reversed("MUL", other)

    def __truediv__(self, other: Operand) -> Value:
        return self.binary("DIV", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.reversed("DIV", other)

    def __neg__(self) -> Value:
        return self.unary("NEG")

    def __abs__(self) -> Value:
        return self.unary("ABS")

    def __invert__(self) -> Value:
        return self.unary("NOT")

    def __and__(self, other: Operand) -> Value:
        return self.binary("AND", other)

    def __or__(self, other: Operand) -> Value:
        return self.binary("OR", other)

    def __xor__(self, other: Operand) -> Value:
        return self.binary("XOR", other)

    def __lt__(self, other: Operand) -> Value:
        return self.binary("CMPLT", other)

    def __le__(self, other: Operand) -> Value:
        return self.binary("CMPLE", other)

    def __gt__(self, other: Operand) -> Value:
        return self.reversed("CMPLT", other)

    def __ge__(self, other: Operand) -> Value:
        return self.reversed("CMPLE", other)

    def equals(self, other: Operand) -> Value:
        return self.binary("CMPEQ", other)

    def differs(self, other: Operand) -> Value:
        return self.binary("CMPNE", other)

    def is_nan(self) -> Value:
        return self.differs(self)

    def reciprocal(self) -> Value:
        return self.unary("RECIPROCAL")

    def sqrt(self) -> Value:
        return self.unary("SQRT")

    def exp2(self) -> Value:
        return self.unary("EXP2")

    def log2(self) -> Value:
        return self.unary("LOG2")

    def sin(self) -> Value:
        return self.unary("SIN")

    def floor(self) -> Value:
        return self.unary("FLOOR")

    def trunc(self) -> Value:
        return self.unary("TRUNC")

    def round(self) -> Value:
        return self.unary("ROUND")

    def detach(self) -> Value:
        """The same; gradients do not pass."""
        return self.unary("DETACH")

    def cast(self, dtype: DType) -> Value:
        return Value(cast_node(self.u, dtype))

    def bits(self) -> Value:
        """A float's pattern as the signed integer of its size; gradients do not pass."""
        to = {2: _dtype.i16, 4: _dtype.i32, 8: _dtype.i64}[self.dtype.itemsize]
        return Value(node("BITCAST", (self.u,), dtype=to))

    def from_bits(self, dtype: DType) -> Value:
        return Value(node("BITCAST", (self.u,), dtype=dtype))

    def signbit(self) -> Value:
        """Whether a float's sign is minus, that of -0.0 and of a NaN included."""
        return self.bits() < 0


Operand = Union[Value, Number]


def where(condition: Value, a: Operand, b: Operand) -> Value:
    """``a`` where the condition holds, else ``b``; one of them is a Value."""
    beside = a if isinstance(a, Value) else b
    assert isinstance(beside, Value)
    return Value(node("WHERE", (condition.u, beside.of(a), beside.of(b))))


def constant_like(x: Value, number: Number) -> Value:
    return Value(x.of(number))


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """c[0] + c[1] x + c[2] x^2 + …, by Horner's rule."""
    p = x * coefficients[-1]
    for c in coefficients[-2:0:-1]:
        p = (p + c) * x
    return p + coefficients[0]
