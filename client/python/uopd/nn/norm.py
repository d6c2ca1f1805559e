"""Normalization layers. Statistics divide by n, and ``eps`` is added to the variance, under the root."""
from __future__ import annotations

from typing import Sequence

from uopd import _dtype
from uopd._base import advance_with, no_grad
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Device
from uopd.nn import init
from uopd.nn.module import Module


class LayerNorm(Module):
    """To mean 0 and variance 1 over the last axes, of sizes ``normalized_shape``; then times ``weight`` plus ``bias``,
    which are of that shape and begin as 1 and 0."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = init.constant(self.normalized_shape, 1, dtype, device) if elementwise_affine else None
        self.bias = init.constant(self.normalized_shape, 0, dtype, device) if elementwise_affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        return x.layer_norm(self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{list(self.normalized_shape)}, eps={self.eps}"


class RMSNorm(Module):
    """Divided by the root of the mean square over the last axes, of sizes ``normalized_shape``; then times ``weight``,
    which begins as 1 (Zhang and Sennrich, 2019). ``eps`` None: that of the dtype, as PyTorch."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = init.constant(self.normalized_shape, 1, dtype, device) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        return x.rms_norm(self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{list(self.normalized_shape)}" + (f", eps={self.eps}" if self.eps is not None else "")


class GroupNorm(Module):
    """To mean 0 and variance 1 over each of ``num_groups`` groups of channels (axis 1) with all axes after it; then
    times ``weight`` plus ``bias``, one a channel."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"{num_channels} channels do not divide into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = init.constant((num_channels,), 1, dtype, device) if affine else None
        self.bias = init.constant((num_channels,), 0, dtype, device) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        return x.group_norm(self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}"


class _BatchNorm(Module):
    """What the batch normalizations share.

    In training, by mean and variance of the batch, over all axes but the channels' (axis 1); running means of both are
    kept for evaluation: r = (1 - momentum) * r + momentum * of the batch, the variance being the unbiased one (it
    divides by n - 1). They change in place, in the forward pass, and are realized along with whatever is realized next.
    """

    ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = init.constant((num_features,), 1, dtype, device) if affine else None
        self.bias = init.constant((num_features,), 0, dtype, device) if affine else None
        self.running_mean: Tensor | None = None
        self.running_var: Tensor | None = None
        if track_running_stats:
            kept = _dtype.f32 if dtype.is_half else dtype
            self.running_mean = init.constant((num_features,), 0, kept, device).requires_grad_(False)
            self.running_var = init.constant((num_features,), 1, kept, device).requires_grad_(False)
            advance_with(self.running_mean)
            advance_with(self.running_var)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ValueError(f"{self!r} takes {' or '.join(map(str, self.ranks))} axes, with {self.num_features} "
                             f"channels as axis 1; got {x.node.type}")  # fmt: skip
        if self.training:
            self._keep(x)
        elif self.running_mean is not None and self.running_var is not None:
            return x.batch_norm(self.running_mean, self.running_var, self.weight, self.bias, self.eps)
        return x.batch_norm(None, None, self.weight, self.bias, self.eps)

    def _keep(self, x: Tensor) -> None:
        """Takes the statistics of a batch into the running ones."""
        if self.running_mean is None or self.running_var is None:
            return
        n = x.numel() // self.num_features
        if n < 2:
            raise ValueError(f"{self!r} in training takes more than one value a channel: one has no variance")
        # Built as batch_norm builds them, so that they are the same nodes and are computed once.
        wide = x.cast(_dtype.f32) if x.dtype.is_half else x
        axes = [i for i in range(x.ndim) if i != 1]
        mean = wide.mean(axes, keepdim=True)
        centred = wide - mean
        var = (centred * centred).mean(axes, keepdim=True)
        with no_grad():
            unbiased = var * (n / (n - 1))
            for kept, new in ((self.running_mean, mean), (self.running_var, unbiased)):
                kept.assign(kept * (1 - self.momentum) + new.reshape(self.num_features) * self.momentum)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """(N, C) or (N, C, L), by channel."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """(N, C, H, W), by channel."""

    ranks = (4,)
