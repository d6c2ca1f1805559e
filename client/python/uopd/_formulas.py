"""Exponentials, trigonometry and their kin, of f32 and f64, made of EXP2, LOG2, SIN and arithmetic.

What holds for all of them:
- A few units in the last place, near zeros too where the function goes through 0 at x = 0. Errors that come in through
  the argument remain: exp and pow lose |log(result)| units of 2^-24 (2^-53).
- NaN, infinities and the sign of zero as in C. Arguments are replaced where a branch is not for them ("s" below), so
  that no gradient of a branch that was not taken makes a NaN; and |x| is WHERE(x < 0, -x, x) where its derivative at 0
  counts, since ABS has 0 there.
- Products that are taken apart again are exact, for the compiler may fuse any a * b + c.
"""
from __future__ import annotations

import math

from uopd import _dtype, _fits
from uopd._value import Value, constant_like, polynomial, where

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
LOG10_2 = 0.30102999566398120
PI = math.pi

# ---------------------------------------------------------------------- exponentials and logarithms


def exp(x: Value) -> Value:
    return (x * LOG2_E).exp2()


def expm1(x: Value) -> Value:
    small = abs(x) < 0.5
    s = where(small, x, 0.0)
    near = s * (s * polynomial(s, _fits.EXPM1.of(x.dtype)) + 1.0)
    return where(small, near, exp(x) - 1.0)


def log(x: Value) -> Value:
    return x.log2() * LN_2


def log10(x: Value) -> Value:
    return x.log2() * LOG10_2


def log1p(x: Value) -> Value:
    """log(u) + (x - (u - 1)) / u, u = 1 + x rounded: the second term makes up for the rounding. It has no gradient:
    that of log(u) is right. (W. Kahan corrects by a factor, whose gradient is two large terms that cancel.)"""
    u = x + 1.0
    tiny = u.equals(1.0)
    s = where(tiny, x, 0.0)
    lost = ((x - (u - 1.0)) / u).detach()
    return where(tiny, s - s * s * 0.5, log(u) + where(lost.is_nan(), 0.0, lost))


def logaddexp(a: Value, b: Value) -> Value:
    """log(exp(a) + exp(b)). Where the greater is infinite, it is the result, whatever the other."""
    less = a < b
    high, low = where(less, b, a), where(less, a, b)
    finite = abs(high) < math.inf
    return high + log1p(exp(low - where(finite, high, 0.0)))


def ldexp(x: Value, n: Value) -> Value:
    """x 2^n by three factors, each of which is a number of f64 if the result and x are."""
    n = _clamped(n, -3000.0, 3000.0)
    third = (n * (1 / 3)).round()
    return x * third.exp2() * third.exp2() * (n - third * 2.0).exp2()


def _clamped(x: Value, low: float, high: float) -> Value:
    """x between the bounds; NaN stays. By choices: amid other arithmetic gcc vectorizes these, but not MAX and MIN."""
    return where(x <= low, low, where(x >= high, high, x))


# ---------------------------------------------------------------------- hyperbolic functions


def sinh(x: Value) -> Value:
    small = abs(x) < 1.0
    s = where(small, x, 0.0)
    z = s * s
    near = s * (z * polynomial(z, _fits.SINH.of(x.dtype)) + 1.0)
    return where(small, near, _half_exp(x, LOG2_E) - _half_exp(x, -LOG2_E))


def cosh(x: Value) -> Value:
    return _half_exp(x, LOG2_E) + _half_exp(x, -LOG2_E)


def _half_exp(x: Value, log2_base: float) -> Value:
    """base^x / 2, which does not overflow before the result does."""
    return (x * log2_base - 1.0).exp2()


def tanh(x: Value) -> Value:
    small = abs(x) < 0.625
    s = where(small, x, 0.0)
    z = s * s
    near = s * (z * polynomial(z, _fits.TANH.of(x.dtype)) + 1.0)
    e = (abs(x) * (-2 * LOG2_E)).exp2()
    far = (1.0 - e) / (e + 1.0)
    return where(small, near, where(x < 0.0, -far, far))


def asinh(x: Value) -> Value:
    negative = x < 0.0
    a = where(negative, -x, x)
    big = a > _big(x)
    s = where(big, 1.0, a)
    near = log1p(s * (s / ((s * s + 1.0).sqrt() + 1.0) + 1.0))
    y = where(big, log(where(big, a, 1.0)) + LN_2, near)
    return where(negative, -y, y)


def acosh(x: Value) -> Value:
    big = x > _big(x)
    s = where(big, 1.0, x - 1.0)
    near = log1p(s + (s * (s + 2.0)).sqrt())
    return where(x < 1.0, math.nan, where(big, log(where(big, x, 1.0)) + LN_2, near))


def _big(x: Value) -> float:
    """From here on sqrt(x^2 +- 1) is x."""
    return 2.0**28 if x.dtype is _dtype.f64 else 2.0**14


def atanh(x: Value) -> Value:
    negative = x < 0.0
    a = where(negative, -x, x)
    y = log1p((a + a) / (1.0 - a)) * 0.5
    return where(negative, -y, y)


# ---------------------------------------------------------------------- trigonometry

#: pi in three parts; products of the first two with k + 1/2 are exact below the limit.
_PI_F32, _LIMIT_F32 = (3.140625, 0.0009675025939941406, 1.5099579909783765e-07), 2.0**13
_PI_F64, _LIMIT_F64 = (3.141592651605606, 1.9841871583270443e-09, 1.034036596358821e-18), 2.0**23


def cos(x: Value) -> Value:
    """With x = (k + 1/2) pi + r: -(-1)^k sin(r), good to the last place at the zeros too. Beyond the limit, where r is
    no longer exact, 1 - 2 sin(x / 2)^2, which is good to an absolute 2^-24 (2^-53) for any x."""
    is_f64 = x.dtype is _dtype.f64
    (a, b, c), limit = (_PI_F64, _LIMIT_F64) if is_f64 else (_PI_F32, _LIMIT_F32)
    near = abs(x) < limit
    k = (x * (1 / PI) - 0.5).round()
    h = k + 0.5
    r = ((x - h * a) - h * b) - h * c
    s = where(near, r, x * 0.5).sin()
    odd = k - (k * 0.5).floor() * 2.0
    return where(near, s * (odd * 2.0 - 1.0), 1.0 - s * s * 2.0)


def tan(x: Value) -> Value:
    return x.sin() / cos(x)


def atan(x: Value) -> Value:
    negative = x < 0.0
    a = where(negative, -x, x)
    y = _atan_of_positive(a)
    return where(negative, -y, y)


def _atan_of_positive(a: Value) -> Value:
    """atan(a) = atan(b) + atan((a - b) / (1 + ab)) for b = 0, 1 and infinity, so that the last argument is below
    tan(pi / 8). (The reduction of Cephes' atan.c.)"""
    big, middle = a > 2.414213562373095, a > 0.41421356237309503
    numerator = where(big, -1.0, where(middle, a - 1.0, a))
    denominator = where(big, a, where(middle, a + 1.0, 1.0))
    r = numerator / denominator
    z = r * r
    y = r * (z * polynomial(z, _fits.ATAN.of(a.dtype)) + 1.0)
    return where(big, PI / 2, where(middle, constant_like(a, PI / 4), -0.0)) + y


def atan2(y: Value, x: Value) -> Value:
    """The angle of (x, y), by the signs of zeros too."""
    below, left = y.signbit(), x.signbit()
    a, b = where(below, -y, y), where(left, -x, x)
    steep = a > b
    low, high = where(steep, b, a), where(steep, a, b)
    both = low.equals(math.inf)  # then 1; and nothing over nothing is nothing
    ratio = where(both, 1.0, low) / where(both | high.equals(0.0), 1.0, high)
    t = _atan_of_positive(ratio)
    t = where(steep, PI / 2 - t, t)
    t = where(left, PI - t, t)
    t = where(below, -t, t)
    return where(y.is_nan() | x.is_nan(), x + y, t)


def asin(x: Value) -> Value:
    negative, big, y = _asin_parts(x)
    t = where(big, PI / 2 - y * 2.0, y)
    return where(negative, -t, t)


def acos(x: Value) -> Value:
    negative, big, y = _asin_parts(x)
    twice = y * 2.0
    return where(big, where(negative, PI - twice, twice), where(negative, y + PI / 2, PI / 2 - y))


def _asin_parts(x: Value) -> tuple[Value, Value, Value]:
    """x < 0; |x| > 1/2; and asin(|x|), or, if it is big, asin(sqrt((1 - |x|) / 2)), which is (pi / 2 - asin(|x|)) /
    2."""
    negative = x < 0.0
    a = where(negative, -x, x)
    big = a > 0.5
    z = where(big, (1.0 - a) * 0.5, a * a)
    r = where(big, where(big, z, 1.0).sqrt(), a)
    return negative, big, r * (z * polynomial(z, _fits.ASIN.of(x.dtype)) + 1.0)


# ---------------------------------------------------------------------- the error function


def erf(x: Value) -> Value:
    """In f32 a quotient of polynomials; in f64 as ``erfc``."""
    if x.dtype is not _dtype.f64:
        c = _clamped(x, -4.0, 4.0)
        z = c * c
        y = c * polynomial(z, _fits.ERF_NUMERATOR) / polynomial(z, _fits.ERF_DENOMINATOR)
        return _clamped(y, -1.0, 1.0)
    small, near, far = _erf_parts(x)
    y = 1.0 - far
    return where(small, near, where(x < 0.0, -y, y))


def erfc(x: Value) -> Value:
    """1 - erf(x) without the cancellation, of f64."""
    small, near, far = _erf_parts(x)
    return where(small, 1.0 - near, where(x < 0.0, 2.0 - far, far))


def _erf_parts(x: Value) -> tuple[Value, Value, Value]:
    """|x| < 1/2; erf(x) if it is; and erfc(|x|) if it is not, which is 0 from 28 on."""
    small = abs(x) < 0.5
    s = where(small, x, 0.0)
    near = s * polynomial(s * s, _fits.ERF) + s
    a = _clamped(abs(x), 0.5, 28.0)
    w = (a + 3.0).reciprocal()
    y = w * _fits.ERFCX_SCALE - _fits.ERFCX_SHIFT
    return small, near, (a * a * -LOG2_E).exp2() * (w * polynomial(y, _fits.ERFCX))


# ---------------------------------------------------------------------- of neural networks


def sigmoid(x: Value) -> Value:
    negative = x < 0.0
    e = exp(where(negative, x, -x))
    s = (e + 1.0).reciprocal()
    return where(negative, e * s, s)


def softplus(x: Value) -> Value:
    """log(1 + exp(x))"""
    negative = x < 0.0
    return where(negative, 0.0, x) + log1p(exp(where(negative, x, -x)))


def logsigmoid(x: Value) -> Value:
    return -softplus(-x)


def softsign(x: Value) -> Value:
    return x / (abs(x) + 1.0)


def silu(x: Value) -> Value:
    return x * sigmoid(x)


def mish(x: Value) -> Value:
    """x tanh(log(1 + exp(x))), where the tanh is ((1 + exp(x))^2 - 1) / ((1 + exp(x))^2 + 1)."""
    negative = x < 0.0
    e = exp(where(negative, x, -x))
    square = e * e
    n = where(negative, square + e * 2.0, e * 2.0 + 1.0)
    return x * (n / (n + where(negative, 2.0, square * 2.0)))


def gelu(x: Value) -> Value:
    return x * 0.5 * (erf(x * math.sqrt(0.5)) + 1.0)


def gelu_tanh(x: Value) -> Value:
    """x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), as x sigmoid(2 u)."""
    return x * sigmoid((x + x * x * x * 0.044715) * (2 * math.sqrt(2 / PI)))
