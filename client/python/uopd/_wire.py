"""Graphs as messages: what the server's decoder (core/wire/graph_codec.h) reads."""
from __future__ import annotations

from typing import Any, Sequence

from uopd._graph import OPS, UOp
from uopd.v1 import graph as messages


def encode(nodes: Sequence[UOp], roots: Sequence[UOp]) -> tuple[Any, list[Any]]:
    """The Graph message of ``nodes`` (in topological order) and the buffers it reads, in the order of their slots.
    Slots are counted in the order of the nodes, so that equal programs send equal bytes."""
    graph = messages.Graph()
    position: dict[UOp, int] = {}
    buffers: list[Any] = []
    add = graph.nodes.add
    for u in nodes:
        message = add(op=OPS[u.op], src=[position[s] for s in u.src], ints=u.ints)
        if u.op == "BUFFER":
            message.value = len(buffers)
            buffers.append(u.buffer)
        elif u.value:
            message.value = u.value
        if not u.src or u.op in ("CAST", "BITCAST"):
            message.dtype = u.dtype.number
        if u.bits:
            message.bits = u.bits
        if u.reduce:
            message.reduce_op = OPS[u.reduce]
        position[u] = len(position)
    graph.roots.extend([position[r] for r in roots])
    return graph, buffers
