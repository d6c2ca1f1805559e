"""Optimizers, learning-rate schedules, gradient clipping.

    optimizer = uopd.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = uopd.optim.WarmupCosine(optimizer, warmup=100, total=1500)
    for x, y in batches:
        loss = model(x).cross_entropy(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step(loss)
        schedule.step()

``step`` computes the loss, the gradients, the new parameters and the new state in one plan, and all of it stays at the
server. What changes from step to step is data, not structure: the learning rate is a tensor that goes along with the
run, and powers like beta^t are kept at the server. So a loop runs one plan, from its first step on.

Definitions and defaults are PyTorch's. Arithmetic is in the parameter's dtype, for halves in f32.
"""
from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase, no_grad, realize, state
from uopd._dtype import DType
from uopd._leaves import filled, give_own, own_node
from uopd._tensor import Tensor


class Optimizer:
    """Base of all. ``params``: the leaves to change; each gets a buffer of its own, realized now."""

    def __init__(self, params: Iterable[Tensor], lr: float) -> None:
        self.params = list({id(p): p for p in params}.values())
        if not self.params:
            raise ValueError("an optimizer without parameters; a model lists its own by parameters()")
        for i, p in enumerate(self.params):
            if not isinstance(p, TensorBase) or not p.is_leaf or not p.requires_grad:
                raise ValueError(f"parameter {i} is no leaf that requires gradients: {p!r}")
        self.device = self.params[0].device
        give_own(self.params)
        self._lr_value = _checked("lr", lr)
        self._lr = self._number(lr)

    @property
    def lr(self) -> float:
        """The learning rate. A new value goes to the server with the next step, as four bytes of data."""
        return self._lr_value

    @lr.setter
    def lr(self, value: float) -> None:
        if _checked("lr", value) != self._lr_value:
            self._lr.assign(self._number(value))  # the tensor stays, so that a plan under jit finds it
            self._lr_value = float(value)

    def _number(self, value: float) -> Tensor:
        return Tensor(np.array(value, np.float32), device=self.device)

    def zero_grad(self) -> None:
        """Forgets the gradients: ``backward`` adds to what is there."""
        for p in self.params:
            p.grad = None

    def step(self, *also: Tensor) -> None:
        """Changes each parameter that has a gradient, and realizes ``also`` (the loss, say), parameters and state in
        one plan."""
        params = [p for p in self.params if p.grad is not None]
        with no_grad():
            changed = self._update(params)
        if state.tracer is None:
            realize(*also, *params, *changed)
            for p in params:
                p._before = None  # no loss was built from the lazy form, which holds this step's buffers

    def _update(self, params: Sequence[Tensor]) -> list[Tensor]:
        """Assigns new values to ``params``; returns the state that changed with them."""
        raise NotImplementedError

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, list[Tensor]]:
        """The tensors of the state, by name; a list has one for each parameter, or a single one."""
        return {}

    def state_dict(self) -> dict[str, Tensor]:
        """The state as named tensors ("momentum.0"), to be saved beside the model's; the learning rate is not in it."""
        return {f"{name}.{i}": Tensor._of(t.node, t.device)
                for name, tensors in self.state().items() for i, t in enumerate(tensors)}  # fmt: skip

    def load_state_dict(self, values: Mapping[str, Tensor]) -> None:
        """Takes over what ``state_dict`` gave, of an optimizer of the same kind over the same parameters."""
        own = {f"{name}.{i}": t for name, tensors in self.state().items() for i, t in enumerate(tensors)}
        if set(own) != set(values):
            raise ValueError(f"the state is of another optimizer: it lacks {sorted(set(own) - set(values))}, and has "
                             f"{sorted(set(values) - set(own))} besides")  # fmt: skip
        for name, t in own.items():
            if values[name].shape != t.shape:
                raise ValueError(f"{name} is {values[name].node.type}, but belongs to {t.node.type}")
        for name, t in own.items():
            t.node = own_node(values[name].cast(t.dtype))

    def _zeros(self) -> list[Tensor]:
        return [filled(p.shape, 0, _computing(p.dtype), self.device) for p in self.params]


class SGD(Optimizer):
    """g += weight_decay * p; with momentum: v = momentum * v + g (v starts as 0), and g = g + momentum * v where
    ``nesterov``, else v; p -= lr * g."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and momentum == 0:
            raise ValueError("nesterov needs a momentum")
        super().__init__(params, lr)
        self.momentum = _checked("momentum", momentum)
        self.weight_decay = _checked("weight_decay", weight_decay)
        self.nesterov = nesterov
        self.velocity = self._zeros() if momentum else []

    def state(self) -> dict[str, list[Tensor]]:
        return {"velocity": self.velocity}

    def _update(self, params: Sequence[Tensor]) -> list[Tensor]:
        at = {id(p): i for i, p in enumerate(self.params)}
        changed = []
        for p in params:
            g = _gradient(p)
            if self.weight_decay:
                g = g + p * self.weight_decay
            if self.momentum:
                v = self.velocity[at[id(p)]]
                v.assign(v * self.momentum + g)
                g = g + v * self.momentum if self.nesterov else v
                changed.append(v)
            p.assign(p - self._lr.cast(g.dtype) * g)
        return changed


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with the bias corrections of PyTorch: m and v are running means of g and g^2,
    p -= lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps). ``weight_decay`` adds to g what L2 would."""

    decoupled = False

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr)
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas are in 0..1, without 1; got {betas}")
        self.betas = betas
        self.eps = _checked("eps", eps)
        self.weight_decay = _checked("weight_decay", weight_decay)
        self.m = self._zeros()
        self.v = self._zeros()
        #: beta1^t and beta2^t after t steps: in f64, since 1 - beta2^t begins with few digits.
        self.powers = [filled((), 1, _dtype.f64, self.device) for _ in betas]

    def state(self) -> dict[str, list[Tensor]]:
        return {"m": self.m, "v": self.v, "power": self.powers}

    def _update(self, params: Sequence[Tensor]) -> list[Tensor]:
        beta1, beta2 = self.betas
        for power, beta in zip(self.powers, self.betas):
            power.assign(power * beta)
        # 0-d, so that they cost nothing: lr / (1 - beta1^t), and 1 / sqrt(1 - beta2^t).
        step_size = self._lr.cast(_dtype.f64) / (1.0 - self.powers[0])
        root = (1.0 - self.powers[1]).sqrt()
        at = {id(p): i for i, p in enumerate(self.params)}
        changed = list(self.powers)
        for p in params:
            g = _gradient(p)
            m, v = self.m[at[id(p)]], self.v[at[id(p)]]
            old: Tensor = p
            if self.weight_decay and self.decoupled:
                old = p * (1.0 - self._lr.cast(g.dtype) * self.weight_decay)
            elif self.weight_decay:
                g = g + p * self.weight_decay
            m.assign(m * beta1 + g * (1 - beta1))
            v.assign(v * beta2 + g * g * (1 - beta2))
            p.assign(old - step_size.cast(g.dtype) * m / (v.sqrt() / root.cast(g.dtype) + self.eps))
            changed += [m, v]
        return changed


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): p is multiplied by 1 - lr * weight_decay."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)


def _gradient(p: Tensor) -> Tensor:
    assert p.grad is not None
    return p.grad.cast(_computing(p.dtype))


def _computing(dtype: DType) -> DType:
    return _dtype.f32 if dtype.is_half else dtype


def _checked(name: str, value: float) -> float:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} is a number >= 0; got {value}")
    return float(value)


# ---------------------------------------------------------------------- clipping


def clip_grad_norm_(params: Iterable[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scales all gradients together so that their norm, taken as of one vector, is at most ``max_norm``; returns the
    norm before, a 0-d f32 tensor (f64 if one of them is). As in PyTorch they are multiplied by
    min(1, max_norm / (norm + 1e-6)); a norm that is NaN makes them NaN. ``norm_type`` may be ``math.inf``."""
    with no_grad():
        grads = [p.grad for p in params if p.grad is not None]
        if not grads:
            raise ValueError("there are no gradients to clip; call backward() before")
        total: Any = None
        for g in grads:
            size = g.cast(_computing(g.dtype)).abs()
            if norm_type == math.inf:
                part = size.max()
                total = part if total is None else total.maximum(part)
                continue
            part = (size * size).sum() if norm_type == 2 else size.sum() if norm_type == 1 else (size**norm_type).sum()
            total = part if total is None else total + part
        if norm_type == 2:
            total = total.sqrt()
        elif norm_type not in (1, math.inf):
            total = total ** (1 / norm_type)
        factor = (max_norm / (total + 1e-6)).minimum(1.0)
        for g in grads:
            g.assign(g * factor)
    return total  # type: ignore[no-any-return]


def clip_grad_value_(params: Iterable[Tensor], clip_value: float) -> None:
    """Limits every element of every gradient to -clip_value..clip_value; a NaN stays."""
    with no_grad():
        for p in params:
            if p.grad is not None:
                p.grad.assign(p.grad.maximum(-clip_value).minimum(clip_value))


# ---------------------------------------------------------------------- schedules


class Schedule:
    """Base of all: sets ``optimizer.lr`` to ``base_lr * factor(t)``, at once for t = 0 and with every ``step()``, to be
    called once after each step (or epoch) of the optimizer. ``base_lr`` is the optimizer's rate at construction."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.base_lr = optimizer.lr
        self.t = 0
        self._set()

    def factor(self, t: int) -> float:
        """The share of ``base_lr`` after ``t`` steps."""
        raise NotImplementedError

    def step(self) -> None:
        self.t += 1
        self._set()

    def _set(self) -> None:
        self.optimizer.lr = self.base_lr * self.factor(self.t)

    def state_dict(self) -> dict[str, float]:
        return {"t": self.t, "base_lr": self.base_lr}

    def load_state_dict(self, values: Mapping[str, float]) -> None:
        self.t, self.base_lr = int(values["t"]), float(values["base_lr"])
        self._set()


class StepLR(Schedule):
    """Times ``gamma`` after every ``step_size`` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def factor(self, t: int) -> float:
        return self.gamma ** (t // self.step_size)


class ExponentialLR(Schedule):
    """Times ``gamma`` after every step."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = gamma
        super().__init__(optimizer)

    def factor(self, t: int) -> float:
        return float(self.gamma**t)


class LinearLR(Schedule):
    """From ``start_factor`` to ``end_factor`` in ``total`` steps along a line, then constant."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total: int = 5
    ) -> None:
        self.start_factor, self.end_factor, self.total = start_factor, end_factor, total
        super().__init__(optimizer)

    def factor(self, t: int) -> float:
        return self.start_factor + (self.end_factor - self.start_factor) * min(t, self.total) / self.total


class WarmupCosine(Schedule):
    """Up along a line for ``warmup`` steps (the first at 1 / warmup of the rate), then down half a cosine to
    ``min_factor`` at step ``total``, where it stays."""

    def __init__(self, optimizer: Optimizer, warmup: int, total: int, min_factor: float = 0.0) -> None:
        if not 0 <= warmup < total:
            raise ValueError(f"a warm-up of {warmup} steps of {total}; it takes 0 <= warmup < total")
        self.warmup, self.total, self.min_factor = warmup, total, min_factor
        super().__init__(optimizer)

    def factor(self, t: int) -> float:
        if t < self.warmup:
            return (t + 1) / self.warmup
        done = min(1.0, (t - self.warmup) / (self.total - self.warmup))
        return self.min_factor + (1 - self.min_factor) * (1 + math.cos(math.pi * done)) / 2
