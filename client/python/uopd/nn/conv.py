"""Convolutions and poolings as modules; Tensor's methods of the same names say what they compute."""
from __future__ import annotations

import math
from typing import Sequence

from uopd import _dtype
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Device
from uopd.nn import init
from uopd.nn.module import Module

PerAxis = int | Sequence[int]


class _Conv(Module):
    """What the convolutions share. Weight and bias begin uniform within 1 / sqrt(channels of a group * window)."""

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: PerAxis,
        stride: PerAxis = 1,
        padding: PerAxis | str = 0,
        dilation: PerAxis = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels do not divide into {groups} groups")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        kernel = _kernel(kernel_size, self.axes)
        bound = init.fan_in_bound(in_channels // groups * math.prod(kernel))
        self.weight = init.uniform((out_channels, in_channels // groups, *kernel), bound, dtype, device)
        self.bias = init.uniform((out_channels,), bound, dtype, device) if bias else None

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}" + _settings(
            self, stride=1, padding=0, dilation=1, groups=1)  # fmt: skip


class Conv1d(_Conv):
    """(N, in_channels, L) -> (N, out_channels, L'): see Tensor.conv1d."""

    axes = 1

    def forward(self, x: Tensor) -> Tensor:
        return x.conv1d(self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_Conv):
    """(N, in_channels, H, W) -> (N, out_channels, H', W'): see Tensor.conv2d."""

    axes = 2

    def forward(self, x: Tensor) -> Tensor:
        return x.conv2d(self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d(_Conv):
    """(N, in_channels, D, H, W) -> (N, out_channels, D', H', W'): see Tensor.conv3d."""

    axes = 3

    def forward(self, x: Tensor) -> Tensor:
        return x.conv3d(self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class _ConvTranspose(Module):
    """What the transposed convolutions share. Weight and bias begin as PyTorch's: uniform within
    1 / sqrt(output channels of a group * window)."""

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: PerAxis,
        stride: PerAxis = 1,
        padding: PerAxis = 0,
        output_padding: PerAxis = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: PerAxis = 1,
        *,
        dtype: DType = _dtype.f32,
        device: Device | None = None,
    ) -> None:
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels do not divide into {groups} groups")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.output_padding = stride, padding, output_padding
        self.groups, self.dilation = groups, dilation
        kernel = _kernel(kernel_size, self.axes)
        bound = init.fan_in_bound(out_channels // groups * math.prod(kernel))
        self.weight = init.uniform((in_channels, out_channels // groups, *kernel), bound, dtype, device)
        self.bias = init.uniform((out_channels,), bound, dtype, device) if bias else None

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}" + _settings(
            self, stride=1, padding=0, output_padding=0, groups=1, dilation=1)  # fmt: skip


class ConvTranspose1d(_ConvTranspose):
    """See Tensor.conv_transpose1d."""

    axes = 1

    def forward(self, x: Tensor) -> Tensor:
        return x.conv_transpose1d(self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups,
                                  self.dilation)  # fmt: skip


class ConvTranspose2d(_ConvTranspose):
    """See Tensor.conv_transpose2d."""

    axes = 2

    def forward(self, x: Tensor) -> Tensor:
        return x.conv_transpose2d(self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups,
                                  self.dilation)  # fmt: skip


class ConvTranspose3d(_ConvTranspose):
    """See Tensor.conv_transpose3d."""

    axes = 3

    def forward(self, x: Tensor) -> Tensor:
        return x.conv_transpose3d(self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups,
                                  self.dilation)  # fmt: skip


class MaxPool2d(Module):
    """See Tensor.max_pool2d; windows do not overlap unless ``stride`` says so."""

    def __init__(
        self,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.dilation, self.ceil_mode = dilation, ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        return x.max_pool2d(self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)

    def extra_repr(self) -> str:
        return str(self.kernel_size) + _settings(self, stride=None, padding=0, dilation=1, ceil_mode=False)


class AvgPool2d(Module):
    """See Tensor.avg_pool2d; windows do not overlap unless ``stride`` says so."""

    def __init__(
        self,
        kernel_size: PerAxis,
        stride: PerAxis | None = None,
        padding: PerAxis = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        return x.avg_pool2d(self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return str(self.kernel_size) + _settings(
            self, stride=None, padding=0, ceil_mode=False, count_include_pad=True)  # fmt: skip


def _kernel(size: PerAxis, axes: int) -> tuple[int, ...]:
    kernel = (size,) * axes if isinstance(size, int) else tuple(size)
    if len(kernel) != axes:
        raise ValueError(f"kernel_size {size} is not one number, or one for each of {axes} axes")
    return kernel


def _settings(module: Module, **defaults: object) -> str:
    """Those that are not the defaults: ", stride=2"."""
    own = {name: getattr(module, name) for name in defaults}
    return "".join(f", {name}={value!r}" for name, value in own.items() if value != defaults[name])
