"""The activation functions of neural networks. Integers and bools are computed and given as f32, but for ``relu``'s
family; halves are computed in f32 and rounded once. Where a function has a corner, its gradient there is 0, but for
``leaky_relu`` and ``elu``, which take that of the negative side.
"""
from __future__ import annotations

from typing import Self

from uopd import _formulas
from uopd._power import PowerOps
from uopd._value import Value, where

Real = float


class ActivationOps(PowerOps):
    """The activation functions of Tensor."""

    __slots__ = ()

    def relu(self) -> Self:
        """0 up to 0, then x; NaN stays."""
        return (self <= 0).where(0, self)

    def relu6(self) -> Self:
        """x between 0 and 6, else the nearer of them."""
        return self.hardtanh(0, 6)

    def hardtanh(self, min_val: Real = -1.0, max_val: Real = 1.0) -> Self:
        """x between the bounds, else the nearer of them; NaN stays. The gradient at a bound is 0."""
        return (self <= min_val).where(min_val, (self >= max_val).where(max_val, self))

    def leaky_relu(self, negative_slope: Real = 0.01) -> Self:
        """x above 0, else x * negative_slope."""
        return (self > 0).where(self, self * negative_slope)

    def elu(self, alpha: Real = 1.0) -> Self:
        """x above 0, else alpha * (exp(x) - 1)."""
        return self._elu(alpha, 1.0)

    def selu(self) -> Self:
        """elu with the constants that keep mean 0 and variance 1 (G. Klambauer et al., 2017)."""
        return self._elu(1.6732632423543772, 1.0507009873554805)

    def _elu(self, alpha: Real, scale: Real) -> Self:
        def formula(x: Value) -> Value:
            above = x > 0.0
            below = _formulas.expm1(where(above, 0.0, x)) * (scale * alpha)
            return where(above, x * scale if scale != 1.0 else x, below)

        return self._formula(formula)

    def sigmoid(self) -> Self:
        """1 / (1 + exp(-x))"""
        return self._formula(_formulas.sigmoid)

    def logsigmoid(self) -> Self:
        """log(sigmoid(x))"""
        return self._formula(_formulas.logsigmoid)

    def silu(self) -> Self:
        """x * sigmoid(x)"""
        return self._formula(_formulas.silu)

    swish = silu

    def gelu(self, approximate: str = "none") -> Self:
        """x times the normal distribution's share below x; with approximate="tanh" by the tanh of a cubic (D. Hendrycks
        and K. Gimpel, 2016)."""
        if approximate not in ("none", "tanh"):
            raise ValueError(f'gelu is approximate="none" or "tanh", not {approximate!r}')
        return self._formula(_formulas.gelu if approximate == "none" else _formulas.gelu_tanh)

    def softplus(self, beta: Real = 1.0) -> Self:
        """log(1 + exp(beta * x)) / beta"""
        if beta == 1.0:
            return self._formula(_formulas.softplus)
        return self._formula(lambda x: _formulas.softplus(x * beta) / beta)

    def mish(self) -> Self:
        """x * tanh(softplus(x))"""
        return self._formula(_formulas.mish)

    def softsign(self) -> Self:
        """x / (1 + |x|)"""
        return self._formula(_formulas.softsign)

    def hardsigmoid(self) -> Self:
        """relu6(x + 3) / 6"""
        return (self + 3.0).relu6() / 6.0

    def hardswish(self) -> Self:
        """x * relu6(x + 3) / 6"""
        return self * self.hardsigmoid()
