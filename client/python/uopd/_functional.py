"""Parts of networks that are functions of tensors: linear maps, dropout, attention."""
from __future__ import annotations

import math
from typing import Self

from uopd._build import full
from uopd._dtype import bool_
from uopd._graph import node
from uopd._losses import LossOps


class FunctionalOps(LossOps):
    """The parts of networks among Tensor's methods."""

    __slots__ = ()

    def linear(self, weight: Self, bias: Self | None = None) -> Self:
        """x @ weight^T + bias: (…,n) with ``weight`` (m,n) and ``bias`` (m,) -> (…,m)."""
        y = self.matmul(weight.transpose())
        return y if bias is None else y + bias

    def dropout(self, p: float = 0.5, training: bool = True) -> Self:
        """In training: each element is 0 with probability ``p``, else x / (1 - p), which keeps the mean. Otherwise x. The
        elements are drawn at the server by uopd.random. arXiv:1207.0580."""
        if not 0 <= p <= 1:
            raise ValueError(f"dropout takes a probability, not {p}")
        if p == 0 or not training:
            return self
        from uopd import random  # which draws tensors

        kept = random.bernoulli(1 - p, self.shape, device=self.device)
        scaled = self * (1 / (1 - p) if p < 1 else 0.0)
        return scaled._make(node("WHERE", (kept.node, scaled.node, full(0, scaled.shape, scaled.dtype))), kept)

    def scaled_dot_product_attention(
        self,
        key: Self,
        value: Self,
        attn_mask: Self | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Self:
        """softmax(q k^T * scale + mask) v: query (…,L,E), ``key`` (…,S,E), ``value`` (…,S,V) -> (…,L,V); leading axes
        broadcast. arXiv:1706.03762.

        ``attn_mask`` broadcasts to (…,L,S): bool, true where a key takes part, or float, added to the scores.
        ``is_causal``: query i sees keys 0..i. A query that sees none is NaN. ``dropout_p``: the part of the weights that
        is dropped (see dropout). ``scale``: by default 1 / sqrt(E). ``enable_gqa``: the axis before L counts heads, and
        each head of key and value serves as many successive heads of the query as there are for one. arXiv:2305.13245."""
        if min(self.ndim, key.ndim, value.ndim) < 2 or self.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
            raise ValueError(f"attention takes (…,L,E), (…,S,E) and (…,S,V); got {self.node.type}, {key.node.type} and "
                             f"{value.node.type}")  # fmt: skip
        if enable_gqa:
            key, value = self._shared_heads(key), self._shared_heads(value)
        scale = 1 / math.sqrt(max(1, self.shape[-1])) if scale is None else scale
        scores = self.matmul(key.transpose()) * scale
        if attn_mask is not None:
            scores = attn_mask.where(scores, -math.inf) if attn_mask.dtype is bool_ else scores + attn_mask
        if is_causal:
            hidden = full(-math.inf, scores.shape, scores.dtype)
            scores = scores._make(node("WHERE", (scores._below(0), scores.node, hidden)))
        return scores.softmax(-1).dropout(dropout_p).matmul(value)

    def _shared_heads(self, x: Self) -> Self:
        """The heads of a key or value, each repeated for its heads of this query."""
        if min(self.ndim, x.ndim) < 3 or x.shape[-3] == 0 or self.shape[-3] % x.shape[-3]:
            raise ValueError(f"grouped heads: {self.node.type} and {x.node.type} count heads on the third axis from the "
                             "last, a multiple of the other's")  # fmt: skip
        return x.repeat_interleave(self.shape[-3] // x.shape[-3], -3)
