"""What a tensor is: a node of a graph that stands for a value, computed when it is asked for.

Operations (the modules after this one) only build nodes. ``realize`` runs the graph at the server; the result stays
there, and the tensor then stands for that buffer. A tensor that changes in place (``assign``, ``+=``, ``x[i] = …``)
stands for another node from then on; what was built from it before keeps reading the value before.
"""
from __future__ import annotations

import contextlib
import itertools
import threading
import weakref
from typing import Any, Iterator, Self, Sequence

import numpy as np

from uopd import _dtype
from uopd._build import Number, base_buffer, broadcast_shapes, broadcast_to, cast, constant, reshape
from uopd._dtype import DType, DTypeLike, dtype_of
from uopd._graph import Shape, UOp, node, substitute, toposort
from uopd.device import Array, Buffer, Device, Plan, default_device, to_bytes


class _State(threading.local):
    """Of this thread: whether gradients are off, and the trace that watches (see jit)."""

    no_grad = False
    tracer: Any = None


state = _State()


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Within it, results do not depend on their inputs as far as gradients go."""
    before, state.no_grad = state.no_grad, True
    try:
        yield
    finally:
        state.no_grad = before


_ages = itertools.count()

#: Tensors by device, so that all that stand for the same value are realized together.
_live: weakref.WeakKeyDictionary[Device, weakref.WeakSet[TensorBase]] = weakref.WeakKeyDictionary()
#: Tensors, in order, that are realized along with whatever is realized next (see advance_with).
_along: list[weakref.ref[TensorBase]] = []


class TensorBase:
    """State and realization; operations are in the classes derived from it, the last of which is Tensor."""

    __slots__ = ("node", "device", "requires_grad", "is_leaf", "grad", "age", "_before", "__weakref__")

    node: UOp
    device: Device
    #: Whether gradients flow to it: set for parameters, and true of all that is computed from them.
    requires_grad: bool
    #: Made from data or by a creation function, not computed from tensors that require gradients.
    is_leaf: bool
    #: What ``backward`` has summed up.
    grad: Self | None
    #: Among all tensors, in the order they were made.
    age: int
    #: Of a leaf that was realized: the node it was before, which a loss may have been built from.
    _before: UOp | None

    #: NumPy leaves the operators between its arrays and tensors to us.
    __array_priority__ = 1000

    def __init__(
        self,
        data: Any,
        dtype: DTypeLike | None = None,
        *,
        requires_grad: bool = False,
        device: Device | None = None,
    ) -> None:
        """A tensor of ``data``: a number, nested lists, or anything NumPy makes an array of. Python's floats become
        f32 and ints i32 (i64 where they do not fit) unless ``dtype`` says otherwise; arrays keep their dtype."""
        if isinstance(data, TensorBase):
            u = data.node if dtype is None else cast(data.node, dtype_of(dtype))
            self._set_up(u, data.device, requires_grad, is_leaf=True)
            return
        array = np.asarray(data)
        kind = dtype_of(dtype) if dtype is not None else _default_dtype(data, array)
        if state.tracer is not None:
            state.tracer.no_host_data()
        device = device or default_device()
        buffer = Buffer(device, kind, array.size, host=to_bytes(array, kind))
        leaf = node("BUFFER", dtype=kind, ints=(array.size,), buffer=buffer)
        self._set_up(reshape(leaf, array.shape), device, requires_grad, is_leaf=True)

    def _set_up(self, u: UOp, device: Device, requires_grad: bool, is_leaf: bool) -> None:
        if requires_grad and not u.dtype.is_float:
            raise TypeError(f"only float tensors have gradients, not {u.type}; cast it")
        self.node, self.device, self.requires_grad, self.is_leaf = u, device, requires_grad, is_leaf
        self.grad = None
        self.age = next(_ages)
        self._before = None
        _live.setdefault(device, weakref.WeakSet()).add(self)

    @classmethod
    def _of(cls, u: UOp, device: Device, *, requires_grad: bool = False) -> Self:
        """A tensor that is no function of others."""
        made = cls.__new__(cls)
        made._set_up(u, device, requires_grad, is_leaf=True)
        if state.tracer is not None:
            state.tracer.made(made)
        return made

    def _make(self, u: UOp, *inputs: TensorBase) -> Self:
        """The tensor of a node computed from this one (and ``inputs``)."""
        needs = self.requires_grad
        for x in inputs:
            needs |= x.requires_grad
            if x.device is not self.device:
                raise ValueError(f"the operands live on {self.device.address} and {x.device.address}; bring both to one")
        needs = needs and u.dtype.is_float
        if needs and state.no_grad:
            u = node("DETACH", (u,))
        made = type(self).__new__(type(self))
        made._set_up(u, self.device, needs and not state.no_grad, is_leaf=False)
        if state.tracer is not None:
            state.tracer.read(self, *inputs)
            state.tracer.made(made)
        return made

    def _wrap(self, other: Self | Number | Array) -> Self:
        """An array as a tensor beside this one."""
        if isinstance(other, TensorBase):
            return other  # type: ignore[return-value]
        return type(self)(other, device=self.device)

    # ------------------------------------------------------------------ what it is

    @property
    def shape(self) -> Shape:
        return self.node.shape

    @property
    def dtype(self) -> DType:
        return self.node.dtype

    @property
    def ndim(self) -> int:
        return len(self.node.shape)

    def numel(self) -> int:
        return self.node.numel

    def size(self, axis: int) -> int:
        return self.shape[axis]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without axes has no length")
        return self.shape[0]

    # ------------------------------------------------------------------ values

    def realize(self) -> Self:
        """Computes the value now, at the server; returns self."""
        realize(self)
        return self

    def numpy(self) -> Array:
        """The value as a NumPy array (bf16 as float32); it is the caller's own."""
        if state.tracer is not None:
            state.tracer.no_reading()
        self.realize()
        base = base_buffer(self.node)
        assert base is not None
        array = np.frombuffer(base.buffer.read(), self.dtype.numpy).reshape(self.shape)
        if self.dtype is _dtype.bf16:
            return _dtype.from_bf16_bits(array)
        return np.not_equal(array, 0) if self.dtype is _dtype.bool_ else array.copy()

    def item(self) -> Any:
        """The only element as a Python number. Raises ValueError where there are more."""
        if self.numel() != 1:
            raise ValueError(f"item() reads the only element, but {self.node.type} has {self.numel()}; use numpy()")
        return self.numpy().item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None) -> Array:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError(f"only an integer tensor is an index, not {self.node.type}")
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __repr__(self) -> str:
        base = base_buffer(self.node)
        grad = ", requires_grad=True" if self.requires_grad else ""
        if base is None or state.tracer is not None:
            return f"<Tensor {self.node.type}, not computed yet{grad}>"
        body = np.array2string(self.numpy(), separator=", ", prefix="tensor(", threshold=200)
        return f"tensor({body}, dtype={self.dtype.name}{grad})"

    # ------------------------------------------------------------------ changing in place

    def assign(self, value: Self | Number | Array) -> Self:
        """Stands for ``value`` from now on, broadcast to this shape and cast to this dtype; returns self. What was
        built from the tensor before reads the value before."""
        if isinstance(value, (int, float, bool)):
            u = constant(value, self.dtype)
            needs = False
        else:
            other = self._wrap(value)
            u, needs = other.node, other.requires_grad and not state.no_grad
            if other.requires_grad and not needs:
                u = node("DETACH", (u,))
            if state.tracer is not None:
                state.tracer.read(other)
        if broadcast_shapes(u.shape, self.shape) != self.shape:
            raise ValueError(f"{u.type} does not broadcast to {self.node.type}; assign keeps the shape")
        if self.is_leaf and self.requires_grad and needs:
            raise ValueError("a parameter is changed by what depends on gradients; detach the value, or use no_grad()")
        if state.tracer is not None:
            state.tracer.changed(self)
        self.node = cast(broadcast_to(u, self.shape), self.dtype)
        self._before = None
        if not self.is_leaf:
            self.requires_grad = needs
        elif needs:
            self.requires_grad, self.is_leaf = True, False
        return self

    # ------------------------------------------------------------------ gradients

    def detach(self) -> Self:
        """The same value; gradients stop here."""
        made = self._make(node("DETACH", (self.node,)))
        made.requires_grad = False
        return made

    def requires_grad_(self, on: bool = True) -> Self:
        """Sets whether gradients flow to this leaf; returns self."""
        if on and not self.dtype.is_float:
            raise TypeError(f"only float tensors have gradients, not {self.node.type}; cast it")
        self.is_leaf = self.is_leaf or (on and not self.requires_grad)
        self.requires_grad = on
        return self

    def backward(self, wrt: Sequence[Self] | None = None) -> None:
        """Adds d self / d t to ``t.grad`` for each of ``wrt``; None: for every parameter (a leaf that requires
        gradients) that this one element depends on. Nothing is computed yet: the server expands the gradients when a
        result is realized, and a step of training is one plan."""
        targets = list(wrt) if wrt is not None else self._parameters()
        for t, g in zip(targets, grad(self, targets)):
            if state.tracer is not None:
                state.tracer.graded(t)
            t.grad = g if t.grad is None else t._make(node("ADD", (t.grad.node, g.node)), t.grad, g)
            t.grad.requires_grad = False

    def _parameters(self) -> list[Self]:
        under = set(toposort([_with_history(self.node)]))
        found = [t for t in _live.get(self.device, ()) if t.is_leaf and t.requires_grad
                 and (t.node in under or (t._before is not None and t._before in under))]  # fmt: skip
        if not found:
            raise ValueError(f"{self.node.type} depends on no tensor that requires gradients")
        return sorted(found, key=lambda t: t.age)  # type: ignore[arg-type]

    def plan(self) -> Plan:
        """The plan that realizes it; compiles it, but runs nothing."""
        return self.device.plan([self.node])


def _default_dtype(data: Any, array: Array) -> DType:
    if isinstance(data, (np.ndarray, np.generic)):
        return dtype_of(array.dtype)
    if array.dtype.kind == "f":
        return _dtype.f32
    if array.dtype.kind == "i":
        fits = array.size == 0 or (-(2**31) <= int(array.min()) and int(array.max()) < 2**31)
        return _dtype.i32 if fits else _dtype.i64
    return dtype_of(array.dtype)


def realize(*tensors: TensorBase) -> None:
    """Computes all of them in one plan. Each then stands for its buffer, as do all tensors of the same value."""
    if not tensors:
        return
    if state.tracer is not None:
        state.tracer.no_realizing()
    device = tensors[0].device
    for t in tensors:
        if t.device is not device:
            raise ValueError("tensors of different devices are realized apart")
    wanted = list(dict.fromkeys(t.node for t in tensors if base_buffer(t.node) is None))
    if wanted:
        advanced = [t.node for t in (ref() for ref in _along) if t is not None and t.device is device]
        wanted = list(dict.fromkeys([*wanted, *(u for u in advanced if base_buffer(u) is None)]))
        settle(device, wanted, device.run(wanted))


def advance_with(tensor: TensorBase) -> None:
    """Has ``tensor``, a counter that is changed in place, realized along with whatever is realized from now on, so that it
    does not grow by one addition a step and every step is the same graph."""
    _along[:] = [ref for ref in _along if ref() is not None]
    _along.append(weakref.ref(tensor))


def settle(device: Device, nodes: Sequence[UOp], buffers: Sequence[Buffer]) -> None:
    """All tensors that stand for one of ``nodes`` stand for its buffer from now on."""
    leaves = {u: leaf_of(b) for u, b in zip(nodes, buffers)}
    for t in list(_live.get(device, ())):
        leaf = leaves.get(t.node)
        if leaf is None:
            continue
        if t.requires_grad:
            if t.is_leaf:
                t._before = t.node
            else:
                leaf.origin = reshape(t.node, leaf.shape)
        t.node = reshape(leaf, t.node.shape)


def leaf_of(buffer: Buffer) -> UOp:
    return node("BUFFER", dtype=buffer.dtype, ints=(buffer.elements,), buffer=buffer)


def _with_history(u: UOp) -> UOp:
    """``u`` in terms of what the realized values in it were computed from, as far as gradients pass through them."""
    while any(v.origin is not None for v in toposort([u]) if v.op == "BUFFER"):
        u = substitute([u], lambda v: v.origin if v.op == "BUFFER" else None)[0]
    return u


def grad(loss: TensorBase, wrt: Sequence[TensorBase]) -> list[Any]:
    """d loss / d t for each tensor of ``wrt``, lazily: the server expands it. ``loss`` is one float element that
    depends on each of them; raises ValueError where it does not."""
    root = _with_history(loss.node)
    under = set(toposort([root]))
    found = []
    for i, t in enumerate(wrt):
        target = next((u for u in (t.node, t._before, _history_of(t)) if u is not None and u in under), None)
        if target is None:
            raise ValueError(f"the loss does not depend on tensor {i} ({t.node.type}) of those to differentiate by; was "
                             "it changed in place after the loss was built from it?")  # fmt: skip
        found.append(t._make(node("GRADIENT", (root, target)), loss))
    return found


def _history_of(t: TensorBase) -> UOp | None:
    base = base_buffer(t.node)
    return None if base is None or base.origin is None else reshape(_with_history(base.origin), t.node.shape)
