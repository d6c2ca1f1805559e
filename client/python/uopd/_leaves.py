"""Tensors with buffers of their own.

Equal nodes are one object, so two parameters made as ``zeros(3)`` would be one node, and the gradient by one would be
that by both; and what shares a buffer in one step but not in the next has another structure, so another plan.
Parameters and optimizer states are therefore made here.
"""
from __future__ import annotations

from typing import Sequence

from uopd._base import leaf_of, realize, state
from uopd._build import Number, base_buffer, full, reshape
from uopd._dtype import DType
from uopd._graph import UOp
from uopd._tensor import Tensor
from uopd.device import Device, default_device


def filled(shape: Sequence[int], value: Number, dtype: DType, device: Device | None = None) -> Tensor:
    """``value`` everywhere, made at the server now, in a buffer that nothing shares."""
    shape = tuple(shape)
    device = device or default_device()
    numel = 1
    for n in shape:
        numel *= n
    return Tensor._of(computed(full(value, (numel,), dtype), shape, device), device)


def give_own(tensors: Sequence[Tensor]) -> None:
    """Realizes ``tensors`` in one plan; those that share a buffer with one before them get copies of it."""
    realize(*tensors)
    seen: set[UOp] = set()
    for t in tensors:
        base = base_buffer(t.node)
        assert base is not None
        if base in seen:
            t.node = computed(base, t.shape, t.device)
        else:
            seen.add(base)


def own_node(t: Tensor) -> UOp:
    """A node of the same value as ``t``, realized, in a buffer that nothing shares."""
    realize(t)
    base = base_buffer(t.node)
    assert base is not None
    return computed(base, t.shape, t.device)


def computed(u: UOp, shape: tuple[int, ...], device: Device) -> UOp:
    """A node of the value of ``u``, computed now, in a buffer that nothing shares."""
    if state.tracer is not None:
        state.tracer.no_realizing()
    (buffer,) = device.run([u])  # a root that is a buffer already gets a new name, but no new memory
    return reshape(leaf_of(buffer), shape)
