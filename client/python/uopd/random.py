"""Random numbers: a counter-based generator, as nodes of the graph, so that a server draws them where they are used.

Each element is one block of Threefry-2x32 with 20 rounds (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011): key = the seed, counter = (index of the element, number of the
draw). So the bits depend on nothing but seed, draw and index: not on the server, its threads, or what a kernel fuses.
Integers, uniform numbers and permutations are the same everywhere; normal ones up to the rounding of log2 and sin.

The number of the draw is an element of a tensor, which each draw advances. It is realized along with whatever is
realized next, so that each step of a loop is the same graph, and ``jit`` advances it too.
"""
from __future__ import annotations

import math
import secrets
import threading
import weakref
from typing import Sequence

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase, advance_with, state
from uopd._build import broadcast_to, cast, full, prod, reshape
from uopd._dtype import DTypeLike, dtype_of
from uopd._graph import Shape, UOp, node
from uopd._movement import sizes
from uopd._sorting import sorted_indices
from uopd._tensor import Tensor
from uopd._views import shrink_axis
from uopd.device import Device, default_device

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA  # Skein's, so that no key is all zeros


def threefry(key: tuple[UOp, UOp], counter: tuple[UOp, UOp]) -> tuple[UOp, UOp]:
    """Threefry-2x32-20 on u32 nodes of one shape."""
    shape = key[0].shape

    def word(value: int) -> UOp:
        return full(value, shape, _dtype.u32)

    def add(a: UOp, b: UOp) -> UOp:
        return node("ADD", (a, b))

    def rotated(x: UOp, by: int) -> UOp:
        return node("OR", (node("SHL", (x, word(by))), node("SHR", (x, word(32 - by)))))

    keys = (key[0], key[1], node("XOR", (node("XOR", (key[0], key[1])), word(_PARITY))))
    x, y = add(counter[0], keys[0]), add(counter[1], keys[1])
    for group in range(5):
        for by in _ROTATIONS[group % 2]:
            x = add(x, y)
            y = node("XOR", (rotated(y, by), x))
        x = add(x, keys[(group + 1) % 3])
        y = add(add(y, keys[(group + 2) % 3]), word(group + 1))
    return x, y


class Generator:
    """A stream of random numbers on a device: one seed, one stream."""

    def __init__(self, seed: int | None = None, device: Device | None = None) -> None:
        """``seed``: 0..2^64-1; None: from the operating system."""
        tracer, state.tracer = state.tracer, None  # made by the first draw, perhaps within jit; kept after it
        try:
            self.device = device or default_device()
            self._key = Tensor(np.zeros(2, np.uint32), device=self.device)
            self._draw = Tensor(np.zeros(1, np.uint32), device=self.device)
            self._lock = threading.Lock()
            self.manual_seed(secrets.randbits(64) if seed is None else seed)
        finally:
            state.tracer = tracer
        advance_with(self._draw)

    def manual_seed(self, seed: int) -> Generator:
        """Begins the stream of ``seed``; returns self."""
        if not 0 <= seed < 2**64:
            raise ValueError(f"a seed is an integer from 0 to 2^64 - 1, not {seed}")
        self._key.assign(np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint32))
        self._draw.assign(np.zeros(1, np.uint32))
        return self

    def _words(self, shape: Shape) -> tuple[Tensor, Tensor]:
        """64 random bits for each element, as two words. The next draw."""
        n = prod(shape)
        if n >= 2**32:
            raise ValueError(f"a draw of {list(shape)} has 2^32 elements or more; draw it in parts")
        with self._lock:
            return self._next_words(shape, n)

    def _next_words(self, shape: Shape, n: int) -> tuple[Tensor, Tensor]:
        key = self._key.node
        k0, k1 = (broadcast_to(shrink_axis(key, 0, i, i + 1), (n,)) for i in (0, 1))
        draw = broadcast_to(self._draw.node, (n,))
        index = node("IOTA", dtype=_dtype.u32, ints=(n,))
        x, y = threefry((k0, k1), (index, draw))
        words = self._draw._make(reshape(x, shape), self._key), self._draw._make(reshape(y, shape), self._key)
        # Stored, so that a kernel reads the number of its draw, whichever that is, and is one for all draws of a shape.
        after = node("ADD", (self._draw.node, full(1, (1,), _dtype.u32)))
        self._draw.assign(self._draw._make(node("STAGE", (after,))))
        return words

    # ------------------------------------------------------------------ distributions

    def rand(self, *shape: int | Sequence[int], dtype: DTypeLike = _dtype.f32) -> Tensor:
        """Uniform in [0, 1): multiples of 2^-24, of f64 2^-53. (Of f16 and bf16 multiples of 2^-11 and 2^-8, so that
        none is rounded up to 1.)"""
        kind = _float(dtype)
        x, y = self._words(tuple(sizes(shape)))
        return x._make(_unit(x.node, y.node, kind), y)

    def uniform(
        self, shape: int | Sequence[int], low: float = 0.0, high: float = 1.0, *, dtype: DTypeLike = _dtype.f32
    ) -> Tensor:
        """Uniform in [low, high)."""
        return _between(self.rand(*sizes([shape]), dtype=dtype), low, high)

    def randn(self, *shape: int | Sequence[int], dtype: DTypeLike = _dtype.f32) -> Tensor:
        """Normal, mean 0, standard deviation 1 (Box and Muller, 1958): sqrt(-2 ln u) cos(2 pi v). Of f16 and bf16, as
        f32 rounded."""
        kind = _float(dtype)
        wide = _dtype.f64 if kind is _dtype.f64 else _dtype.f32
        x, y = self._words(tuple(sizes(shape)))
        return x._make(cast(_normal(x.node, y.node, wide), kind), y)

    def normal(
        self,
        shape: int | Sequence[int],
        mean: float | Tensor = 0.0,
        std: float | Tensor = 1.0,
        *,
        dtype: DTypeLike = _dtype.f32,
    ) -> Tensor:
        """Normal: mean + std * z. Gradients pass to ``mean`` and ``std`` where they are tensors."""
        z = self.randn(*sizes([shape]), dtype=dtype)
        if isinstance(std, TensorBase) or std != 1:
            z = z * std
        return z + mean if isinstance(mean, TensorBase) or mean != 0 else z

    def randint(
        self, low: int, high: int | None, shape: int | Sequence[int], *, dtype: DTypeLike = _dtype.i32
    ) -> Tensor:
        """Integers from low to high - 1 (high None: 0 to low - 1), their probabilities equal to 2^-32: the upper half of
        a 32-bit word times their number (D. Lemire, "Fast random integer generation in an interval", 2019, without the
        rejection). Raises ValueError for none, or for more than 2^32."""
        low, high = (0, low) if high is None else (low, high)
        kind = dtype_of(dtype)
        count = high - low
        if not 0 < count <= 2**32:
            raise ValueError(f"integers from {low} to {high - 1}: there are 1 to 2^32 of them")
        if not kind.is_integer or low < np.iinfo(kind.numpy).min or high - 1 > np.iinfo(kind.numpy).max:
            raise TypeError(f"integers from {low} to {high - 1} do not fit into {kind.name}; take a wider dtype")
        x, _ = self._words(tuple(sizes([shape])))
        wide = node("MUL", (cast(x.node, _dtype.u64), full(count, x.shape, _dtype.u64)))
        place = cast(node("SHR", (wide, full(32, x.shape, _dtype.u64))), kind)
        wrapped = node("CONST", dtype=kind, bits=low & ((1 << 8 * kind.itemsize) - 1))
        return x._make(node("ADD", (place, broadcast_to(wrapped, x.shape))) if low else place)

    def permutation(self, x: int | Tensor) -> Tensor:
        """0..n-1 in random order; or the parts of a tensor's first axis. By sorting a random word for each."""
        n = x.shape[0] if isinstance(x, TensorBase) else int(x)
        words, _ = self._words((n,))
        order = words._make(node("STAGE", (sorted_indices(words.node, n),)))
        return x[order] if isinstance(x, TensorBase) else order

    def bernoulli(self, p: Tensor | float, shape: int | Sequence[int] | None = None) -> Tensor:
        """True with probability ``p``, for each element of ``shape`` (without it: of ``p``)."""
        if shape is None:
            if not isinstance(p, TensorBase):
                raise ValueError("bernoulli of a number needs a shape")
            shape = p.shape
        return self.rand(*sizes([shape])) < p



def _float(dtype: DTypeLike) -> _dtype.DType:
    kind = dtype_of(dtype)
    if not kind.is_float:
        raise TypeError(f"these random numbers are floats, not {kind.name}; use randint, or cast them")
    return kind


def _power(exponent: int, shape: Shape, dtype: _dtype.DType) -> UOp:
    return full(math.ldexp(1.0, exponent), shape, dtype)


def _unit(x: UOp, y: UOp, kind: _dtype.DType) -> UOp:
    """[0, 1): the upper bits of x (of f64: of both words), as many as the dtype holds exactly."""
    if kind is _dtype.f64:
        both = node("OR", (node("SHL", (cast(x, _dtype.u64), full(32, x.shape, _dtype.u64))), cast(y, _dtype.u64)))
        upper = cast(node("SHR", (both, full(11, x.shape, _dtype.u64))), kind)
        return node("MUL", (upper, _power(-53, x.shape, kind)))
    bits = {_dtype.f32: 24, _dtype.f16: 11, _dtype.bf16: 8}[kind]
    upper = cast(node("SHR", (x, full(32 - bits, x.shape, _dtype.u32))), _dtype.f32)
    return cast(node("MUL", (upper, _power(-bits, x.shape, _dtype.f32))), kind)


def _normal(x: UOp, y: UOp, kind: _dtype.DType) -> UOp:
    """sqrt(-2 ln 2 log2(u)) sin(2 pi (v + 1/4)), u in (0, 1] from x and v in [0, 1) from y."""
    shape = x.shape
    # Of 32 bits each for f64, 24 for f32. (u is half a step from 0 at least, so that its log is finite.)
    bits = 32 if kind is _dtype.f64 else 24
    u, v = (cast(w if bits == 32 else node("SHR", (w, full(32 - bits, shape, _dtype.u32))), kind) for w in (x, y))
    u = node("MUL", (node("ADD", (u, full(1.0, shape, kind))), _power(-bits, shape, kind)))
    radius = node("SQRT", (node("MUL", (node("LOG2", (u,)), full(-2 * math.log(2), shape, kind))),))
    turn = node("ADD", (node("MUL", (v, _power(-bits, shape, kind))), full(0.25, shape, kind)))
    return node("MUL", (radius, node("SIN", (node("MUL", (turn, full(2 * math.pi, shape, kind))),))))


def _between(x: Tensor, low: float, high: float) -> Tensor:
    if low == 0 and high == 1:
        return x
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"uniform takes finite ends, the lower first; got {low} and {high}")
    # The product of two f32 is exact in f64, so that it does not matter whether it is contracted with the sum.
    kind, wide = x.dtype, _dtype.f64
    scale = high - low if kind is wide else float(np.float32(high - low))
    u = node("MUL", (cast(x.node, wide), full(scale, x.shape, wide)))
    return x._make(cast(node("ADD", (u, full(low, x.shape, wide))), kind))


# ---------------------------------------------------------------------- the default generator of each device

_generators: weakref.WeakSet[Generator] = weakref.WeakSet()
_seed: int | None = None


def default_generator(device: Device | None = None) -> Generator:
    """The one the functions of this module draw from on a device."""
    device = device or default_device()
    if device.generator is None:
        device.generator = Generator(_seed, device)
        _generators.add(device.generator)
    found: Generator = device.generator
    return found


def manual_seed(seed: int) -> None:
    """Begins the stream of ``seed`` on every device."""
    global _seed
    _seed = seed
    for generator in list(_generators):
        generator.manual_seed(seed)


def rand(
    *shape: int | Sequence[int],
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in [0, 1); see Generator.rand."""
    return _leaf((generator or default_generator(device)).rand(*sizes(shape), dtype=dtype), requires_grad)


def uniform(
    shape: int | Sequence[int],
    low: float = 0.0,
    high: float = 1.0,
    *,
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in [low, high)."""
    return _leaf((generator or default_generator(device)).uniform(shape, low, high, dtype=dtype), requires_grad)


def randn(
    *shape: int | Sequence[int],
    dtype: DTypeLike = _dtype.f32,
    requires_grad: bool = False,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Normal, mean 0, standard deviation 1; see Generator.randn."""
    return _leaf((generator or default_generator(device)).randn(*sizes(shape), dtype=dtype), requires_grad)


def normal(
    shape: int | Sequence[int],
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    *,
    dtype: DTypeLike = _dtype.f32,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Normal; see Generator.normal."""
    return (generator or default_generator(device)).normal(shape, mean, std, dtype=dtype)


def randint(
    low: int,
    high: int | None = None,
    shape: int | Sequence[int] = (),
    *,
    dtype: DTypeLike = _dtype.i32,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from low to high - 1; see Generator.randint."""
    return (generator or default_generator(device)).randint(low, high, shape, dtype=dtype)


integers = randint


def permutation(x: int | Tensor, *, device: Device | None = None, generator: Generator | None = None) -> Tensor:
    """0..x-1 in random order, as i32; or the parts of x's first axis."""
    where = x.device if isinstance(x, TensorBase) else device
    return (generator or default_generator(where)).permutation(x)


randperm = permutation


def bernoulli(
    p: Tensor | float,
    shape: int | Sequence[int] | None = None,
    *,
    device: Device | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """True with probability ``p``; see Generator.bernoulli. A dropout mask is bernoulli(1 - p, x.shape)."""
    where = p.device if isinstance(p, TensorBase) else device
    return (generator or default_generator(where)).bernoulli(p, shape)


def _leaf(x: Tensor, requires_grad: bool) -> Tensor:
    """As a tensor that was made, not computed from others: it may become a parameter."""
    x.is_leaf = True
    return x.requires_grad_() if requires_grad else x
