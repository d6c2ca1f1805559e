"""jit: trace a function of tensors once, then run its plan by id, without building a graph.

    @uopd.jit
    def step(x, y):
        loss = model(x).cross_entropy(y)
        loss.backward()
        optimizer.step(loss)
        return loss

A call is *traced* twice, and then *replayed*. In a trace the function runs as it is written; what it returns, what it
changes in place (``assign``, ``+=``, an optimizer's step) and the gradients it leaves are computed in one plan. The second
trace has to give the same graph over the same tensors as the first: a Python number that has changed between the two, or
a tensor that was made anew, would be baked into the plan, so it raises JitError instead of giving wrong answers later. A
replay binds the arguments, and the present values of the tensors from outside that the function reads.

Arguments may be tensors, NumPy arrays (sent with the call), numbers, strings and None, in lists, tuples and dicts. Another
shape, dtype, number or string is another trace. Within the function a value must not be read (``item``, ``numpy``), and
host data must not be made into tensors: pass it as an argument.
"""
from __future__ import annotations

import functools
import gc
import weakref
from typing import Any, Callable, Generic, ParamSpec, TypeVar

import numpy as np

from uopd import _base
from uopd._base import TensorBase, leaf_of, settle, state
from uopd._build import base_buffer, reshape
from uopd._graph import UOp, listing, substitute, toposort
from uopd._tensor import Tensor
from uopd._wire import encode
from uopd.device import Buffer, Device, Plan, default_device
from uopd.errors import JitError, NotFound

P = ParamSpec("P")
R = TypeVar("R")

_RULES = "see uopd.jit: pass what changes as an argument, and keep what stays in tensors that are changed in place"


class _Leaf:
    """Stands for a tensor in the structure of arguments and results."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def _flatten(value: Any, leaves: list[Any], path: str) -> Any:
    """The structure of ``value`` with tensors and arrays replaced by their number; they go to ``leaves``."""
    if isinstance(value, (TensorBase, np.ndarray)):
        leaves.append(value)
        return _Leaf(len(leaves) - 1)
    if isinstance(value, (list, tuple)):
        parts = [_flatten(v, leaves, f"{path}[{i}]") for i, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {k: _flatten(v, leaves, f"{path}[{k!r}]") for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise JitError(f"{path} is a {type(value).__name__}; a function under jit takes and gives tensors, arrays, numbers, "
                   "strings and None, in lists, tuples and dicts")  # fmt: skip


def _restore(structure: Any, leaves: list[Any]) -> Any:
    if isinstance(structure, _Leaf):
        return leaves[structure.index]
    if isinstance(structure, (list, tuple)):
        parts = [_restore(v, leaves) for v in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {k: _restore(v, leaves) for k, v in structure.items()}
    return structure


def _key(structure: Any) -> Any:
    """The structure as something hashable; numbers with their types, so that 1, 1.0 and True differ."""
    if isinstance(structure, _Leaf):
        return "leaf"
    if isinstance(structure, (list, tuple)):
        return (type(structure), *map(_key, structure))
    if isinstance(structure, dict):
        return (dict, *((k, _key(v)) for k, v in structure.items()))
    return (type(structure), repr(structure))


class _Tracer:
    """Watches a function: which tensors from outside it reads, which it changes, which gradients it leaves."""

    def __init__(self) -> None:
        self.own: dict[int, TensorBase] = {}  # made within; held, so that an id is not used again
        self.outside: dict[int, tuple[TensorBase, UOp]] = {}  # read or changed, and the node each stood for
        self.changed_in_order: dict[int, TensorBase] = {}
        self.graded_in_order: dict[int, TensorBase] = {}

    def made(self, tensor: TensorBase) -> None:
        self.own[id(tensor)] = tensor

    def read(self, *tensors: TensorBase) -> None:
        for t in tensors:
            if id(t) not in self.own and id(t) not in self.outside:
                self.outside[id(t)] = (t, t.node)

    def changed(self, tensor: TensorBase) -> None:
        if id(tensor) not in self.own:
            self.read(tensor)
            self.changed_in_order[id(tensor)] = tensor

    def graded(self, tensor: TensorBase) -> None:
        self.read(tensor)
        if tensor.grad is not None:
            self.read(tensor.grad)
        self.graded_in_order[id(tensor)] = tensor

    def nothing_escapes(self, kept: set[int]) -> None:
        """Raises JitError where a tensor made within is still held by something else than the result."""
        made = [weakref.ref(t) for i, t in self.own.items() if i not in kept]
        self.own = {i: t for i, t in self.own.items() if i in kept}
        if any(ref() is not None for ref in made):
            gc.collect()  # a cycle holds it, perhaps
        for ref in made:
            t = ref()
            if t is not None:
                raise JitError(f"a tensor {t.node.type} that the function made is kept after it: a replay would not make "
                               f"it again; return it, or `assign` to a tensor that is there before\nmade at: "
                               f"{t.node.where}")  # fmt: skip

    def no_host_data(self) -> None:
        raise JitError("a tensor is made of host data within a function under jit; it would be baked into the plan; "
                       "make it outside, or pass it as an argument")  # fmt: skip

    def no_reading(self) -> None:
        raise JitError("a value is read (item, numpy, print, if …) within a function under jit; a replay could not do "
                       "that; return the tensor and read it outside")  # fmt: skip

    def no_realizing(self) -> None:
        raise JitError("realize within a function under jit: all of it is computed in one plan; leave it out")


class _Trace:
    """What one run of the function built, and how its plan is bound."""

    def __init__(self, device: Device, plan: Plan) -> None:
        self.device, self.plan = device, plan
        self.nodes: list[UOp] = []  # of the results, then of what is changed, then of gradients; may repeat
        #: By slot of the graph: ("argument", i), or a tensor from outside that is read.
        self.sources: list[tuple[str, int] | weakref.ref[TensorBase] | Buffer] = []
        self.results: Any = None  # the structure of what is returned
        self.result_shapes: list[tuple[int, ...]] = []
        self.changed: list[tuple[weakref.ref[TensorBase], tuple[int, ...]]] = []
        #: Arguments (by number) and tensors from outside whose gradient is left, with its shape; None: that is cleared.
        self.graded: list[tuple[int | weakref.ref[TensorBase], tuple[int, ...] | None]] = []
        self.text = ""


class Jit(Generic[P, R]):
    """A function under jit; made by ``jit``. ``traces`` and ``replays`` count what its calls did."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._traces: dict[Any, tuple[_Trace, bool]] = {}
        self.traces = 0
        self.replays = 0
        self._attribute = getattr(function, "__name__", "")
        functools.update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """As a method: one of its own for each object, kept in the object."""
        if owner is None:
            return self
        bound = Jit(functools.partial(self._function, owner))
        functools.update_wrapper(bound, self._function)
        owner.__dict__[self._attribute] = bound
        return bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if state.tracer is not None:  # within another one: part of its plan
            return self._function(*args, **kwargs)
        leaves: list[Any] = []
        structure = _flatten((list(args), dict(kwargs)), leaves, "argument")
        device = next((t.device for t in leaves if isinstance(t, TensorBase)), None) or default_device()
        tensors = [t if isinstance(t, TensorBase) else Tensor(t, device=device) for t in leaves]
        key = (device, _key(structure), tuple(sorted(device.options.items())),
               tuple((t.shape, t.dtype, t.requires_grad and isinstance(leaf, TensorBase))
                     for t, leaf in zip(tensors, leaves)))  # fmt: skip
        self._realize(tensors)
        known, confirmed = self._traces.get(key, (None, False))
        if known is not None and confirmed:
            self.replays += 1
            return self._replay(known, tensors)
        self.traces += 1
        trace, result = self._trace(structure, tensors, device)
        if known is not None:
            _compare(known, trace)
        self._traces[key] = (trace, known is not None)
        return result

    def _realize(self, tensors: list[Any]) -> None:
        lazy = [t for t in tensors if base_buffer(t.node) is None]
        if lazy:
            _base.realize(*lazy)

    def _trace(self, structure: Any, tensors: list[Any], device: Device) -> tuple[_Trace, R]:
        tracer = _Tracer()
        # Each argument reads a buffer of its own within the trace: two may be one tensor today and two tomorrow.
        stand_ins: list[Buffer] = []
        for t in tensors:
            own = base_buffer(t.node)
            assert own is not None
            stand_ins.append(Buffer(device, t.dtype, own.ints[0]))
        arguments = []
        for t, buffer in zip(tensors, stand_ins):
            argument = Tensor._of(reshape(leaf_of(buffer), t.shape), device, requires_grad=t.requires_grad)
            arguments.append(argument)
        state.tracer = tracer
        try:
            for a in arguments:
                tracer.made(a)
            args, kwargs = _restore(structure, arguments)
            result = self._function(*args, **kwargs)
            returned: list[Any] = []
            results = _flatten(result, returned, "the result")
            for r in returned:
                if not isinstance(r, TensorBase):
                    raise JitError("the result holds a NumPy array; a function under jit returns tensors")
                tracer.read(r)
            kept = {id(t) for t in (*arguments, *returned)} | {id(t.grad) for t in tracer.graded_in_order.values()}
            del result, args, kwargs
            tracer.nothing_escapes(kept)
            for i, a in enumerate(arguments):
                if a.node is not reshape(leaf_of(stand_ins[i]), a.shape):
                    raise JitError(f"tensor {i} of the arguments is changed in place; change a tensor from outside, or "
                                   "return the new value")  # fmt: skip
        except BaseException:
            for t, u in tracer.outside.values():
                t.node = u
            raise
        finally:
            state.tracer = None
        return self._finish(tracer, device, tensors, arguments, stand_ins, results, returned)

    def _finish(
        self,
        tracer: _Tracer,
        device: Device,
        tensors: list[Any],
        arguments: list[Any],
        stand_ins: list[Buffer],
        results: Any,
        returned: list[Any],
    ) -> tuple[_Trace, R]:
        # What is read from outside and is not computed yet would be computed again by every replay: do it now.
        lazy = [(t, u) for t, u in tracer.outside.values() if base_buffer(u) is None]
        changed = list(tracer.changed_in_order.values())
        graded = list(tracer.graded_in_order.values())
        roots = [t.node for t in (*returned, *changed)] + [t.grad.node for t in graded if t.grad is not None]
        realized = self._realized(device, [u for _, u in lazy]) if lazy else {}
        if realized:
            roots = substitute(roots, realized.get)
        # Bound to the arguments, the graph is what runs; its buffers by slot say where each comes from.
        by_stand_in = {id(b): i for i, b in enumerate(stand_ins)}
        nodes = list(dict.fromkeys(roots))
        plan, inputs = self._plan(device, nodes)
        trace = _Trace(device, plan)
        owners: dict[int, TensorBase] = {}
        for t, u in tracer.outside.values():
            base = base_buffer(realized.get(u, u))
            if base is not None:
                owners.setdefault(id(base.buffer), t)
        bound = []
        for buffer in inputs:
            i = by_stand_in.get(id(buffer))
            if i is not None:
                trace.sources.append(("argument", i))
                base = base_buffer(tensors[i].node)
                assert base is not None
                bound.append(base.buffer)
            else:
                outside = owners.get(id(buffer))
                trace.sources.append(weakref.ref(outside) if outside is not None else buffer)
                bound.append(buffer)
        trace.text = listing(nodes)
        outputs = device.execute(plan, bound, toposort(nodes))
        made = {u: reshape(leaf_of(b), u.shape) for u, b in zip(nodes, outputs)}
        at = {u: i for i, u in enumerate(nodes)}
        trace.results = results
        trace.result_shapes = [r.shape for r in returned]
        trace.nodes = [nodes[at[r]] for r in roots]
        for t, u in zip(changed, roots[len(returned) :]):
            t.node = made[u]
            trace.changed.append((weakref.ref(t), t.shape))
        left = iter(roots[len(returned) + len(changed) :])
        numbers = {id(a): i for i, a in enumerate(arguments)}
        for t in graded:
            i = numbers.get(id(t))
            gradient = None if t.grad is None else type(t)._of(made[next(left)], device)
            (t if i is None else tensors[i]).grad = gradient
            trace.graded.append((weakref.ref(t) if i is None else i, None if gradient is None else gradient.shape))
        fresh = [type(r)._of(made[u], device) for r, u in zip(returned, roots)]
        return trace, _restore(results, fresh)

    def _realized(self, device: Device, lazy: list[UOp]) -> dict[UOp, UOp]:
        """What ``lazy`` are once computed, which is now."""
        wanted = list(dict.fromkeys(lazy))
        buffers = device.run(wanted)
        settle(device, wanted, buffers)
        return {u: reshape(leaf_of(b), u.shape) for u, b in zip(wanted, buffers)}

    def _plan(self, device: Device, nodes: list[UOp]) -> tuple[Plan, list[Buffer]]:
        _, inputs = encode(toposort(nodes), nodes)
        return device.plan(nodes), inputs

    def _replay(self, trace: _Trace, tensors: list[Any]) -> R:
        inputs = []
        for source in trace.sources:
            if isinstance(source, Buffer):
                inputs.append(source)
                continue
            if isinstance(source, tuple):
                t = tensors[source[1]]
            else:
                t = source()
                if t is None:
                    raise JitError(f"a tensor that {self._name} read from outside is gone; {_RULES}")
            base = base_buffer(t.node)
            if base is None:
                _base.realize(t)
                base = base_buffer(t.node)
            assert base is not None
            inputs.append(base.buffer)
        device = trace.device
        try:
            outputs = device.execute(trace.plan, inputs)
        except NotFound as error:
            if "plan" not in str(error):
                raise
            trace.plan = device.plan(list(dict.fromkeys(trace.nodes)))  # it was evicted there
            outputs = device.execute(trace.plan, inputs)
        made = dict(zip(dict.fromkeys(trace.nodes), outputs))
        buffers = [made[u] for u in trace.nodes]
        fresh = [Tensor._of(reshape(leaf_of(b), shape), device) for b, shape in zip(buffers, trace.result_shapes)]
        at = len(fresh)
        for ref, shape in trace.changed:
            t = ref()
            if t is None:
                raise JitError(f"a tensor that {self._name} changes in place is gone; {_RULES}")
            t.node = reshape(leaf_of(buffers[at]), shape)
            t._before = None
            at += 1
        for target, grad_shape in trace.graded:
            t = tensors[target] if isinstance(target, int) else target()
            gradient = None
            if grad_shape is not None:
                gradient = Tensor._of(reshape(leaf_of(buffers[at]), grad_shape), device)
                at += 1
            if t is not None:
                t.grad = gradient
        return _restore(trace.results, fresh)  # type: ignore[no-any-return]

    @property
    def _name(self) -> str:
        return getattr(self._function, "__qualname__", repr(self._function))


def _compare(first: _Trace, second: _Trace) -> None:
    """Raises JitError unless two traces built the same graph over the same tensors."""
    if first.text != second.text:
        lines = zip(first.text.splitlines(), second.text.splitlines())
        a, b = next(((a, b) for a, b in lines if a != b), ("a shorter graph", "a longer graph"))
        u = next((u for u in toposort(second.nodes) if b.endswith(u.type) and f"= {u.op}" in b), None)
        where = f"\nmade at: {u.where}" if u is not None else ""
        raise JitError(f"the function builds another graph than at its first call: something that is not an argument "
                       f"has changed, and a plan would bake it in; {_RULES}\nfirst: {a}\nnow:   {b}{where}")  # fmt: skip
    for slot, (a_source, b_source) in enumerate(zip(first.sources, second.sources)):
        same = a_source == b_source if isinstance(a_source, tuple) or isinstance(b_source, tuple) else (
            a_source is b_source or (isinstance(a_source, weakref.ref) and isinstance(b_source, weakref.ref)
                                     and a_source() is not None and a_source() is b_source()))  # fmt: skip
        if not same:
            raise JitError(f"the function reads another tensor than at its first call (input {slot} of its graph); "
                           f"{_RULES}")  # fmt: skip
    for (a_ref, _), (b_ref, _) in zip(first.changed, second.changed):
        if a_ref() is not b_ref():
            raise JitError(f"the function changes another tensor than at its first call; {_RULES}")


def jit(function: Callable[P, R]) -> Jit[P, R]:
    """``function``, traced once and then replayed by plan id; see the head of this module. Usable as a decorator, of
    methods too."""
    return Jit(function)
