"""Module: a function with parameters, made of others."""
from __future__ import annotations

from typing import Any, Iterator, Mapping, Self, Union

import numpy as np

from uopd._base import TensorBase, realize
from uopd._leaves import own_node
from uopd._tensor import Tensor

Value = Union[TensorBase, np.ndarray[Any, Any]]


class Module:
    """Base of all layers and models: set tensors and modules as attributes, and write ``forward``.

    An attribute that is a tensor which requires gradients is a *parameter*, any other tensor a *buffer*, and a module a
    *child*; names that begin with "_" are private and none of these. Lists of modules go into a ModuleList.
    """

    #: Whether in training: what Dropout and BatchNorm do depends on it. Set by ``train`` and ``eval``.
    training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    # ------------------------------------------------------------------ what it is made of

    def named_children(self) -> Iterator[tuple[str, Module]]:
        for name, value in vars(self).items():
            if isinstance(value, Module) and not name.startswith("_"):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Itself (with the name ``prefix``), and all below; a module that is there twice comes once."""
        seen: set[int] = set()
        stack = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield name, module
            children = [(f"{name}.{n}" if name else n, m) for n, m in module.named_children()]
            stack += reversed(children)

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def _named_tensors(self) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor) and not name.startswith("_") and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{prefix}.{name}" if prefix else name, value

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Names ("blocks.0.norm.weight") and parameters, in the order of definition; each tensor once."""
        return ((name, t) for name, t in self._named_tensors() if t.requires_grad)

    def parameters(self) -> list[Tensor]:
        return [t for _, t in self.named_parameters()]

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Tensors that belong to the state without being trained, BatchNorm's running mean for one."""
        return ((name, t) for name, t in self._named_tensors() if not t.requires_grad)

    def buffers(self) -> list[Tensor]:
        return [t for _, t in self.named_buffers()]

    # ------------------------------------------------------------------ state

    def state_dict(self) -> dict[str, Tensor]:
        """All parameters and buffers by name, as they are now: later changes of the model do not show in it."""
        named = dict(self._named_tensors())
        if named:
            realize(*named.values())
        return {name: Tensor._of(t.node, t.device) for name, t in named.items()}

    def load_state_dict(self, values: Mapping[str, Value], strict: bool = True) -> None:
        """Takes over ``values``, cast to the dtypes that are here. Raises ValueError, and changes nothing, where a
        shape is another, or (``strict``) where names are missing or left over."""
        own = dict(self._named_tensors())
        missing, over = [n for n in own if n not in values], [n for n in values if n not in own]
        if strict and (missing or over):
            raise ValueError(f"the state does not fit {type(self).__name__}: missing are {missing}, not known {over}")
        for name, t in own.items():
            if name in values and tuple(values[name].shape) != t.shape:
                raise ValueError(f"{name} is of shape {list(values[name].shape)} in the state, {list(t.shape)} here")
        for name, t in own.items():
            if name not in values:
                continue
            value = values[name]
            given = value if isinstance(value, Tensor) else Tensor(value, device=t.device)
            t.node = own_node(given.cast(t.dtype))
            t.grad = None

    # ------------------------------------------------------------------ modes

    def train(self, mode: bool = True) -> Self:
        """Sets training mode, or evaluation, here and below; returns self."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        return self.train(False)

    def zero_grad(self) -> None:
        for t in self.parameters():
            t.grad = None

    def requires_grad_(self, on: bool = True) -> Self:
        """Sets whether gradients flow to its parameters. Those that are frozen count as buffers; to thaw, set them by
        name."""
        for t in self.parameters():
            t.requires_grad_(on)
        return self

    # ------------------------------------------------------------------ text

    def extra_repr(self) -> str:
        """What stands in the parentheses of ``repr``: the module's settings."""
        return ""

    def __repr__(self) -> str:
        children = [f"({name}): {module!r}" for name, module in self.named_children()]
        if not children:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = ([self.extra_repr()] if self.extra_repr() else []) + children
        return f"{type(self).__name__}(\n  " + "\n".join(lines).replace("\n", "\n  ") + "\n)"


class Sequential(Module):
    """One after the other: ``Sequential(Linear(64, 128), ReLU(), Linear(128, 10))``."""

    def __init__(self, *modules: Module) -> None:
        for i, module in enumerate(modules):
            setattr(self, str(i), module)

    def forward(self, x: Any) -> Any:
        for _, module in self.named_children():
            x = module(x)
        return x

    def __len__(self) -> int:
        return len(list(self.named_children()))

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def __getitem__(self, index: int) -> Module:
        return list(self)[index]


class ModuleList(Module):
    """A list whose modules are children; it has no forward of its own."""

    def __init__(self, modules: Any = ()) -> None:
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> Self:
        if not isinstance(module, Module):
            raise TypeError(f"a ModuleList holds modules, not {type(module).__name__}")
        setattr(self, str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(list(self.named_children()))

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def __getitem__(self, index: int) -> Module:
        return list(self)[index]
