"""Comparisons, which give bool tensors, what is chosen by them, and the operators of bits and of logic."""
from __future__ import annotations

import math
from typing import Self

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import constant
from uopd._elementwise import ElementwiseOps, Operand, is_number
from uopd._value import Value
from uopd._value import where as choose


class LogicOps(ElementwiseOps):
    """The comparisons and bitwise operators of Tensor."""

    __slots__ = ()

    # ------------------------------------------------------------------ comparisons

    def __lt__(self, other: Operand) -> Self:
        return self._binary("CMPLT", other)

    def __le__(self, other: Operand) -> Self:
        return self._binary("CMPLE", other)

    def __gt__(self, other: Operand) -> Self:
        return self._binary("CMPLT", other, reverse=True)

    def __ge__(self, other: Operand) -> Self:
        return self._binary("CMPLE", other, reverse=True)

    def __eq__(self, other: Operand) -> Self:  # type: ignore[override]
        return self._binary("CMPEQ", other)

    def __ne__(self, other: Operand) -> Self:  # type: ignore[override]
        return self._binary("CMPNE", other)

    __hash__ = TensorBase.__hash__

    lt, le, gt, ge, eq, ne = __lt__, __le__, __gt__, __ge__, __eq__, __ne__

    def maximum(self, other: Operand) -> Self:
        """The greater of two; NaN if one is. Its gradient goes to the greater, half to each where they are equal."""
        return self._binary("MAX", other)

    def minimum(self, other: Operand) -> Self:
        """The smaller of two; NaN if one is. Its gradient goes to the smaller, half to each where they are equal."""
        return self._binary("MIN", other)

    def clip(self, min: Operand | None = None, max: Operand | None = None) -> Self:  # noqa: A002
        """min(max(x, min), max): NaN stays, and ``max`` wins where it is below ``min``. The gradient is as of
        ``maximum`` and ``minimum``: 0 outside, half at a bound."""
        x = self if min is None else self.maximum(min)
        return x if max is None else x.minimum(max)

    clamp = clip

    def isnan(self) -> Self:
        return self._binary("CMPNE", self)

    def isinf(self) -> Self:
        """Whether infinite; never, of integers."""
        if not self.dtype.is_float:
            return self._binary("CMPNE", self)
        return self._unary("ABS")._binary("CMPEQ", math.inf)

    def isfinite(self) -> Self:
        """Whether neither infinite nor NaN; always, of integers."""
        if not self.dtype.is_float:
            return self._binary("CMPEQ", self)
        return self._unary("ABS")._binary("CMPLT", math.inf)

    def signbit(self) -> Self:
        """Whether the sign is minus: that of -0.0 and of a NaN too."""
        if not self.dtype.is_float:
            return self._binary("CMPLT", 0) if self.dtype is not _dtype.bool_ else self._binary("CMPNE", self)
        return self._make(Value(self.node).signbit().u)

    def copysign(self, other: Operand) -> Self:
        """|x| with the sign of ``other``."""
        both = self._operands(other, _dtype.float_dtype)
        return self._make(choose(both[0].signbit() ^ both[1].signbit(), -both[0], both[0]).u, *both[2])

    def heaviside(self, values: Operand) -> Self:
        """0 below 0, 1 above, ``values`` at 0; NaN stays."""
        x, v, inputs = self._operands(values, _dtype.arithmetic_dtype)
        rest = choose(x < 0, 0, choose(x > 0, 1, x))
        return self._make(choose(x.equals(0), v, rest).u, *inputs)

    # ------------------------------------------------------------------ bits and logic

    def __and__(self, other: Operand) -> Self:
        return self._bitwise("AND", other)

    def __or__(self, other: Operand) -> Self:
        return self._bitwise("OR", other)

    def __xor__(self, other: Operand) -> Self:
        return self._bitwise("XOR", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __iand__(self, other: Operand) -> Self:
        return self._in_place(self & other)

    def __ior__(self, other: Operand) -> Self:
        return self._in_place(self | other)

    def __ixor__(self, other: Operand) -> Self:
        return self._in_place(self ^ other)

    def _bitwise(self, op: str, other: Operand) -> Self:
        if isinstance(other, (bool, np.bool_)) and self.dtype is _dtype.bool_:
            other = self._wrap(np.asarray(other))
        return self._binary(op, other)

    def __invert__(self) -> Self:
        """Of a bool not, of an integer all bits turned."""
        return self._unary("NOT")

    def __lshift__(self, other: Operand) -> Self:
        """Shifted left; by the width or more, or by a negative amount, 0."""
        return self._arithmetic("SHL", other)

    def __rlshift__(self, other: Operand) -> Self:
        return self._arithmetic("SHL", other, reverse=True)

    def __ilshift__(self, other: Operand) -> Self:
        return self._in_place(self << other)

    def __rshift__(self, other: Operand) -> Self:
        """Shifted right, with the sign of a signed one; by the width or more, or by a negative amount, 0 (or the
        sign)."""
        return self._arithmetic("SHR", other)

    def __rrshift__(self, other: Operand) -> Self:
        return self._arithmetic("SHR", other, reverse=True)

    def __irshift__(self, other: Operand) -> Self:
        return self._in_place(self >> other)

    def logical_not(self) -> Self:
        return ~self.bool()

    def logical_and(self, other: Operand) -> Self:
        """Whether both are not 0."""
        return self.bool() & self._truth(other)

    def logical_or(self, other: Operand) -> Self:
        """Whether one is not 0."""
        return self.bool() | self._truth(other)

    def logical_xor(self, other: Operand) -> Self:
        """Whether just one is not 0."""
        return self.bool() ^ self._truth(other)

    def _truth(self, other: Operand) -> Self:
        if is_number(other):
            return self._make(constant(other != 0, _dtype.bool_))
        return self._wrap(other).bool()  # type: ignore[arg-type]
