"""Linear and Embedding: matrices that are learned."""
from __future__ import annotations

from uopd import _dtype
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Device
from uopd.nn import init
from uopd.nn.module import Module


class Linear(Module):
    """x @ weight.T + bias: (…, in_features) -> (…, out_features). ``weight`` is (out_features, in_features); both begin
    uniform within 1 / sqrt(in_features)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        self.in_features, self.out_features = in_features, out_features
        bound = init.fan_in_bound(in_features)
        self.weight = init.uniform((out_features, in_features), bound, dtype, device)
        self.bias = init.uniform((out_features,), bound, dtype, device) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return x.linear(self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}" + ("" if self.bias is not None else ", bias=False")


class Embedding(Module):
    """Row ``i`` of ``weight`` for each integer ``i``: (…) -> (…, embedding_dim). ``weight`` is (num_embeddings,
    embedding_dim) and begins standard normal."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = init.normal((num_embeddings, embedding_dim), 1.0, dtype, device)

    def forward(self, index: Tensor) -> Tensor:
        return self.weight.embedding(index)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"
