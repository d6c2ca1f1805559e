"""Convolution over one, two or three trailing axes.

The input is (batch, channels, axes…), or without the batch axis. Windows are a view of it (see MovementOps.windows); a
convolution is their product with the weight and one sum over channels and window, one kernel that writes no unfolded
tensor. Parameters are those of PyTorch's functions: a number stands for one per axis.
"""
from __future__ import annotations

from typing import Self, Sequence

from uopd._build import broadcast_to, permute, reshape
from uopd._graph import UOp, node
from uopd._linalg import LinalgOps, product
from uopd._views import flip, pad_axis, shrink_axis, windows_of
from uopd._pool import PerAxis, PoolOps, batched, padded, per_axis


class ConvOps(PoolOps):
    """The convolutions among Tensor's methods."""

    __slots__ = ()

    def conv1d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: int = 1,
    ) -> Self:
        """(N,C,L) with ``weight`` (O, C/groups, K) and ``bias`` (O,) -> (N,O,L'), L' = (L + 2 padding - dilation (K-1)
        - 1) / stride + 1, rounded down: the sum over channels and window of input times weight (not flipped).
        ``padding``: zeros on both sides, "valid" (none), or "same" (as many as keep L; stride 1). The channels are split
        into ``groups``, each seen by its part of the outputs. Raises ValueError where the shapes do not fit."""
        return self._conv(1, weight, bias, stride, padding, dilation, groups)

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: int = 1,
    ) -> Self:
        """(N,C,H,W) with ``weight`` (O, C/groups, K, K'): see conv1d."""
        return self._conv(2, weight, bias, stride, padding, dilation, groups)

    def conv3d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: int = 1,
    ) -> Self:
        """(N,C,D,H,W) with ``weight`` (O, C/groups, K, K', K''): see conv1d."""
        return self._conv(3, weight, bias, stride, padding, dilation, groups)

    def _conv(
        self,
        rank: int,
        weight: Self,
        bias: Self | None,
        stride: PerAxis,
        padding: PerAxis | str,
        dilation: PerAxis,
        groups: int,
    ) -> Self:
        what = f"conv{rank}d"
        x = batched(self.node, rank, what)
        weight = self._wrap(weight)
        w = _weight(weight, rank, what)
        steps, gaps = per_axis(stride, rank, "stride", what), per_axis(dilation, rank, "dilation", what)
        channels, outputs = x.shape[1], w.shape[0]
        if groups < 1 or channels % groups or outputs % groups or w.shape[1] * groups != channels:
            raise ValueError(f"{what} of {channels} channels in {groups} groups takes a weight (O, C/groups, …) with O "
                             f"divisible by {groups} and C/groups = {channels / max(1, groups):g}; got {w.type}")  # fmt: skip
        kernel = w.shape[2:]
        if isinstance(padding, str):
            borders = _named_padding(padding, kernel, steps, gaps, what)
        else:
            borders = [(p, p) for p in per_axis(padding, rank, "padding", what, least=0)]
        y = _convolution(padded(x, borders), w, steps, gaps, groups, what)
        return self._with_bias(y, bias, outputs, what, weight)

    def conv_transpose1d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: int = 1,
        dilation: PerAxis = 1,
    ) -> Self:
        """The transpose (the gradient by its input) of conv1d: (N,C,L) with ``weight`` (C, O/groups, K) -> (N,O,L'),
        L' = (L-1) stride - 2 padding + dilation (K-1) + output_padding + 1. ``output_padding`` (less than stride or
        dilation) chooses among the lengths that conv1d maps to L. Computed as a convolution of the input spread with
        zeros, so that a weight that is not finite gives NaN there."""
        return self._conv_transpose(1, weight, bias, stride, padding, output_padding, groups, dilation)

    def conv_transpose2d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: int = 1,
        dilation: PerAxis = 1,
    ) -> Self:
        """(N,C,H,W) with ``weight`` (C, O/groups, K, K'): see conv_transpose1d."""
        return self._conv_transpose(2, weight, bias, stride, padding, output_padding, groups, dilation)

    def conv_transpose3d(
        self,
        weight: Self,
        bias: Self | None = None,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: int = 1,
        dilation: PerAxis = 1,
    ) -> Self:
        """(N,C,D,H,W) with ``weight`` (C, O/groups, K, K', K''): see conv_transpose1d."""
        return self._conv_transpose(3, weight, bias, stride, padding, output_padding, groups, dilation)

    def _conv_transpose(
        self,
        rank: int,
        weight: Self,
        bias: Self | None,
        stride: PerAxis,
        padding: PerAxis,
        output_padding: PerAxis,
        groups: int,
        dilation: PerAxis,
    ) -> Self:
        what = f"conv_transpose{rank}d"
        x = batched(self.node, rank, what)
        weight = self._wrap(weight)
        w = _weight(weight, rank, what)
        steps, gaps = per_axis(stride, rank, "stride", what), per_axis(dilation, rank, "dilation", what)
        borders = per_axis(padding, rank, "padding", what, least=0)
        extra = per_axis(output_padding, rank, "output_padding", what, least=0)
        channels, per_group = x.shape[1], w.shape[1]
        if groups < 1 or channels % groups or w.shape[0] != channels:
            raise ValueError(f"{what} of {channels} channels in {groups} groups takes a weight (C, O/groups, …) with C = "
                             f"{channels}; got {w.type}")  # fmt: skip
        for e, s, d in zip(extra, steps, gaps):
            if e >= max(s, d):
                raise ValueError(f"{what}: an output_padding of {e} must be less than the stride ({s}) or dilation ({d})")
        kernel = w.shape[2:]
        # Of the convolution whose gradient this is: outputs and channels change places, the window is mirrored.
        w = reshape(w, (groups, channels // groups, per_group, *kernel))
        w = permute(w, [0, 2, 1, *range(3, 3 + rank)])
        w = reshape(w, (groups * per_group, channels // groups, *kernel))
        w = flip(w, range(2, 2 + rank))
        x = _spread(x, steps)
        edges = [(d * (k - 1) - p, d * (k - 1) - p + e) for d, k, p, e in zip(gaps, kernel, borders, extra)]
        y = _convolution(padded(x, edges), w, [1] * rank, gaps, groups, what)
        return self._with_bias(y, bias, groups * per_group, what, weight)

    def _with_bias(self, y: UOp, bias: Self | None, outputs: int, what: str, weight: Self) -> Self:
        rank = len(y.shape) - 2
        result = self._make(y if self.ndim == rank + 2 else reshape(y, y.shape[1:]), weight)
        if bias is None:
            return result
        bias = self._wrap(bias)
        if bias.shape != (outputs,):
            raise ValueError(f"{what} with {outputs} outputs takes a bias of so many elements; got {bias.node.type}")
        return result + bias._make(reshape(bias.node, (outputs,) + (1,) * rank))


# ---------------------------------------------------------------------- parameters


def _named_padding(
    name: str, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], what: str
) -> list[tuple[int, int]]:
    if name == "valid":
        return [(0, 0)] * len(kernel)
    if name != "same":
        raise ValueError(f'{what}: padding is a number, one an axis, "same" or "valid"; got {name!r}')
    if any(s != 1 for s in stride):
        raise ValueError(f'{what}: padding "same" is for a stride of 1; got {list(stride)}')
    totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [(t // 2, t - t // 2) for t in totals]


def _weight(weight: LinalgOps, rank: int, what: str) -> UOp:
    if weight.ndim != rank + 2 or 0 in weight.shape[2:]:
        raise ValueError(f"{what} takes a weight of {rank + 2} axes, with a window of at least one element; got "
                         f"{weight.node.type}")  # fmt: skip
    return weight.node


# ---------------------------------------------------------------------- nodes


def _spread(x: UOp, steps: Sequence[int]) -> UOp:
    """``steps`` - 1 zeros between neighbours along each of the last axes."""
    for i, step in enumerate(steps, len(x.shape) - len(steps)):
        n = x.shape[i]
        if step > 1 and n > 1:
            grown = pad_axis(reshape(x, (*x.shape[: i + 1], 1, *x.shape[i + 1 :])), i + 1, 0, step - 1)
            x = shrink_axis(reshape(grown, (*x.shape[:i], n * step, *x.shape[i + 1 :])), i, 0, (n - 1) * step + 1)
    return x


def _convolution(
    x: UOp, w: UOp, stride: Sequence[int], dilation: Sequence[int], groups: int, what: str
) -> UOp:
    """x (N,C,…) with w (O,C/groups,k…), without padding: (N, O, out…, C/groups, k…) multiplied and summed over the last
    axes. Each output sees the channels of its group: (N, groups, 1, …), repeated and merged to (N, O, …)."""
    n = x.shape[0]
    outputs, per_group, *kernel = w.shape
    rank = len(kernel)
    for i, (size, k, d) in enumerate(zip(x.shape[2:], kernel, dilation)):
        if d * (k - 1) + 1 > size:
            raise ValueError(f"{what}: the window of {d * (k - 1) + 1} along axis {i + 2} is larger than the padded input of "
                             f"{size}")  # fmt: skip
    view = windows_of(x, kernel, stride, dilation)
    out = view.shape[2 : 2 + rank]
    view = permute(reshape(view, (n, groups, per_group, *out, *kernel)),
                   [0, 1, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank)])  # fmt: skip
    view = broadcast_to(reshape(view, (n, groups, 1, *view.shape[2:])), (n, groups, outputs // groups, *view.shape[2:]))
    view = reshape(view, (n, outputs, *out, per_group, *kernel))
    w = reshape(w, (1, outputs, *[1] * rank, per_group, *kernel))
    return node("REDUCE", (product(view, w),), reduce="ADD", value=1 + rank)
