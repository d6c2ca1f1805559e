"""Division that rounds: ``//``, ``%``, divmod, and the truncating pair of C.

Of integers these are ops of the server: by zero gives 0, the lowest divided by -1 wraps. Of floats, NumPy's results:
all are computed in f64 from the remainder of the truncated quotient, which is exact as long as that is below 2^53
(beyond, the remainder counts as 0).
"""
from __future__ import annotations

import math
from typing import Callable, Self

from uopd import _dtype
from uopd._elementwise import Operand
from uopd._logic import LogicOps
from uopd._value import Value, constant_like, where


def _parts(a: Value) -> tuple[Value, Value]:
    """The upper 26 bits of the significand, and the rest. By the bits: a product that makes the parts (Veltkamp's)
    comes out wrong where the compiler fuses it into the difference."""
    high = (a.bits() & -(1 << 27)).from_bits(_dtype.f64)
    return high, a - high


def _truncated(a: Value, b: Value) -> tuple[Value, Value]:
    """trunc(a / b), and a minus that times b. The quotient may have been rounded up to an integer: the remainder then
    has the other sign than a. The products of the parts are exact, and so are the differences."""
    q = (a / b).trunc()
    (qh, ql), (bh, bl) = _parts(q), _parts(b)
    r = (((a - qh * bh) - qh * bl) - ql * bh) - ql * bl
    # An infinite divisor times 0 is no number, and a quotient of 2^53 and more has no exact remainder.
    return q, where(q.equals(0.0), a, where(abs(q) >= 2.0**53, 0.0, r))


def _unlike(r: Value, b: Value) -> Value:
    """Whether the remainder is not 0 and of the other sign than b."""
    return r.differs(0.0) & ((r < 0.0) ^ (b < 0.0))


def _floor_divide(a: Value, b: Value) -> Value:
    q, r = _truncated(a, b)
    q = where(_unlike(r, b), q - 1.0, q)
    return where(abs(a).equals(math.inf) & b.differs(0.0), math.nan, q)


def _trunc_divide(a: Value, b: Value) -> Value:
    q, r = _truncated(a, b)
    back = where((a < 0.0) ^ (b < 0.0), constant_like(a, -1.0), 1.0)
    return where(_unlike(r, a), q - back, q)


def _remainder(a: Value, b: Value) -> Value:
    q, r = _truncated(a, b)
    return _or_nan(a, b, _signed_zero(where(_unlike(r, b), r + b, r), b))


def _fmod(a: Value, b: Value) -> Value:
    q, r = _truncated(a, b)
    return _or_nan(a, b, _signed_zero(where(_unlike(r, a), r + where((a < 0.0) ^ (b < 0.0), -b, b), r), a))


def _signed_zero(r: Value, like: Value) -> Value:
    """A zero with the sign of another number; gradients pass as if it were r."""
    zero = where(like.signbit(), constant_like(r, -0.0), 0.0)
    return where(r.equals(0.0), zero - (r.detach() - r), r)


def _or_nan(a: Value, b: Value, r: Value) -> Value:
    """There is no remainder of infinity, and none by 0."""
    return where(abs(a).equals(math.inf) | b.equals(0.0), math.nan, r)


class DivisionOps(LogicOps):
    """The rounding divisions of Tensor."""

    __slots__ = ()

    def _divided(
        self, of_integers: str, of_floats: Callable[[Value, Value], Value], other: Operand, reverse: bool = False
    ) -> Self:
        if not self._meet(other)[1].is_float:
            return self._arithmetic(of_integers, other, reverse=reverse)
        return self._formula(lambda a, b: of_floats(b, a) if reverse else of_floats(a, b), other, within=_dtype.f64)

    def __floordiv__(self, other: Operand) -> Self:
        """The quotient rounded down. Its gradient is 0."""
        return self._divided("FLOORDIV", _floor_divide, other)

    def __rfloordiv__(self, other: Operand) -> Self:
        return self._divided("FLOORDIV", _floor_divide, other, reverse=True)

    def __ifloordiv__(self, other: Operand) -> Self:
        return self._in_place(self // other)

    def __mod__(self, other: Operand) -> Self:
        """a - (a // b) * b, of the sign of b."""
        return self._divided("FLOORMOD", _remainder, other)

    def __rmod__(self, other: Operand) -> Self:
        return self._divided("FLOORMOD", _remainder, other, reverse=True)

    def __imod__(self, other: Operand) -> Self:
        return self._in_place(self % other)

    def __divmod__(self, other: Operand) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Operand) -> tuple[Self, Self]:
        return self.__rfloordiv__(other), self.__rmod__(other)

    floor_divide, remainder = __floordiv__, __mod__

    def tdiv(self, other: Operand) -> Self:
        """The quotient rounded toward 0. Its gradient is 0."""
        return self._divided("DIV", _trunc_divide, other)

    def fmod(self, other: Operand) -> Self:
        """a - tdiv(a, b) * b, of the sign of a."""
        return self._divided("MOD", _fmod, other)
