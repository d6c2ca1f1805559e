"""A server as a place where tensors live and run: ``connect`` and ``serve`` give one.

All methods block and may be called from any thread.
"""
from __future__ import annotations

import collections
import contextvars
import dataclasses
import os
import threading
from typing import Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from uopd import errors
from uopd._dtype import BY_NUMBER, DType, bf16, to_bf16_bits
from uopd._graph import UOp, toposort
from uopd._progress import Progress
from uopd._session import SHORT_CALL_SECONDS, Session
from uopd._wire import encode
from uopd.v1 import plan as plan_messages
from uopd.v1 import service

#: Host data up to this size goes along with the run that reads it; on its second use it is put at the server.
_INLINE_BYTES = 256 << 10
#: Plans remembered by what their graph was; a program runs a few structures.
_KNOWN_PLANS = 1024

OptionValue = str | int | float | bool
Array = npt.NDArray[Any]


class Buffer:
    """Memory of a tensor: at the server, or still here because no run needed it so far. Immutable; freed with the last
    reference."""

    __slots__ = ("device", "dtype", "elements", "_id", "_host", "_used", "__weakref__")

    def __init__(self, device: Device, dtype: DType, elements: int, id: str = "", host: bytes | None = None) -> None:
        self.device = device
        self.dtype = dtype
        self.elements = elements
        self._id = id
        self._host = host
        self._used = False

    def __del__(self) -> None:
        if self._id:
            self.device._session.release(self._id)

    @property
    def nbytes(self) -> int:
        return self.elements * self.dtype.itemsize

    def read(self) -> bytes:
        """The elements' bytes, row-major and little-endian."""
        if self._host is not None:
            return self._host
        return self.device._session.get(self._id, self.nbytes)

    def as_input(self, room: int) -> Any:
        """What an Execute calls it; ``room``: how many bytes may still go along inline."""
        if not self._id:
            assert self._host is not None
            if not self._used and len(self._host) <= min(room, _INLINE_BYTES):
                self._used = True
                return service.Input(inline_bytes=self._host)
            spec = plan_messages.TensorSpec(dtype=self.dtype.number, elements=self.elements)
            self._id = self.device._session.put(self._host, spec)
            self._host = None
        return service.Input(buffer=self._id)


@dataclasses.dataclass(frozen=True)
class Report:
    """What a run did. Times in seconds; ``compiled``: kernels that a C compiler had to make for it; ``plan``: where the
    plan came from, "memory", "store" or "compiled"."""

    kernels: int
    compiled: int
    plan: str
    queue: float
    schedule: float
    run: float
    per_kernel: tuple[tuple[str, float, int, int], ...] = ()  # name, seconds, flops, bytes; with verbosity 2


@dataclasses.dataclass
class Totals:
    """Sums over the runs of a device, for a program that wants to tell what it cost."""

    runs: int = 0
    plans_compiled: int = 0
    plan_hits: int = 0
    kernels_run: int = 0
    kernels_compiled: int = 0


@dataclasses.dataclass(frozen=True)
class Plan:
    """A plan at the server, and how it is bound: ``input_slots`` of the graph it was made from, in the plan's order."""

    id: str
    input_slots: tuple[int, ...]
    root_outputs: tuple[int, ...]
    message: Any  # uopd.v1.Plan: kernels, temporaries, outputs

    @property
    def kernels(self) -> list[str]:
        """Their names: "r_4_8" is a reduction, "e_4_8" elementwise, with the shape of what they make."""
        return [k.name for k in self.message.kernels]


class Device:
    """A session at a server. ``with device:`` makes it the one that new tensors live on, and closes it at the end."""

    def __init__(self, address: str, options: Mapping[str, OptionValue] | None = None) -> None:
        self.address = address
        #: Compile options by their names at the server (see ``server_options``), e.g. {"numerics": "strict"}.
        self.options: dict[str, OptionValue] = dict(options or {})
        #: 0..3 as of ``uop -v``: from 2 on reports have a row for each kernel.
        self.verbosity = 0
        self.report: Report | None = None
        self.totals = Totals()
        #: Seconds a run may take; None: no limit.
        self.timeout: float | None = None
        #: What random numbers are drawn from here; made by the first draw (see uopd.random).
        self.generator: Any = None
        self._session = Session(address)
        self._hello = self._session.hello
        self._plans: collections.OrderedDict[bytes, Plan] = collections.OrderedDict()
        self._plans_lock = threading.Lock()
        self._default_tokens: list[contextvars.Token[Device | None]] = []

    # ------------------------------------------------------------------ life

    def __enter__(self) -> Device:
        self._default_tokens.append(_default.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _default.reset(self._default_tokens.pop())
        self.close()

    def close(self) -> None:
        """Ends the session's use: frees what was released and closes the connection. Tensors on it are gone."""
        self._session.close()
        global _fallback
        if _fallback is self:
            _fallback = None

    def __repr__(self) -> str:
        return f"<uopd.Device {self.address}, server {self._hello.server_version}, {self._hello.target.cpu}>"

    # ------------------------------------------------------------------ what it is

    @property
    def ops(self) -> dict[str, str]:
        """The ops the server knows: name and meaning."""
        return {op.name: op.help for op in self._hello.ops}

    @property
    def server_options(self) -> dict[str, str]:
        """The compile options the server takes: name and meaning."""
        return {o.name: f"{o.help} (default {o.default_value}; {o.allowed or 'any'})" for o in self._hello.options}

    def status(self) -> dict[str, Any]:
        """What the server says of itself: version, cache, counters."""
        reply = self._session.call("Status", service.StatusRequest(), timeout=SHORT_CALL_SECONDS)
        return {f.name: getattr(reply, f.name) for f in reply.DESCRIPTOR.fields if f.name != "target"}

    # ------------------------------------------------------------------ runs

    def plan(self, roots: Sequence[UOp]) -> Plan:
        """The plan of a graph, compiled and cached, but not run."""
        nodes = toposort(roots)
        graph, _ = encode(nodes, roots)
        return self._compile(graph, nodes)[0]

    def run(self, roots: Sequence[UOp]) -> list[Buffer]:
        """Computes ``roots`` in one plan; one buffer a root."""
        return self.run_known(roots)[0]

    def run_known(self, roots: Sequence[UOp]) -> tuple[list[Buffer], Plan, list[Buffer]]:
        """The same; also the plan, and the buffers the graph read, by slot."""
        nodes = toposort(roots)
        graph, inputs = encode(nodes, roots)
        key = repr(sorted(self.options.items())).encode() + b"\0" + graph.SerializeToString(deterministic=True)
        with self._plans_lock:
            plan = self._plans.get(key)
            if plan is not None:
                self._plans.move_to_end(key)
        if plan is not None:
            try:
                return self.execute(plan, inputs, nodes), plan, inputs
            except errors.NotFound as error:
                if "plan" not in str(error):
                    raise
        # Not known here, or not known there any more: the graph says it all again.
        plan, reply = self._compile(graph, nodes)
        outputs = self.execute(plan, inputs, nodes, compiled=reply)
        with self._plans_lock:
            self._plans[key] = plan
            if len(self._plans) > _KNOWN_PLANS:
                self._plans.popitem(last=False)
        return outputs, plan, inputs

    def execute(
        self, plan: Plan, inputs: Sequence[Buffer], nodes: Sequence[UOp] = (), compiled: Any = None
    ) -> list[Buffer]:
        """Runs a plan on buffers by the slots of the graph it was made from; one buffer a root."""
        request = service.ExecuteRequest(plan_id=plan.id, verbosity=max(1, self.verbosity))
        room = int(self._hello.limits.inline_bytes)
        for slot in plan.input_slots:
            value = inputs[slot].as_input(room)
            room -= len(value.inline_bytes)
            request.inputs.append(value)
        reply = self._session.call("Execute", request, self.timeout, nodes)
        self._note(reply.report, compiled)
        made = [Buffer(self, BY_NUMBER[o.tensor.dtype], o.tensor.elements, o.buffer) for o in reply.outputs]
        return [made[i] for i in plan.root_outputs]

    def explain(self, roots: Sequence[UOp]) -> list[tuple[str, str]]:
        """What every pass makes of a graph: (stage, text), down to the C source."""
        nodes = toposort(roots)
        request = service.ExplainRequest(graph=encode(nodes, roots)[0], options=self._options())
        reply = self._session.call("Explain", request, None, nodes)
        return [(s.name, s.text) for s in reply.stages]

    # ------------------------------------------------------------------ calls

    def _options(self) -> dict[str, str]:
        def text(value: OptionValue) -> str:
            return str(value).lower() if isinstance(value, bool) else str(value)

        return {name: text(value) for name, value in self.options.items()}

    def _compile(self, graph: Any, nodes: Sequence[UOp]) -> tuple[Plan, Any]:
        request = service.CompileRequest(graph=graph, options=self._options())
        with Progress() as progress:
            reply = self._session.call("Compile", request, self.timeout, nodes,
                               waiting=lambda: progress.show(f"compiling a graph of {len(nodes)} nodes"))  # fmt: skip
        return Plan(reply.plan_id, tuple(reply.input_slots), tuple(reply.root_outputs), reply.plan), reply

    def _note(self, report: Any, compiled: Any) -> None:
        origin = report.origin if compiled is None else compiled.origin
        kernels_compiled = report.kernels_compiled + (0 if compiled is None else compiled.kernels_compiled)
        schedule = report.schedule_ns + (0 if compiled is None else compiled.schedule_ns)
        name = {1: "memory", 2: "store", 3: "compiled"}.get(origin, "")
        self.report = Report(report.kernels, kernels_compiled, name, report.queue_ns / 1e9, schedule / 1e9,
                             report.run_ns / 1e9,
                             tuple((k.name, k.ns / 1e9, k.flops, k.bytes) for k in report.kernel_runs))  # fmt: skip
        self.totals.runs += 1
        self.totals.kernels_run += report.kernels
        self.totals.kernels_compiled += kernels_compiled
        if name == "compiled":
            self.totals.plans_compiled += 1
        else:
            self.totals.plan_hits += 1

def to_bytes(array: Array, dtype: DType) -> bytes:
    """The elements of ``array`` in ``dtype``, row-major and little-endian."""
    if dtype is bf16:
        array = to_bf16_bits(array.astype(np.float32))
    return np.ascontiguousarray(array, dtype.numpy).tobytes()


# ---------------------------------------------------------------------- the device that new tensors live on

_default: contextvars.ContextVar[Device | None] = contextvars.ContextVar("uopd_device", default=None)
_fallback: Device | None = None


def connect(address: str, **options: OptionValue) -> Device:
    """A session at the server at ``address``: "host:port" or "unix:/path". The first one made is where new tensors
    live, unless another is entered (``with uopd.connect(…):``). ``options`` are compile options of its runs, e.g.
    ``numerics="strict"``. Raises Unavailable where no server answers."""
    global _fallback
    device = Device(address, options)
    if _fallback is None:
        _fallback = device
    return device


def default_device() -> Device:
    """The device that new tensors live on: the innermost entered, else the first connected to, else the server that the
    environment names (UOPD_SERVER), else a local one (see ``serve``)."""
    entered = _default.get()
    if entered is not None:
        return entered
    if _fallback is not None:
        return _fallback
    address = os.environ.get("UOPD_SERVER")
    if address:
        return connect(address)
    from uopd.local import serve

    return serve()
