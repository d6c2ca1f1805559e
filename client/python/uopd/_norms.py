"""Softmax and the normalizations: what divides along an axis by something computed from all of it.

Halves are computed in f32 and rounded once, at the end: squares and sums of them may be beyond their range.
"""
from __future__ import annotations

import math
from typing import Self, Sequence, TypeVar

import numpy as np

from uopd import _dtype
from uopd._build import normal_axes, reshape
from uopd._conv import ConvOps
from uopd._dtype import DType, DTypeLike, float_dtype

N = TypeVar("N", bound="NormOps")

Axes = int | Sequence[int]


class NormOps(ConvOps):
    """Softmax and the normalizations among Tensor's methods."""

    __slots__ = ()

    # ------------------------------------------------------------------ softmax

    def softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """exp(x - max) / sum(exp(x - max)) along ``axis``; of integers in f32, or in ``dtype``. A row that is -inf
        throughout (all of it masked), or has a NaN or +inf, is NaN."""
        x = self if dtype is None else self.cast(dtype)
        shifted, rounded = x._shifted(axis)
        if shifted.numel() == 0:
            return shifted.cast(rounded)
        e = shifted.exp()
        return (e * e.sum(axis, keepdim=True).reciprocal()).cast(rounded)

    def log_softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """log(softmax(x)) without overflow: x - max - log(sum(exp(x - max)))."""
        x = self if dtype is None else self.cast(dtype)
        shifted, rounded = x._shifted(axis)
        if shifted.numel() == 0:
            return shifted.cast(rounded)
        return (shifted - shifted.exp().sum(axis, keepdim=True).log()).cast(rounded)

    def softmin(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """softmax(-x)."""
        return (-self).softmax(axis, dtype)

    def _shifted(self, axis: int) -> tuple[Self, DType]:
        """x - max along ``axis``, and the dtype of the result. The maximum counts as a constant, since what is computed
        from the difference does not depend on it: that saves its gradient, which would be 0 but for rounding."""
        x = self._wide()
        if x.numel() == 0:
            normal_axes(axis, x.ndim)
            return x, float_dtype(self.dtype)
        return x - x.max(axis, keepdim=True).detach(), float_dtype(self.dtype)

    # ------------------------------------------------------------------ normalizations

    def layer_norm(
        self,
        normalized_shape: Axes | None = None,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-5,
        *,
        axis: Axes = -1,
    ) -> Self:
        """(x - mean) / sqrt(var + eps) over the last axes, of sizes ``normalized_shape``, or over those that ``axis`` says;
        times ``weight``, plus ``bias``, which have the sizes of these axes. ``var`` is the mean square (divides by n).
        arXiv:1607.06450."""
        axes = self._normalized_axes(normalized_shape, axis, "layer_norm")
        return self._finished(self._standardized(axes, eps), weight, bias, axes, "layer_norm")

    def rms_norm(
        self,
        normalized_shape: Axes | None = None,
        weight: Self | None = None,
        eps: float | None = None,
        *,
        axis: Axes = -1,
    ) -> Self:
        """x / sqrt(mean(x * x) + eps) over the last axes, of sizes ``normalized_shape``, or over those that ``axis`` says;
        times ``weight`` of the sizes of these axes. ``eps``: by default the distance from 1 to the next number of the
        dtype computed in. arXiv:1910.07467."""
        axes = self._normalized_axes(normalized_shape, axis, "rms_norm")
        x = self._wide()
        eps = float(np.finfo(x.dtype.numpy).eps) if eps is None else eps
        y = x * ((x * x).mean(axes, keepdim=True) + eps).rsqrt()
        return self._finished(y, weight, None, axes, "rms_norm")

    def batch_norm(
        self,
        mean: Self | None = None,
        var: Self | None = None,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-5,
        axis: int = 1,
    ) -> Self:
        """(x - mean) * (weight / sqrt(var + eps)) + bias, with parameters of shape (channels,) for channels along
        ``axis``. Without ``mean`` and ``var``: those of this batch, over all other axes (var divides by n), as in
        training. arXiv:1502.03167."""
        (channel,) = normal_axes(axis, self.ndim)
        others = [i for i in range(self.ndim) if i != channel]
        if (mean is None) != (var is None):
            raise ValueError("batch_norm takes mean and var together, or neither")
        x = self._wide()
        if mean is None or var is None:
            centred = x - x.mean(others, keepdim=True)
            spread = (centred * centred).mean(others, keepdim=True)
        else:
            centred = x - mean._wide()._along(x, [channel], "batch_norm")
            spread = var._wide()._along(x, [channel], "batch_norm")
        scale = (spread + eps).rsqrt()
        if weight is not None:
            scale = scale * weight._along(x, [channel], "batch_norm")
        return self._finished(centred * scale, None, bias, [channel], "batch_norm")

    def group_norm(
        self, num_groups: int, weight: Self | None = None, bias: Self | None = None, eps: float = 1e-5
    ) -> Self:
        """(N,C,…): as layer_norm over all of each of ``num_groups`` equal parts of the channels, of each batch element;
        ``weight`` and ``bias`` of shape (C,). arXiv:1803.08494."""
        if self.ndim < 2 or num_groups < 1 or self.shape[1] % num_groups:
            raise ValueError(f"group_norm takes (N, C, …) with C divisible by the {num_groups} groups; got {self.node.type}")
        size = self.shape[1] // num_groups * math.prod(self.shape[2:])
        y = self.reshape(self.shape[0], num_groups, size)._standardized([2], eps).reshape(self.shape)
        return self._finished(y, weight, bias, [1], "group_norm")

    def instance_norm(self, weight: Self | None = None, bias: Self | None = None, eps: float = 1e-5) -> Self:
        """(N,C,…): as layer_norm over the axes after the channels; ``weight`` and ``bias`` of shape (C,)."""
        if self.ndim < 3:
            raise ValueError(f"instance_norm takes (N, C, …) with an axis after the channels; got {self.node.type}")
        y = self._standardized(list(range(2, self.ndim)), eps)
        return self._finished(y, weight, bias, [1], "instance_norm")

    def normalize(self, p: float = 2, axis: Axes = 1, eps: float = 1e-12) -> Self:
        """x / max(norm, eps), with the norm of the vectors along ``axis``: of order 1, 2 or infinity. The gradient at 0 is
        that of x / eps."""
        x = self._wide()
        if p == 2:
            norm = _root((x * x).sum(axis, keepdim=True), eps)
        elif p == 1:
            norm = x.abs().sum(axis, keepdim=True).maximum(eps)
        elif p == math.inf:
            norm = x.abs().max(axis, keepdim=True).maximum(eps)
        else:
            raise ValueError(f"normalize takes a norm of order 1, 2 or infinity, not {p}")
        return (x / norm).cast(float_dtype(self.dtype))

    def cosine_similarity(self, other: Self, axis: int = 1, eps: float = 1e-8) -> Self:
        """The cosine of the angle between the vectors along ``axis`` (shapes broadcast); a norm counts as at least
        ``eps``."""
        x, y = self._wide(), other._wide()
        both = _root((x * x).sum(axis), eps) * _root((y * y).sum(axis), eps)
        return ((x * y).sum(axis) / both).cast(float_dtype(_dtype.promote(self.dtype, other.dtype)))

    # ------------------------------------------------------------------ parts

    def _normalized_axes(self, shape: Axes | None, axis: Axes, what: str) -> list[int]:
        if shape is None:
            return normal_axes(axis, self.ndim)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        if len(sizes) > self.ndim or self.shape[self.ndim - len(sizes) :] != sizes:
            raise ValueError(f"{what} over the last axes {list(sizes)} of {self.node.type}: these are of other sizes")
        return list(range(self.ndim - len(sizes), self.ndim))

    def _standardized(self, axes: Sequence[int], eps: float) -> Self:
        x = self._wide()
        centred = x - x.mean(axes, keepdim=True)
        return centred * ((centred * centred).mean(axes, keepdim=True) + eps).rsqrt()

    def _finished(self, y: Self, weight: Self | None, bias: Self | None, axes: Sequence[int], what: str) -> Self:
        """y * weight + bias in this tensor's (float) dtype."""
        if weight is not None:
            y = y * weight._along(y, axes, what)
        if bias is not None:
            y = y + bias._along(y, axes, what)
        return y.cast(float_dtype(self.dtype))

    def _along(self, like: Self, axes: Sequence[int], what: str) -> Self:
        """This parameter as it lies along ``axes`` of ``like``."""
        sizes = tuple(like.shape[i] for i in axes)
        if self.shape != sizes:
            raise ValueError(f"{what} of {like.node.type} takes parameters of shape {list(sizes)}, not {self.node.type}")
        return self._make(reshape(self.node, [n if i in axes else 1 for i, n in enumerate(like.shape)]))


def _root(squares: N, least: float) -> N:
    """max(sqrt(squares), least), with a gradient of 0 below ``least``."""
    return squares.maximum(least * least).sqrt()
