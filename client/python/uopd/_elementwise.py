"""Elementwise operations on tensors and plain numbers: how operands meet, arithmetic, rounding, choices and casts.

Shapes broadcast as in NumPy and dtypes meet as ``uopd._dtype.promote`` says; in arithmetic a bool counts as i32. A
plain number takes the tensor's dtype, but a Python float makes f32 of a tensor that is not float. ``x - y`` is built as
x + y * -1 with the factor applied before y is broadcast, as the compiler knows differences.
"""
from __future__ import annotations

from typing import Callable, Self

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase
from uopd._build import Number, broadcast_shapes, broadcast_to, cast, constant, full
from uopd._dtype import DType, DTypeLike, dtype_of
from uopd._graph import UOp, node
from uopd._value import Value, constant_like
from uopd._value import where as choose

Operand = TensorBase | Number | np.ndarray

_FloatType = float


def is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.ndarray)


def _plain(value: Operand) -> Operand:
    """A NumPy scalar as a Python number."""
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[union-attr]


def _tensors(operand: TensorBase | Number) -> tuple[TensorBase, ...]:
    return (operand,) if isinstance(operand, TensorBase) else ()


def negated(u: UOp) -> UOp:
    """u * -1; of a constant, the constant."""
    if u.op == "CONST":
        value = _dtype.value_of_bits(u.bits, u.dtype)
        if u.dtype.is_integer:
            wrapped = -int(value) & ((1 << 8 * u.dtype.itemsize) - 1)
            return node("CONST", dtype=u.dtype, bits=wrapped)
        return constant(-value, u.dtype)
    if u.dtype.is_float or u.dtype.is_signed:
        return node("MUL", (u, full(-1, u.shape, u.dtype)))
    ones = node("CONST", dtype=u.dtype, bits=(1 << 8 * u.dtype.itemsize) - 1)  # -1 of an unsigned type
    return node("MUL", (u, broadcast_to(ones, u.shape)))


#: Which kind takes results of which in place, as NumPy's casting "same_kind" has it.
_ORDER = {_dtype.Kind.BOOL: 0, _dtype.Kind.UNSIGNED: 1, _dtype.Kind.SIGNED: 2, _dtype.Kind.FLOAT: 3}


class ElementwiseOps(TensorBase):
    """The operators of Tensor, and what is one or a few nodes."""

    __slots__ = ()

    # ------------------------------------------------------------------ how operands meet

    def _meet(self, other: Operand) -> tuple[TensorBase | Number, DType]:
        """The other operand, and the dtype it and this tensor meet in."""
        other = _plain(other)
        if is_number(other):
            return other, _dtype.promote_number(self.dtype, isinstance(other, _FloatType))  # type: ignore[return-value]
        tensor = self._wrap(other)  # type: ignore[arg-type]
        return tensor, _dtype.promote(self.dtype, tensor.dtype)

    def _binary(
        self,
        op: str,
        other: Operand,
        *,
        dtype_rule: Callable[[DType], DType] = lambda d: d,
        reverse: bool = False,
        after: Callable[[UOp], UOp] | None = None,
    ) -> Self:
        """op(self, after(other)), or op(other, after(self)) where ``reverse``, broadcast, in the dtype they meet in."""
        right, dtype = self._meet(other)
        dtype = dtype_rule(dtype)
        a = cast(self.node, dtype)
        if isinstance(right, TensorBase):
            b = cast(right.node, dtype)
        else:
            b = constant(right, dtype)
        if reverse:
            a, b = b, a
        if after is not None:
            b = after(b)
        shape = broadcast_shapes(a.shape, b.shape)
        return self._make(node(op, (broadcast_to(a, shape), broadcast_to(b, shape))), *_tensors(right))

    def _arithmetic(
        self, op: str, other: Operand, reverse: bool = False, after: Callable[[UOp], UOp] | None = None
    ) -> Self:
        return self._binary(op, other, dtype_rule=_dtype.arithmetic_dtype, reverse=reverse, after=after)

    def _unary(self, op: str, dtype: DType | None = None) -> Self:
        return self._make(node(op, (cast(self.node, dtype or self.dtype),)))

    def _float_unary(self, op: str) -> Self:
        return self._unary(op, _dtype.float_dtype(self.dtype))

    def _formula(
        self,
        formula: Callable[..., Value],
        *others: Operand,
        within: DType | None = None,
        dtype_rule: Callable[[DType], DType] = _dtype.float_dtype,
    ) -> Self:
        """formula(self, *others), broadcast, in the dtype they meet in after ``dtype_rule``. Floats are computed in
        f32, f64 in f64 and everything in ``within`` if that is given, and are rounded once, at the end."""
        dtype = self.dtype
        tensors: list[TensorBase] = []
        for other in map(_plain, others):
            if is_number(other):
                dtype = _dtype.promote_number(dtype, isinstance(other, _FloatType))
            else:
                tensors.append(self._wrap(other))  # type: ignore[arg-type]
                dtype = _dtype.promote(dtype, tensors[-1].dtype)
        dtype = dtype_rule(dtype)
        inner = dtype if not dtype.is_float else within or (_dtype.f64 if dtype is _dtype.f64 else _dtype.f32)
        waiting = iter(tensors)
        nodes = [cast(self.node, inner)]
        for other in map(_plain, others):
            # A number is a number of the dtype first: 0.1 beside f32 is the f32, in whatever it is computed.
            u = constant(other, dtype) if is_number(other) else next(waiting).node  # type: ignore[arg-type]
            nodes.append(cast(u, inner))
        shape = broadcast_shapes(*(u.shape for u in nodes))
        made = formula(*(Value(broadcast_to(u, shape)) for u in nodes)).u
        return self._make(cast(made, dtype) if made.dtype is inner else made, *tensors)

    def _operands(
        self, other: Operand, dtype_rule: Callable[[DType], DType]
    ) -> tuple[Value, Value, tuple[TensorBase, ...]]:
        """This and another operand, broadcast, in the dtype they meet in; and the other one, if it is a tensor."""
        right, dtype = self._meet(other)
        dtype = dtype_rule(dtype)
        nodes = cast(self.node, dtype), (
            cast(right.node, dtype) if isinstance(right, TensorBase) else constant(right, dtype)
        )
        shape = broadcast_shapes(nodes[0].shape, nodes[1].shape)
        a, b = (Value(broadcast_to(u, shape)) for u in nodes)
        return a, b, _tensors(right)

    def _wide(self) -> Self:
        """In the dtype that is computed in: f64 stays, all else is f32."""
        return self.cast(_dtype.f64 if self.dtype is _dtype.f64 else _dtype.f32)

    def _in_place(self, result: Self) -> Self:
        """Stands for the result from now on. Raises TypeError where its dtype is of a kind this one's does not take."""
        if _ORDER[result.dtype.kind] > _ORDER[self.dtype.kind]:
            raise TypeError(f"the result is {result.dtype.name} and does not go into a {self.dtype.name} tensor in "
                            "place; write x = x + y, or cast the other operand")  # fmt: skip
        return self.assign(result)

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: Operand) -> Self:
        return self._arithmetic("ADD", other)

    def __radd__(self, other: Operand) -> Self:
        return self._arithmetic("ADD", other)

    def __iadd__(self, other: Operand) -> Self:
        return self._in_place(self + other)

    def __sub__(self, other: Operand) -> Self:
        return self._arithmetic("ADD", other, after=negated)

    def __rsub__(self, other: Operand) -> Self:
        return self._arithmetic("ADD", other, reverse=True, after=negated)

    def __isub__(self, other: Operand) -> Self:
        return self._in_place(self - other)

    def __mul__(self, other: Operand) -> Self:
        return self._arithmetic("MUL", other)

    def __rmul__(self, other: Operand) -> Self:
        return self._arithmetic("MUL", other)

    def __imul__(self, other: Operand) -> Self:
        return self._in_place(self * other)

    def __truediv__(self, other: Operand) -> Self:
        """The quotient, correctly rounded; of integers in f32."""
        return self._binary("DIV", other, dtype_rule=_dtype.float_dtype)

    def __rtruediv__(self, other: Operand) -> Self:
        return self._binary("DIV", other, dtype_rule=_dtype.float_dtype, reverse=True)

    def __itruediv__(self, other: Operand) -> Self:
        return self._in_place(self / other)

    def __neg__(self) -> Self:
        return self._unary("NEG", _dtype.arithmetic_dtype(self.dtype))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._unary("ABS", _dtype.arithmetic_dtype(self.dtype))

    add, sub, mul, div, neg, abs = __add__, __sub__, __mul__, __truediv__, __neg__, __abs__

    def square(self) -> Self:
        return self * self

    def reciprocal(self) -> Self:
        return self._float_unary("RECIPROCAL")

    def sqrt(self) -> Self:
        """The square root, correctly rounded; NaN below 0."""
        return self._float_unary("SQRT")

    def rsqrt(self) -> Self:
        """1 / sqrt(x)"""
        return self.sqrt().reciprocal()

    def sign(self) -> Self:
        """-1, 0 or 1; NaN stays. A bool counts as i32."""

        def formula(x: Value) -> Value:
            zero = choose(x.is_nan(), x, 0) if x.dtype.is_float else constant_like(x, 0)
            rest = zero if x.dtype.kind is _dtype.Kind.UNSIGNED else choose(x < 0, constant_like(x, -1), zero)
            return choose(x > 0, 1, rest)

        return self._formula(formula, dtype_rule=_dtype.arithmetic_dtype)

    def lerp(self, end: Operand, weight: Operand) -> Self:
        """self + (end - self) * weight"""
        other = end if is_number(end) else self._wrap(end)  # type: ignore[arg-type]
        return self + (other - self) * weight

    # ------------------------------------------------------------------ rounding

    def floor(self) -> Self:
        """Rounded down; an integer stays, as under all roundings."""
        return self._unary("FLOOR") if self.dtype.is_float else self

    def ceil(self) -> Self:
        """Rounded up."""
        return self._unary("CEIL") if self.dtype.is_float else self

    def trunc(self) -> Self:
        """Rounded toward 0."""
        return self._unary("TRUNC") if self.dtype.is_float else self

    def round(self, decimals: int = 0) -> Self:
        """Rounded to nearest, ties to even; to ``decimals`` digits by scaling, as NumPy does it."""
        if not self.dtype.is_float:
            return self
        if decimals == 0:
            return self._unary("ROUND")
        scale = 10.0 ** builtin_abs(decimals)
        if decimals > 0:
            return (self * scale)._unary("ROUND") / scale
        return (self / scale)._unary("ROUND") * scale

    def frac(self) -> Self:
        """x - trunc(x)"""
        return self - self.trunc()

    # ------------------------------------------------------------------ choices

    def where(self, a: Operand, b: Operand) -> Self:
        """``a`` where this condition holds (is not 0), else ``b``; all three broadcast."""
        values = [_plain(x) for x in (a, b)]
        tensors = [self._wrap(x) if not is_number(x) else None for x in values]  # type: ignore[arg-type]
        known = [t for t in tensors if t is not None]
        if len(known) == 2:
            dtype = _dtype.promote(known[0].dtype, known[1].dtype)
        elif known:
            number = values[0] if tensors[0] is None else values[1]
            dtype = known[0].dtype
            if not (isinstance(number, bool) and dtype is _dtype.bool_):
                dtype = _dtype.promote_number(dtype, isinstance(number, _FloatType))
        elif all(isinstance(x, bool) for x in values):
            dtype = _dtype.bool_
        else:
            dtype = _dtype.f32 if any(isinstance(x, _FloatType) for x in values) else _dtype.i32
        nodes = [cast(self.node, _dtype.bool_)]
        for t, x in zip(tensors, values):
            nodes.append(constant(x, dtype) if t is None else cast(t.node, dtype))  # type: ignore[arg-type]
        shape = broadcast_shapes(*(u.shape for u in nodes))
        return self._make(node("WHERE", tuple(broadcast_to(u, shape) for u in nodes)), *known)

    # ------------------------------------------------------------------ casts

    def cast(self, dtype: DTypeLike) -> Self:
        """Converted; a float to an integer truncates and saturates, NaN gives 0; to bool: x != 0."""
        to = dtype_of(dtype)
        return self if self.dtype is to else self._make(cast(self.node, to))

    to = cast

    def bitcast(self, dtype: DTypeLike) -> Self:
        """The same bits as another dtype of the same size; gradients do not pass."""
        to = dtype_of(dtype)
        return self if self.dtype is to else self._make(node("BITCAST", (self.node,), dtype=to))

    def double(self) -> Self:
        """As f64."""
        return self.cast(_dtype.f64)

    def half(self) -> Self:
        """As f16."""
        return self.cast(_dtype.f16)

    def bfloat16(self) -> Self:
        """As bf16."""
        return self.cast(_dtype.bf16)

    def long(self) -> Self:
        """As i64."""
        return self.cast(_dtype.i64)

    # These three last: from here on their names are not Python's types.

    def float(self) -> Self:
        """As f32."""
        return self.cast(_dtype.f32)

    def int(self) -> Self:
        """As i32."""
        return self.cast(_dtype.i32)

    def bool(self) -> Self:
        """x != 0"""
        return self.cast(_dtype.bool_)


builtin_abs = abs


def where(condition: Operand, a: Operand, b: Operand) -> TensorBase:
    """``a`` where the condition holds (is not 0), else ``b``; all three broadcast, one of them is a tensor."""
    first = next((x for x in (condition, a, b) if isinstance(x, ElementwiseOps)), None)
    if first is None:
        raise TypeError("where() of no tensor; use numpy.where, or make one of the operands a tensor")
    return first._wrap(condition).where(a, b)  # type: ignore
