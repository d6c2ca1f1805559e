"""The table of ops: rows of tests/data/ops*.json, how their inputs are made, and what they should give.

A row is one line of JSON, an object of these fields:

  op        a method of Tensor, called on the first input, or else a function of ``uopd``; required
  name      tells it from other rows of the op
  inputs    tensors, as "dtype[shape]", with " lo..hi" (the range of their values) or " values v,v,…" after it. Values
            are numbers, nan, inf, -0.0. "=" in front: this dtype stays, whatever dtype the row runs with
  between   arguments between the first tensor and the others (gather's axis)
  before    arguments in front of the tensors (einsum's equation); "list": true: the tensors are one list (cat, stack)
  args      arguments after them: an object of keywords, or a list of positional ones ("kwargs" then has keywords)
  names     the last tensors are keywords of these names (null: not a keyword); "names": ["weight", "bias"]
  numpy     expression of what it should give: a, b, c, … are the inputs (floats as f64, others of their dtype), np is
            NumPy, args the arguments, the functions of ``REFERENCE`` go by name. A tuple where the op gives several
  out       the dtype of the result: "bool", "i32", …, or "same" (as the first input); unsaid: not checked
  dtypes    the row also runs with each of these in place of the first input's dtype, and in all inputs of that dtype
  shapes    the row also runs with each of these lists of shapes, one shape an input; ranges stay, values become random
  views     true: also with inputs of two and more axes that are permuted views, not as they lie in memory
  tol       relative tolerance: a number (for f32, and halves and f64 in proportion), or an object by dtype; default
            ``TOLERANCES``. Integers and bools are compared exactly
  atol      absolute tolerance; default: the relative one. 0 where a result has to be good near 0 too
  bits      true: equal to the sign of a zero
  grad      true: gradients by all float inputs (a list: by the inputs of these numbers) against finite differences of
            the numpy expression, in f64, with "grad_tol" (1e-6) and "grad_inputs" in place of the inputs
  grad_numpy  expression of the gradients (a tuple, one an input of "grad") of sum(result * g), where g and the inputs
            are at hand; in place of finite differences, at kinks and where an op is flat
  raises    the exception that the call has to raise, and "match", a part of its message
"""
from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import re
import zlib
from typing import Any, Sequence

import numpy as np
import references
import uopd
from uopd import _dtype

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
Row = dict[str, Any]

#: Relative, and absolute too unless a row says "atol".
TOLERANCES = {"f32": 1e-6, "f64": 1e-13, "f16": 2e-3, "bf16": 1.6e-2}
GRADIENT_TOLERANCE = 1e-6

_SPEC = re.compile(r"(?P<fixed>=?)(?P<dtype>\w+)\[(?P<shape>[\d,]*)\]"
                   r"(?: (?P<low>\S+)\.\.(?P<high>\S+)| values (?P<values>\S*))?")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Input:
    """A tensor to be made: what a spec says."""

    dtype: uopd._dtype.DType
    shape: tuple[int, ...]
    low: float
    high: float
    values: tuple[str, ...] | None
    fixed: bool

    def array(self, seed: int) -> np.ndarray:
        """Its elements: those named, or a hash of (seed, place), scaled to the range. f64 for floats."""
        if self.values is not None:
            if self.dtype.is_float:
                return np.array([float(v) for v in self.values], np.float64).reshape(self.shape)
            return np.array([int(v) for v in self.values]).astype(self.dtype.numpy).reshape(self.shape)
        u = _uniform(seed, math.prod(self.shape)).reshape(self.shape)
        if self.dtype.is_float:
            return self.low + u * (self.high - self.low)
        if self.dtype is _dtype.bool_:
            return u < 0.5
        return (self.low + np.floor(u * (self.high - self.low + 1))).astype(self.dtype.numpy)


def _uniform(seed: int, n: int) -> np.ndarray:
    """n numbers of [0, 1): SplitMix64 of seed * 2^32 + i, its upper 53 bits. (Any language makes the same.)"""
    with np.errstate(over="ignore"):
        z = np.uint64(seed << 32) + np.arange(n, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def parse_input(spec: str) -> Input:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise ValueError(f"{spec!r} is not 'dtype[shape] lo..hi' or 'dtype[shape] values v,v'")
    dtype = _dtype.BY_NAME[match["dtype"]]
    shape = tuple(int(n) for n in match["shape"].split(",") if n)
    defaults = (-2.0, 2.0) if dtype.is_float else (0, 8) if dtype.kind is _dtype.Kind.UNSIGNED else (-8, 8)
    number = float if dtype.is_float else int
    low, high = (number(match["low"]), number(match["high"])) if match["low"] else defaults
    values = None if match["values"] is None else tuple(v for v in match["values"].split(",") if v)
    return Input(dtype, shape, low, high, values, match["fixed"] == "=")


def load_rows() -> list[Row]:
    """All rows of tests/data/ops*.json; "file" says where from and "id" names it."""
    rows = []
    taken: dict[str, int] = {}
    for path in sorted(DATA.glob("ops*.json")):
        for row in json.loads(path.read_text()):
            label = "-".join([row["op"], *([row["name"]] if "name" in row else [])])
            taken[label] = taken.get(label, 0) + 1
            row["file"], row["id"] = path.name, label if taken[label] == 1 else f"{label}-{taken[label]}"
            rows.append(row)
    return rows


# ---------------------------------------------------------------------- a row's runs


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of a row: its inputs."""

    row: Row
    label: str
    inputs: tuple[Input, ...]
    view: bool = False

    def tensors(self) -> list[uopd.Tensor]:
        made = []
        for i, spec in enumerate(self.inputs):
            array = self.host(i)
            if self.view and array.ndim > 1:
                order = tuple(reversed(range(array.ndim)))
                made.append(uopd.Tensor(np.ascontiguousarray(array.transpose(order)), spec.dtype).permute(order))
            else:
                made.append(uopd.Tensor(array, spec.dtype))
        return made

    def host(self, i: int) -> np.ndarray:
        """The elements of input i; a float's as f64, but rounded to its dtype."""
        spec = self.inputs[i]
        array = spec.array(zlib.crc32(f"{self.row['op']} {i}".encode()))
        return as_f64(round_to(array, spec.dtype)) if spec.dtype.is_float else array

    def call(self, tensors: Sequence[uopd.Tensor]) -> Any:
        return call(self.row, tensors)

    def expected(self) -> tuple[np.ndarray, ...]:
        return as_tuple(evaluate(self.row["numpy"], [self.host(i) for i in range(len(self.inputs))], self.row))


def cases(row: Row) -> list[Case]:
    inputs = tuple(map(parse_input, row["inputs"]))
    own = inputs[0].dtype if inputs else None
    found = []
    for name in dict.fromkeys([own.name if own else "", *row.get("dtypes", [])]):
        found.append(Case(row, name, tuple(_with_dtype(i, own, name) for i in inputs)))
    for shapes in row.get("shapes", []):
        found.append(Case(row, str(shapes), tuple(dataclasses.replace(i, shape=tuple(s), values=None)
                                                  for i, s in zip(inputs, shapes))))  # fmt: skip
    if row.get("views"):
        found.append(Case(row, "view", inputs, view=True))
    return found


def _with_dtype(spec: Input, old: uopd._dtype.DType | None, name: str) -> Input:
    if spec.fixed or spec.dtype is not old or name == spec.dtype.name:
        return spec
    dtype = _dtype.BY_NAME[name]
    if spec.values is not None:
        values = spec.values
        if not dtype.is_float and spec.dtype.is_float:
            values = tuple(str(int(float(v))) for v in values)
        return dataclasses.replace(spec, dtype=dtype, values=values)
    low, high = spec.low, spec.high
    if not dtype.is_float:
        low, high = math.ceil(low), math.floor(high)
    if dtype.kind is _dtype.Kind.UNSIGNED:
        low = max(low, 0)
    return dataclasses.replace(spec, dtype=dtype, low=low, high=high)


def call(row: Row, tensors: Sequence[uopd.Tensor]) -> Any:
    """The op of a row on tensors."""
    args = row.get("args", {})
    positional, keywords = (args, row.get("kwargs", {})) if isinstance(args, list) else ([], args)
    names = row.get("names", [])
    keywords = {**keywords, **{n: t for n, t in zip(names, tensors[len(tensors) - len(names) :]) if n is not None}}
    tensors = [t for t in tensors if not any(t is k for k in keywords.values())]
    operands: list[Any] = [list(tensors)] if row.get("list") else list(tensors)
    op = row["op"]
    if "before" not in row and not row.get("list") and tensors and hasattr(uopd.Tensor, op):
        return getattr(tensors[0], op)(*row.get("between", []), *tensors[1:], *positional, **keywords)
    return getattr(uopd, op)(*row.get("before", []), *operands, *positional, **keywords)


def evaluate(expression: str, arrays: Sequence[np.ndarray], row: Row, **more: Any) -> Any:
    names = {"abcdefgh"[i] if i < 6 else f"x{i}": x for i, x in enumerate(arrays)}
    with np.errstate(all="ignore"):
        return eval(expression, {**REFERENCE, **names, "args": row.get("args", {}), **more})  # noqa: S307


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def round_to(array: np.ndarray, dtype: uopd._dtype.DType) -> np.ndarray:
    """The values rounded to a dtype, once; bf16's as float32."""
    array = np.asarray(array)
    with np.errstate(all="ignore"):
        if dtype is _dtype.bf16:
            single = array.astype(np.float32)
            # To odd first: then the rounding to bf16 is the only one.
            bits = single.view(np.uint32) if single.ndim else single.reshape(1).view(np.uint32)
            double = np.asarray(array, np.float64).reshape(bits.shape)
            inexact = (single.reshape(bits.shape).astype(np.float64) != double) & ~np.isnan(double)
            above = inexact & (np.abs(single.reshape(bits.shape).astype(np.float64)) > np.abs(double))
            odd = np.where(inexact, (bits - above.astype(np.uint32)) | 1, bits).astype(np.uint32)
            return _dtype.from_bf16_bits(_dtype.to_bf16_bits(odd.view(np.float32))).reshape(array.shape)
        return array.astype(dtype.numpy)


def as_f64(array: np.ndarray) -> np.ndarray:
    return np.asarray(array, np.float64)


# ---------------------------------------------------------------------- comparing


def tolerance(row: Row, dtype: uopd._dtype.DType) -> float:
    given = row.get("tol", {})
    if isinstance(given, dict):
        return float(given.get(dtype.name, given.get("half" if dtype.is_half else "", TOLERANCES[dtype.name])))
    return float(given) * TOLERANCES[dtype.name] / TOLERANCES["f32"]


def compare(row: Row, label: str, got: np.ndarray, dtype: uopd._dtype.DType, want: Any) -> None:
    """Asserts that a result is what the expression says, to the tolerance of its dtype."""
    want = np.asarray(want)
    where = f"{row['id']} {label}"
    assert got.shape == want.shape, f"{where}: shape {got.shape}, not {want.shape}"
    if not dtype.is_float:
        np.testing.assert_array_equal(got, want.astype(dtype.numpy), err_msg=where)
        return
    tol = tolerance(row, dtype)
    atol = float(row.get("atol", tol))
    want = as_f64(round_to(want, dtype)) if dtype is not _dtype.f64 else as_f64(want)
    np.testing.assert_allclose(as_f64(got), want, rtol=tol, atol=atol, err_msg=where)
    if row.get("bits"):
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got) & numbers, np.signbit(want) & numbers, err_msg=where)


def differences(row: Row, arrays: list[np.ndarray], weights: Sequence[np.ndarray], i: int) -> np.ndarray:
    """d sum(result * weights) / d input i of the numpy expression, by central differences of fourth order."""

    def loss(x: np.ndarray) -> float:
        changed = [*arrays[:i], x, *arrays[i + 1 :]]
        return math.fsum(np.sum(as_f64(r) * w) for r, w in zip(as_tuple(evaluate(row["numpy"], changed, row)), weights))

    x = arrays[i]
    gradient = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        h = 2.0**-10 * max(1.0, abs(float(x[at])) / 4) / 4
        values = []
        for step in (-2, -1, 1, 2):
            moved = x.copy()
            moved[at] += step * h
            values.append(loss(moved))
        gradient[at] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    return gradient


def weights_like(results: Sequence[np.ndarray]) -> list[np.ndarray]:
    """One weight an element, so that a gradient that lands in the wrong place shows."""
    return [0.5 + _uniform(77 + i, r.size).reshape(r.shape) for i, r in enumerate(results)]


# ---------------------------------------------------------------------- functions of the expressions


def _each(function: Any) -> Any:
    return lambda x: np.vectorize(function, otypes=[np.float64])(np.asarray(x, np.float64)).reshape(np.shape(x))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _logsumexp(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    top = x.max(axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.log(np.exp(x - top).sum(axis, keepdims=True)) + top
    return total if keepdims else total.sum(axis) if axis is not None else total.reshape(())


#: What expressions may call by name.
REFERENCE: dict[str, Any] = {
    **{name: f for name, f in vars(references).items() if callable(f)},
    "np": np, "math": math, "erf": _each(math.erf), "erfc": _each(math.erfc), "sigmoid": _sigmoid, "softmax": _softmax,
    "logsumexp": _logsumexp, "inf": math.inf, "nan": math.nan, "pi": math.pi,
}  # fmt: skip
