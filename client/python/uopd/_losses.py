"""Losses. Each takes ``reduction``: "mean" (over all elements, or as it says), "sum", or "none" (one value an element).

Halves are computed in f32 and rounded once, at the end.
"""
from __future__ import annotations

import math
from typing import Callable, Self

import numpy as np

from uopd._build import normal_axis
from uopd._dtype import float_dtype, promote
from uopd._norms import NormOps


class LossOps(NormOps):
    """The losses among Tensor's methods."""

    __slots__ = ()

    # ------------------------------------------------------------------ of classes

    def cross_entropy(
        self,
        target: Self,
        weight: Self | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        axis: int | None = None,
    ) -> Self:
        """-log(softmax(x)) at the right class. The classes lie along ``axis`` (by default 1, or the only one).

        ``target`` of an integer dtype holds class indices, in the shape without that axis; those equal to
        ``ignore_index`` give 0 and no gradient. Of a float dtype it holds a probability for each class. ``weight``: a
        factor for each class. ``label_smoothing`` e: the target is (1 - e) of it and e in equal parts of all classes.
        The mean is over what is not ignored, by class weight where there is one. The labels are read by a gather: no
        one-hot matrix is made. An index that is no class reads the logit 0: keep labels in range.
        """
        axis = self._class_axis(axis)
        _check_reduction(reduction)
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"label_smoothing is a fraction of 1, not {label_smoothing}")
        rounded = float_dtype(self.dtype)
        x, target = self._wide(), self._wrap(target)
        if target.dtype.is_float:
            if target.shape != self.shape:
                raise ValueError(f"cross_entropy of {self.node.type}: probabilities have its shape, not {target.node.type}")
            p = target._wide()
            if label_smoothing:
                p = p * (1 - label_smoothing) + label_smoothing / x.shape[axis]
            if weight is not None:
                p = p * weight._wide()._along(x, [axis], "cross_entropy")
            return (-(x.log_softmax(axis) * p).sum(axis))._reduced(reduction).cast(rounded)
        self._check_classes(target, axis, "cross_entropy")
        shifted, _ = x._shifted(axis)
        log_sum = shifted.exp().sum(axis, keepdim=True).log()
        # log_softmax at the label, of which only one element a row is read.
        loss = (log_sum - shifted.gather(axis, target.unsqueeze(axis))).squeeze(axis)
        factor = None if weight is None else weight._of_classes(target, x, axis)
        if factor is not None:
            loss = loss * factor
        if label_smoothing:
            logs = shifted - log_sum
            if weight is not None:
                logs = logs * weight._wide()._along(x, [axis], "cross_entropy")
            loss = loss * (1 - label_smoothing) - logs.sum(axis) * (label_smoothing / x.shape[axis])
        return loss._of_labels(target, factor, ignore_index, reduction).cast(rounded)

    def nll_loss(
        self,
        target: Self,
        weight: Self | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        axis: int | None = None,
    ) -> Self:
        """-x at the right class, of log-probabilities x: see cross_entropy, which takes logits."""
        axis = self._class_axis(axis)
        _check_reduction(reduction)
        x, target = self._wide(), self._wrap(target)
        self._check_classes(target, axis, "nll_loss")
        loss = -x.gather(axis, target.unsqueeze(axis)).squeeze(axis)
        factor = None if weight is None else weight._of_classes(target, x, axis)
        if factor is not None:
            loss = loss * factor
        return loss._of_labels(target, factor, ignore_index, reduction).cast(float_dtype(self.dtype))

    def _class_axis(self, axis: int | None) -> int:
        if not self.shape:
            raise ValueError(f"{self.node.type} has no axis of classes")
        return min(1, self.ndim - 1) if axis is None else normal_axis(axis, self.ndim)

    def _check_classes(self, target: Self, axis: int, what: str) -> None:
        if not target.dtype.is_integer:
            raise TypeError(f"{what} takes class indices of an integer dtype, not {target.node.type}; cast them")
        rest = self.shape[:axis] + self.shape[axis + 1 :]
        if target.shape != rest:
            raise ValueError(f"{what} of {self.node.type} with classes along axis {axis} takes labels of shape "
                             f"{list(rest)}, not {target.node.type}")  # fmt: skip

    def _of_classes(self, target: Self, x: Self, axis: int) -> Self:
        """This factor for each class of x, read for each label."""
        if self.shape != (x.shape[axis],):
            raise ValueError(f"the class weights of {x.node.type} are {x.shape[axis]} numbers, not {self.node.type}")
        return self._wide().gather(0, target.reshape(target.numel())).reshape(target.shape)

    def _of_labels(self, target: Self, factor: Self | None, ignore_index: int, reduction: str) -> Self:
        """These losses, reduced; 0 where the label is to be ignored."""
        info = np.iinfo(target.dtype.numpy)
        kept = target.ne(ignore_index) if info.min <= ignore_index <= info.max else None
        loss = self if kept is None else kept.where(self, 0.0)
        if reduction != "mean" or (kept is None and factor is None):
            return loss._reduced(reduction)
        if kept is not None:
            factor = kept.cast(loss.dtype) if factor is None else kept.where(factor, 0.0)
        assert factor is not None
        return loss.sum() / factor.sum()

    # ------------------------------------------------------------------ of numbers

    def mse_loss(self, target: Self, reduction: str = "mean") -> Self:
        """(x - y)^2."""
        return self._loss(target, reduction, lambda x, y: (x - y).square())

    def l1_loss(self, target: Self, reduction: str = "mean") -> Self:
        """|x - y|."""
        return self._loss(target, reduction, lambda x, y: (x - y).abs())

    def smooth_l1_loss(self, target: Self, reduction: str = "mean", beta: float = 1.0) -> Self:
        """d^2 / (2 beta) where d = |x - y| < beta, else d - beta / 2."""
        if beta < 0:
            raise ValueError(f"smooth_l1_loss takes a beta of 0 or more, not {beta}")
        if beta == 0:
            return self.l1_loss(target, reduction)

        def each(x: Self, y: Self) -> Self:
            d = (x - y).abs()
            return (d < beta).where(d * d * (0.5 / beta), d - 0.5 * beta)

        return self._loss(target, reduction, each)

    def huber_loss(self, target: Self, reduction: str = "mean", delta: float = 1.0) -> Self:
        """d^2 / 2 where d = |x - y| <= delta, else delta * (d - delta / 2)."""
        if delta <= 0:
            raise ValueError(f"huber_loss takes a delta above 0, not {delta}")

        def each(x: Self, y: Self) -> Self:
            d = (x - y).abs()
            return (d <= delta).where(d * d * 0.5, (d - 0.5 * delta) * delta)

        return self._loss(target, reduction, each)

    # ------------------------------------------------------------------ of probabilities

    def binary_cross_entropy(self, target: Self, weight: Self | None = None, reduction: str = "mean") -> Self:
        """-(y log(x) + (1 - y) log(1 - x)) for probabilities x, times ``weight``; the logarithms are at least -100."""

        def log(p: Self) -> Self:
            low = p <= _LEAST_PROBABILITY
            return low.where(-100.0, low.where(1.0, p).log())  # the log of 0 has no gradient to multiply by 0

        return self._loss(target, reduction, lambda x, y: -(y * log(x) + (1.0 - y) * log(1.0 - x)), weight)

    def binary_cross_entropy_with_logits(
        self, target: Self, weight: Self | None = None, reduction: str = "mean", pos_weight: Self | None = None
    ) -> Self:
        """binary_cross_entropy of sigmoid(x), without overflow: (1 - y) x + w log(1 + exp(-x)), w = 1 + (pos_weight - 1)
        y; ``pos_weight`` is a factor for y = 1."""

        def each(x: Self, y: Self) -> Self:
            # What cancels is added first, so that the small rest of a right and certain answer is kept.
            linear, tail = (-x).maximum(0.0), (-x.abs()).exp().log1p()
            if pos_weight is not None:
                factor = (pos_weight._wide() - 1.0) * y + 1.0
                linear, tail = linear * factor, tail * factor
            return ((1.0 - y) * x + linear) + tail

        return self._loss(target, reduction, each, weight)

    def kl_div(self, target: Self, reduction: str = "mean", log_target: bool = False) -> Self:
        """y (log(y) - x) for log-probabilities x and probabilities y (their logarithms: ``log_target``); 0 where y is 0.
        The divergence of distributions is the sum over their axis; "batchmean" divides the sum by the first axis."""

        def each(x: Self, y: Self) -> Self:
            if log_target:
                return y.exp() * (y - x)
            none = y.eq(0.0)
            return none.where(0.0, y * (none.where(1.0, y).log() - x))

        if reduction != "batchmean":
            return self._loss(target, reduction, each)
        total = self._loss(target, "sum", each)
        return total / (self.shape[0] if self.shape else 1)

    # ------------------------------------------------------------------ parts

    def _loss(
        self, target: Self, reduction: str, each: Callable[[Self, Self], Self], weight: Self | None = None
    ) -> Self:
        _check_reduction(reduction)
        target = self._wrap(target)
        if target.shape != self.shape:
            raise ValueError(f"a loss of {self.node.type} takes a target of its shape, not {target.node.type}; expand it "
                             "if it is to broadcast")  # fmt: skip
        loss = each(self._wide(), target._wide())
        if weight is not None:
            loss = loss * weight._wide()
        return loss._reduced(reduction).cast(float_dtype(promote(self.dtype, target.dtype)))

    def _reduced(self, reduction: str) -> Self:
        return self.mean() if reduction == "mean" else self.sum() if reduction == "sum" else self


#: exp(-100): below it binary_cross_entropy takes -100 for the logarithm.
_LEAST_PROBABILITY = math.exp(-100)


def _check_reduction(reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction is "mean", "sum" or "none"; got {reduction!r}')
