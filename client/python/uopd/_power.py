"""Powers: by products for whole exponents known here, else by logarithm; of integers by squaring."""
from __future__ import annotations

import math
from typing import Self

import numpy as np

from uopd import _dtype
from uopd._elementwise import Operand
from uopd._math import MathOps
from uopd._value import Value, constant_like, where

#: Up to this whole exponents of floats are products: a unit in the last place or so for each.
_PRODUCT_LIMIT = 8


def _raised(x: Value, n: int) -> Value:
    """x^n for n > 0 by squaring, from the lowest bit of n on."""
    result: Value | None = None
    while True:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        if n == 0:
            assert result is not None
            return result
        x = x * x


def _power(a: Value, b: Value) -> Value:
    """a^b as 2^(b log2 |a|), with C's values for zeros, infinities, NaN and negative bases. The logarithm of 0 is not
    taken: its infinite derivative, times 0, would be no number."""
    negative = a.signbit()
    m = where(negative, -a, a)
    zero = m.equals(0.0)
    y = (b * where(zero, 1.0, m).log2()).exp2()
    of_zero = where(b > 0.0, where(b.equals(1.0), m, 0.0), where(b < 0.0, math.inf, where(b.equals(0.0), 1.0, b)))
    y = where(zero, of_zero, y)
    whole, half = b.floor().equals(b), b * 0.5
    odd = whole & half.floor().differs(half)
    y = where(negative & odd, -y, y)
    y = where((a < 0.0) & ~whole & (m < math.inf), math.nan, y)
    # 1 although the logarithm or the product is no number: a^0, 1^b, and (-1)^(+-inf).
    one = b.equals(0.0) | a.equals(1.0) | (m.equals(1.0) & whole)
    return where(y.is_nan() & one, 1.0, y)


def _integer_power(a: Value, b: Value) -> Value:
    """a^b of integers, which wraps, by all the bits of b. Of negative b what truncation leaves: 0 unless |a| is 1."""
    signed = a.dtype.is_signed
    bits = 8 * a.dtype.itemsize - (1 if signed else 0)
    result, square = constant_like(a, 1), a
    for i in range(bits):
        taken = (b & (1 << i)).differs(0)
        result = where(taken, result * square, result)
        if i + 1 < bits:
            square = square * square
    if not signed:
        return result
    minus_one = where((b & 1).differs(0), constant_like(a, -1), 1)
    inverse = where(a.equals(1), constant_like(a, 1), where(a.equals(-1), minus_one, 0))
    return where(b < 0, inverse, result)


class PowerOps(MathOps):
    """The powers of Tensor."""

    __slots__ = ()

    def __pow__(self, exponent: Operand) -> Self:
        """self^exponent, with NumPy's special cases. A whole number up to 8 is a product, 0.5 is ``sqrt``. Integers
        wrap; a negative exponent of them is a ValueError as a number, and gives 0 (or +-1 for a base +-1) as a
        tensor."""
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if isinstance(exponent, (int, float)):
            return self._to_number(exponent)
        return self._power_of(exponent)

    def _to_number(self, exponent: int | float) -> Self:
        dtype = _dtype.promote_number(self.dtype, isinstance(exponent, float))
        if not dtype.is_float:
            if exponent < 0:
                raise ValueError(f"an integer to the power {exponent} is no integer; cast the base to a float")
            return self._formula(lambda x: _raised(x, int(exponent)) if exponent else constant_like(x, 1),
                                 dtype_rule=lambda d: dtype)  # fmt: skip
        if exponent == 0.5:
            return self.sqrt()
        if exponent == -0.5:
            return self.rsqrt()
        if abs(exponent) > _PRODUCT_LIMIT or exponent != int(exponent):
            return self._power_of(exponent)
        n = int(exponent)
        if n == 0:
            return self._formula(lambda x: constant_like(x, 1.0))
        if n == 1:
            return self.cast(dtype)
        return self._formula(lambda x: _raised(x if n > 0 else x.reciprocal(), abs(n)))

    def _power_of(self, exponent: Operand, reverse: bool = False) -> Self:
        if not self._meet(exponent)[1].is_float:
            formula, rule, within = _integer_power, _dtype.arithmetic_dtype, None
        else:
            formula, rule, within = _power, _dtype.float_dtype, _dtype.f64
        return self._formula(lambda a, b: formula(b, a) if reverse else formula(a, b), exponent, within=within,
                             dtype_rule=rule)  # fmt: skip

    def __rpow__(self, base: Operand) -> Self:
        if isinstance(base, (int, float)) and base == 2 and self.dtype.is_float:
            return self._float_unary("EXP2")
        return self._power_of(base, reverse=True)

    def __ipow__(self, exponent: Operand) -> Self:
        return self._in_place(self**exponent)

    pow = __pow__
