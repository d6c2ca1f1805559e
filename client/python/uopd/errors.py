"""What goes wrong: one exception a kind, each with a message that says where and what to do.

What a call's arguments cannot do is found in this process and is a ValueError or TypeError, raised at the user's line.
The classes here are for what a server answers, and for misuse of ``jit``.
"""
from __future__ import annotations

import re
from typing import Sequence

import grpc

from uopd._graph import UOp


class UopdError(Exception):
    """Base of all errors of a server. ``node`` is the node of the graph at fault and ``where`` the line of the user's
    code that made it, where the server named one."""

    node: UOp | None = None
    where: str | None = None


class InvalidArgument(UopdError, ValueError):
    """The request can never succeed as it is."""


class NotFound(UopdError):
    """A buffer or plan is not at the server (any more): it was restarted, or the session's lease ran out."""


class ResourceExhausted(UopdError, MemoryError):
    """A limit of the server is reached: free tensors, or ask for less."""


class FailedPrecondition(UopdError):
    """The server cannot do it in its present state, e.g. it has no C compiler."""


class Unavailable(UopdError, ConnectionError):
    """There is no server at the address, or it is draining."""


class DeadlineExceeded(UopdError, TimeoutError):
    """The time limit passed; nothing of the work remains."""


class Cancelled(UopdError):
    """The call was cancelled."""


class InternalError(UopdError):
    """A fault of the server: please report it."""


class JitError(UopdError):
    """A function under ``jit`` does what a replay could not repeat."""


_BY_CODE = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
}


def error_of(error: grpc.RpcError, address: str, nodes: Sequence[UOp] = ()) -> UopdError:
    """The exception for a failed call; ``nodes`` is the graph that was sent, in its order."""
    code, details = error.code(), error.details()
    if code is grpc.StatusCode.UNAVAILABLE:
        details = (f"server {address} is not available: {details}; start one with `uop serve` or uopd.serve(), check "
                   "the address, or try again")  # fmt: skip
    kind = _BY_CODE.get(code, InternalError)
    drawn = re.search(r"^> %(\d+) =", details, re.MULTILINE)
    node = nodes[int(drawn[1])] if drawn and int(drawn[1]) < len(nodes) else None
    if node is not None:
        details += f"\nmade at: {node.where}"
    made = kind(details)
    made.node, made.where = node, node.where if node is not None else None
    return made
