"""The dtypes: one row each, and which dtype two operands meet in.

A ``DType`` is what ``Tensor.dtype`` gives and what every ``dtype=`` argument takes; its name ("f32") and NumPy's dtypes
are taken too. bf16 has no NumPy dtype: its elements come and go as float32 (rounded to nearest even on the way in).
"""
from __future__ import annotations

import dataclasses
import enum
from typing import Any, Union

import numpy as np
import numpy.typing as npt


class Kind(enum.Enum):
    BOOL = "B"
    SIGNED = "I"
    UNSIGNED = "U"
    FLOAT = "F"


@dataclasses.dataclass(frozen=True, eq=False)
class DType:
    """A row of the table: wire number, name, bytes of an element, and the NumPy dtype of the same bytes."""

    number: int
    name: str
    itemsize: int
    kind: Kind
    numpy: np.dtype[Any]

    def __repr__(self) -> str:
        return f"uopd.{self.name}" if self is not bool_ else "uopd.bool_"

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_half(self) -> bool:
        return self.is_float and self.itemsize == 2

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.SIGNED


bool_ = DType(1, "bool", 1, Kind.BOOL, np.dtype(np.bool_))
i8 = DType(2, "i8", 1, Kind.SIGNED, np.dtype("<i1"))
i16 = DType(3, "i16", 2, Kind.SIGNED, np.dtype("<i2"))
i32 = DType(4, "i32", 4, Kind.SIGNED, np.dtype("<i4"))
i64 = DType(5, "i64", 8, Kind.SIGNED, np.dtype("<i8"))
u8 = DType(6, "u8", 1, Kind.UNSIGNED, np.dtype("<u1"))
u16 = DType(7, "u16", 2, Kind.UNSIGNED, np.dtype("<u2"))
u32 = DType(8, "u32", 4, Kind.UNSIGNED, np.dtype("<u4"))
u64 = DType(9, "u64", 8, Kind.UNSIGNED, np.dtype("<u8"))
f16 = DType(10, "f16", 2, Kind.FLOAT, np.dtype("<f2"))
bf16 = DType(11, "bf16", 2, Kind.FLOAT, np.dtype("<u2"))
f32 = DType(12, "f32", 4, Kind.FLOAT, np.dtype("<f4"))
f64 = DType(13, "f64", 8, Kind.FLOAT, np.dtype("<f8"))

ALL = (bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64)
BY_NUMBER = {d.number: d for d in ALL}
BY_NAME = {d.name: d for d in ALL}
_BY_NUMPY = {d.numpy: d for d in ALL if d is not bf16}

DTypeLike = Union[DType, str, type, np.dtype]


def dtype_of(like: DTypeLike) -> DType:
    """The dtype that ``like`` names: a DType, "f32", ``np.float32``, ``float`` (f32) or ``int`` (i32)."""
    if isinstance(like, DType):
        return like
    if isinstance(like, str) and like in BY_NAME:
        return BY_NAME[like]
    if like is float:
        return f32
    if like is int:
        return i32
    try:
        return _BY_NUMPY[np.dtype(like).newbyteorder("<")]
    except (TypeError, KeyError):
        names = ", ".join(d.name for d in ALL)
        raise TypeError(f"{like!r} is not a dtype; there are {names}, and NumPy's of the same sizes") from None


def to_bf16_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """The bf16 patterns (uint16) of float32 values, rounded to nearest even; a NaN stays one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    quiet = ((bits >> 16) | 0x40).astype(np.uint16)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def from_bf16_bits(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 values of bf16 patterns; exact."""
    return np.asarray(np.left_shift(bits.astype(np.uint32), np.uint32(16))).view(np.float32)


def bits_of(value: float | int | bool, dtype: DType) -> int:
    """The pattern of ``value`` in ``dtype``, as CONST holds it. A float is rounded once to the dtype; to an integer it
    truncates and saturates, as CAST does; an int that does not fit raises OverflowError."""
    if dtype is bool_:
        return int(bool(value))
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        if isinstance(value, float):
            value = 0 if value != value else int(min(max(value, info.min), info.max))
        if not info.min <= value <= info.max:
            raise OverflowError(f"{value} does not fit into a {dtype.name} tensor; cast the tensor to a wider type")
        return int(value) & ((1 << 8 * dtype.itemsize) - 1)
    with np.errstate(over="ignore"):
        if dtype is bf16:
            return int(_bf16_of_double(float(value)))
        pattern = np.array(value, np.float64 if dtype is f64 else dtype.numpy)
    return int.from_bytes(pattern.astype(dtype.numpy).tobytes(), "little")


def _bf16_of_double(value: float) -> int:
    # Rounding to f32 first could round twice: with one odd bit kept ("round to odd") the second rounding is right.
    single = np.float32(value)
    bits = int(single.view(np.uint32))
    if value == value and float(single) != value:
        if abs(float(single)) > abs(value):
            bits -= 1
        bits |= 1
    return int(to_bf16_bits(np.array([bits], np.uint32).view(np.float32))[0])


def value_of_bits(bits: int, dtype: DType) -> float | int | bool:
    """The value of a pattern; a bf16 as the float it is exactly."""
    raw = np.frombuffer(int(bits).to_bytes(8, "little")[: dtype.itemsize], dtype.numpy)
    if dtype is bf16:
        raw = from_bf16_bits(raw)
    return raw[0].item()  # type: ignore[no-any-return]


def promote(a: DType, b: DType) -> DType:
    """The dtype of an operation on tensors of dtypes ``a`` and ``b``.

    Equal dtypes stay; bool gives way to anything; a float and an integer meet in the float; two floats in the wider,
    f16 and bf16 in f32; two integers of one sign in the wider; a signed and an unsigned one in the narrowest signed
    type that holds both. Raises TypeError for u64 with a signed integer, which no type holds.
    """
    if a is b or b is bool_:
        return a
    if a is bool_:
        return b
    if a.is_float and b.is_float:
        return f32 if a.is_half and b.is_half else _wider(a, b)
    if a.is_float:
        return a
    if b.is_float:
        return b
    if a.kind is b.kind:
        return _wider(a, b)
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    if unsigned is u64:
        raise TypeError(f"no integer type holds both {a.name} and {b.name}; cast one of them to the other's type")
    return {1: i16, 2: i32, 4: i64}[unsigned.itemsize]


def promote_number(dtype: DType, fractional: bool) -> DType:
    """The dtype in which a plain number meets a tensor of ``dtype``: the tensor's own; but f32 where the number is a
    float and the tensor is not, and i32 where an int meets a bool."""
    if fractional:
        return dtype if dtype.is_float else f32
    return arithmetic_dtype(dtype)


def arithmetic_dtype(dtype: DType) -> DType:
    """The dtype arithmetic is done in: a bool counts as i32, everything else stays."""
    return i32 if dtype is bool_ else dtype


def float_dtype(dtype: DType) -> DType:
    """The dtype of exp, sqrt, mean and the like: floats stay, everything else becomes f32."""
    return dtype if dtype.is_float else f32


def _wider(a: DType, b: DType) -> DType:
    return a if a.itemsize >= b.itemsize else b
