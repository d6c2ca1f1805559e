"""Where parameters begin: random ones drawn at the server, constant ones in buffers of their own."""
from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from uopd import random
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Device


def uniform(shape: Sequence[int], bound: float, dtype: DType, device: Device | None) -> Tensor:
    """A parameter drawn from -bound..bound."""
    return _parameter(random.uniform(shape, -bound, bound, dtype=dtype, device=device))


def normal(shape: Sequence[int], std: float, dtype: DType, device: Device | None) -> Tensor:
    """A parameter drawn from a normal distribution around 0."""
    return _parameter(random.randn(shape, dtype=dtype, device=device) * std)


def _parameter(value: Tensor) -> Tensor:
    return Tensor._of(value.node, value.device, requires_grad=True)


def constant(shape: Sequence[int], value: float, dtype: DType, device: Device | None) -> Tensor:
    """A parameter that begins as ``value`` everywhere. From host data: two that are equal must not be one node, since
    the gradient by one would be that by both."""
    return Tensor(np.full(tuple(shape), value, np.float64), dtype, requires_grad=True, device=device)


def fan_in_bound(fan_in: int) -> float:
    """1 / sqrt(fan_in): what PyTorch draws the weights and biases of Linear and Conv from (He et al., 2015, with a =
    sqrt 5)."""
    return 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
