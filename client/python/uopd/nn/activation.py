"""Activations, Dropout and Flatten as modules, for Sequential; Tensor's methods say what they compute."""
from __future__ import annotations

from uopd._tensor import Tensor
from uopd.nn.module import Module


class Identity(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class ReLU(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.relu()


class LeakyReLU(Module):
    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        return x.leaky_relu(self.negative_slope)

    def extra_repr(self) -> str:
        return str(self.negative_slope)


class ELU(Module):
    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def forward(self, x: Tensor) -> Tensor:
        return x.elu(self.alpha)

    def extra_repr(self) -> str:
        return str(self.alpha)


class GELU(Module):
    """``approximate``: "none" (by erf) or "tanh"."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        return x.gelu(self.approximate)

    def extra_repr(self) -> str:
        return "" if self.approximate == "none" else repr(self.approximate)


class SiLU(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.silu()


class Mish(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mish()


class Softplus(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.softplus()


class Sigmoid(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.sigmoid()


class Tanh(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.tanh()


class Softmax(Module):
    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        return x.softmax(self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class LogSoftmax(Module):
    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        return x.log_softmax(self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class Dropout(Module):
    """In training each element is 0 with probability ``p``, else divided by 1 - p; in evaluation nothing happens."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"a probability is in 0..1; got {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return x.dropout(self.p) if self.training else x

    def extra_repr(self) -> str:
        return str(self.p)


class Flatten(Module):
    """Merges the axes from ``start_axis`` to ``end_axis`` into one; by default all but the batch's."""

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_axis, self.end_axis)

    def extra_repr(self) -> str:
        return f"{self.start_axis}, {self.end_axis}"
