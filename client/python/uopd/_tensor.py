"""Tensor: the class users know, put together from the modules of its operations."""
from __future__ import annotations

from uopd._functional import FunctionalOps


class Tensor(FunctionalOps):
    """A lazy array at a server. Operations build a graph; ``realize``, ``numpy`` and ``item`` run it.

    The operations stand in a chain of classes, one a module: elementwise, movement, reduction, sorting, indexing, products
    (_linalg), pooling, convolution, softmax and norms, losses, parts of networks (_functional).
    """

    __slots__ = ()
