"""Multi-head attention."""
from __future__ import annotations

import math

from uopd import _dtype
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Device
from uopd.nn import init
from uopd.nn.linear import Linear
from uopd.nn.module import Module


class MultiHeadAttention(Module):
    """Scaled dot-product attention in ``num_heads`` heads of embed_dim / num_heads each (Vaswani et al., 2017).

    ``attention(x)`` is self-attention of x (…, T, embed_dim); ``attention(x, context)`` reads keys and values from
    context (…, S, embed_dim). ``is_causal``: position i sees those up to i. ``mask`` (…, T, S) is added to the scores,
    or where it is bool says what is seen; it broadcasts over heads. Parameters are those of PyTorch's
    MultiheadAttention, with its names: ``in_proj_weight`` (3 embed_dim, embed_dim), Glorot uniform, for query, key and
    value; ``out_proj``.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        is_causal: bool = False,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{embed_dim} does not divide into {num_heads} heads")
        self.embed_dim, self.num_heads, self.dropout, self.is_causal = embed_dim, num_heads, dropout, is_causal
        bound = math.sqrt(6 / (embed_dim + 3 * embed_dim))
        self.in_proj_weight = init.uniform((3 * embed_dim, embed_dim), bound, dtype, device)
        self.in_proj_bias = init.constant((3 * embed_dim,), 0, dtype, device) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype, device=device)
        if bias:
            self.out_proj.bias = init.constant((embed_dim,), 0, dtype, device)

    def forward(
        self, query: Tensor, context: Tensor | None = None, mask: Tensor | None = None, is_causal: bool | None = None
    ) -> Tensor:
        n = self.embed_dim
        if context is None:
            q, k, v = self._projected(query, 0, 3 * n).split(n, -1)
        else:
            q = self._projected(query, 0, n)
            k, v = self._projected(context, n, 3 * n).split(n, -1)
        causal = self.is_causal if is_causal is None else is_causal
        p = self.dropout if self.training else 0.0
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        y = self._heads(q).scaled_dot_product_attention(
            self._heads(k), self._heads(v), attn_mask=mask, dropout_p=p, is_causal=causal
        )
        return self.out_proj.forward(y.transpose(-3, -2).flatten(-2))

    def _projected(self, x: Tensor, begin: int, end: int) -> Tensor:
        """By the rows from ``begin`` to ``end`` of the joint projection."""
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if end - begin < 3 * self.embed_dim:
            weight, bias = weight[begin:end], None if bias is None else bias[begin:end]
        return x.linear(weight, bias)

    def _heads(self, x: Tensor) -> Tensor:
        """(…, T, E) -> (…, heads, T, E / heads)."""
        return x.unflatten(-1, (self.num_heads, self.embed_dim // self.num_heads)).transpose(-3, -2)

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads} heads" + (", causal" if self.is_causal else "")
