"""Exponentials, logarithms, trigonometry and the error function.

Integers and bools are computed and given as f32. Halves are computed in f32 and rounded once, at the end. How accurate
the functions are, and what they are made of, is said in ``_formulas``.
"""
from __future__ import annotations

from typing import Self

from uopd import _dtype, _formulas
from uopd._division import DivisionOps
from uopd._elementwise import Operand


class MathOps(DivisionOps):
    """The mathematical functions of Tensor."""

    __slots__ = ()

    # ------------------------------------------------------------------ exponentials and logarithms

    def exp(self) -> Self:
        return self._formula(_formulas.exp)

    def exp2(self) -> Self:
        """2^x"""
        return self._float_unary("EXP2")

    def expm1(self) -> Self:
        """exp(x) - 1 without the cancellation near 0."""
        return self._formula(_formulas.expm1)

    def log(self) -> Self:
        """The natural logarithm; NaN below 0."""
        return self._formula(_formulas.log)

    def log2(self) -> Self:
        return self._float_unary("LOG2")

    def log10(self) -> Self:
        return self._formula(_formulas.log10)

    def log1p(self) -> Self:
        """log(1 + x), good near 0 too."""
        return self._formula(_formulas.log1p)

    def logaddexp(self, other: Operand) -> Self:
        """log(exp(a) + exp(b)) without overflow."""
        return self._formula(_formulas.logaddexp, other)

    def ldexp(self, exponent: Operand) -> Self:
        """x * 2^exponent for whole exponents, rounded once, but that 2^exponent need not be a number of the dtype. Of
        f64 a result below 2^-1022 may be rounded twice."""
        to = _dtype.float_dtype(self.dtype)
        return self._formula(_formulas.ldexp, exponent, within=_dtype.f64, dtype_rule=lambda _: to)

    # ------------------------------------------------------------------ trigonometry, in radians

    def sin(self) -> Self:
        return self._float_unary("SIN")

    def cos(self) -> Self:
        return self._formula(_formulas.cos)

    def tan(self) -> Self:
        return self._formula(_formulas.tan)

    def asin(self) -> Self:
        """The angle in -pi/2..pi/2 of a sine; NaN outside -1..1."""
        return self._formula(_formulas.asin)

    def acos(self) -> Self:
        """The angle in 0..pi of a cosine; NaN outside -1..1."""
        return self._formula(_formulas.acos)

    def atan(self) -> Self:
        """The angle in -pi/2..pi/2 of a tangent."""
        return self._formula(_formulas.atan)

    def atan2(self, other: Operand) -> Self:
        """The angle in -pi..pi of the point (other, self)."""
        return self._formula(_formulas.atan2, other)

    def sinh(self) -> Self:
        return self._formula(_formulas.sinh)

    def cosh(self) -> Self:
        return self._formula(_formulas.cosh)

    def tanh(self) -> Self:
        return self._formula(_formulas.tanh)

    def asinh(self) -> Self:
        return self._formula(_formulas.asinh)

    def acosh(self) -> Self:
        """NaN below 1."""
        return self._formula(_formulas.acosh)

    def atanh(self) -> Self:
        """NaN outside -1..1."""
        return self._formula(_formulas.atanh)

    # ------------------------------------------------------------------ the error function

    def erf(self) -> Self:
        """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
        return self._formula(_formulas.erf)

    def erfc(self) -> Self:
        """1 - erf(x), good where that is small."""
        return self._formula(_formulas.erfc, within=_dtype.f64)
