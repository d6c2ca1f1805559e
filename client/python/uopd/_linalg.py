"""Products of tensors: matmul, einsum and their relatives.

Each is a broadcast multiplication followed by one sum over trailing axes: the compiler makes one kernel of it, and
nothing of the size of the product is written. Operands of several dtypes meet in the one ``promote`` names (bool counts
as i32); sums of halves accumulate in f32.
"""
from __future__ import annotations

import string
from typing import Self, Sequence, TypeVar

from uopd._base import TensorBase
from uopd._build import broadcast_shapes, broadcast_to, cast, normal_axis, permute, reshape
from uopd._dtype import arithmetic_dtype, promote
from uopd._elementwise import Operand
from uopd._graph import Shape, UOp, node
from uopd._indexing import IndexingOps

T = TypeVar("T", bound="LinalgOps")

#: An axis of an operand of einsum: a letter, or "…" and its place counted from the last of the axes "..." stands for.
Label = str


class LinalgOps(IndexingOps):
    """The products among Tensor's methods."""

    __slots__ = ()

    def __matmul__(self, other: Operand) -> Self:
        return self.matmul(other)

    def __rmatmul__(self, other: Operand) -> Self:
        return self._operand(other, "matmul").matmul(self)

    def _operand(self, other: Operand, what: str) -> Self:
        if isinstance(other, (int, float)):
            raise ValueError(f"{what} of {self.node.type} and the number {other}; multiply by a number with *")
        return self._wrap(other)  # type: ignore[arg-type]

    def matmul(self, other: Operand) -> Self:
        """(…,n,k) @ (…,k,m) -> (…,n,m); leading axes broadcast. A vector on the left is one row, on the right one
        column, and that axis is dropped from the result. Raises ValueError where the shapes do not fit."""
        right = self._operand(other, "matmul")
        return self._make(_matmul(self.node, right.node), right)

    def bmm(self, other: Operand) -> Self:
        """(b,n,k) @ (b,k,m) -> (b,n,m), without broadcasting."""
        right = self._operand(other, "bmm")
        if self.ndim != 3 or right.ndim != 3 or self.shape[0] != right.shape[0]:
            raise ValueError(f"bmm of {self.node.type} and {right.node.type}: both need three axes, the first of one "
                             "size; matmul broadcasts")  # fmt: skip
        return self.matmul(right)

    def dot(self, other: Operand) -> Self:
        """The sum of products over the last axis of this tensor and the last but one of ``other`` (its only one, if it
        has one): the inner product of vectors, the product of matrices. Without axes: the product, elementwise. Other
        leading axes are combined, each of one with each of the other (matmul pairs them)."""
        right = self._wrap(other)  # type: ignore[arg-type]
        if self.ndim == 0 or right.ndim == 0:
            return self * right
        return self.tensordot(right, ([-1], [-2 if right.ndim > 1 else -1]))

    def vecdot(self, other: Operand, axis: int = -1) -> Self:
        """The inner products of the vectors along ``axis``; the shapes broadcast."""
        right = self._wrap(other)  # type: ignore[arg-type]
        if not self.shape or not right.shape:
            raise ValueError(f"vecdot of {self.node.type} and {right.node.type}: both need an axis")
        pairs = product(self.node, right.node)
        at = normal_axis(axis, len(pairs.shape))
        back = at - len(pairs.shape)
        sizes = [t.shape[back] if t.ndim >= -back else 1 for t in (self, right)]
        if sizes[0] != sizes[1]:
            raise ValueError(f"vecdot of {self.node.type} and {right.node.type}: axis {axis} must have one size in both")
        order = [i for i in range(len(pairs.shape)) if i != at] + [at]
        return self._make(_sum_last(permute(pairs, order), 1), right)

    def outer(self, other: Operand) -> Self:
        """Each element of this tensor times each of ``other``, both flattened: (n,), (m,) -> (n,m)."""
        right = self._wrap(other)  # type: ignore[arg-type]
        a, b = self.node, right.node
        return self._make(product(reshape(a, (a.numel, 1)), reshape(b, (1, b.numel))), right)

    def tensordot(self, other: Operand, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = 2) -> Self:
        """The sum of products over pairs of axes: of the last ``axes`` of this tensor with the first of ``other``, or of
        the axes listed for each. The result has the other axes of this one, then those of ``other``."""
        right = self._operand(other, "tensordot")
        if isinstance(axes, int):
            if not 0 <= axes <= min(self.ndim, right.ndim):
                raise ValueError(f"tensordot over {axes} axes of {self.node.type} and {right.node.type}")
            mine, others = list(range(self.ndim - axes, self.ndim)), list(range(axes))
        else:
            mine, others = (
                [normal_axis(i, t.ndim) for i in ([one] if isinstance(one, int) else one)]
                for one, t in zip(axes, (self, right))
            )
        if len(mine) != len(others) or len(set(mine)) != len(mine) or len(set(others)) != len(others):
            raise ValueError(f"tensordot pairs the axes of the two operands, each once; got {mine} and {others}")
        for i, j in zip(mine, others):
            if self.shape[i] != right.shape[j]:
                raise ValueError(f"tensordot: axis {i} of {self.node.type} is {self.shape[i]}, but axis {j} of "
                                 f"{right.node.type} is {right.shape[j]}")  # fmt: skip
        a_labels = [f"a{i}" for i in range(self.ndim)]
        b_labels = [f"b{i}" for i in range(right.ndim)]
        for i, j in zip(mine, others):
            b_labels[j] = a_labels[i]
        summed = [a_labels[i] for i in mine]
        kept = [x for x in a_labels + b_labels if x not in summed]
        return self._make(_contract(self.node, a_labels, right.node, b_labels, kept, summed), right)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The sum of the diagonal of two axes (``offset`` above the main one), which are dropped."""
        return self.diagonal(offset, axis1, axis2).sum(axis=-1)


# ---------------------------------------------------------------------- nodes


def product(a: UOp, b: UOp) -> UOp:
    """a * b, broadcast, in the dtype they meet in."""
    dtype = arithmetic_dtype(promote(a.dtype, b.dtype))
    shape = broadcast_shapes(a.shape, b.shape)
    return node("MUL", (broadcast_to(cast(a, dtype), shape), broadcast_to(cast(b, dtype), shape)))


def _sum_last(u: UOp, axes: int) -> UOp:
    """The sum over the last axes, in the dtype of ``u`` (bool: i32)."""
    return u if axes == 0 else node("REDUCE", (cast(u, arithmetic_dtype(u.dtype)),), reduce="ADD", value=axes)


def _matmul(a: UOp, b: UOp) -> UOp:
    if not a.shape or not b.shape:
        raise ValueError(f"matmul of {a.type} and {b.type}: both need an axis; multiply by a scalar with *")
    if len(a.shape) == 1:
        return _without_axis(_matmul(reshape(a, (1,) + a.shape), b), -1 if len(b.shape) == 1 else -2)
    if len(b.shape) == 1:
        return _without_axis(_matmul(a, reshape(b, b.shape + (1,))), -1)
    n, k = a.shape[-2:]
    m = b.shape[-1]
    if b.shape[-2] != k:
        raise ValueError(f"matmul of {a.type} and {b.type}: the last axis of the first is {k}, the last but one of the "
                         f"second {b.shape[-2]}")  # fmt: skip
    try:
        broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        raise ValueError(f"matmul of {a.type} and {b.type}: of the batch axes, {error}") from None
    rank = len(b.shape)
    transposed = permute(b, [*range(rank - 2), rank - 1, rank - 2])
    return _sum_last(product(reshape(a, a.shape[:-2] + (n, 1, k)), reshape(transposed, b.shape[:-2] + (1, m, k))), 1)


def _without_axis(u: UOp, axis: int) -> UOp:
    axis = normal_axis(axis, len(u.shape))
    return reshape(u, u.shape[:axis] + u.shape[axis + 1 :])


def _aligned(u: UOp, labels: Sequence[Label], order: Sequence[Label]) -> UOp:
    """``u``, whose axes are ``labels``, with one axis for each of ``order``: of size 1 where it has none."""
    there = [x for x in order if x in labels]
    sizes = dict(zip(labels, u.shape))
    return reshape(permute(u, [labels.index(x) for x in there]), [sizes.get(x, 1) for x in order])


def _contract(
    a: UOp, a_labels: Sequence[Label], b: UOp, b_labels: Sequence[Label], kept: Sequence[Label], summed: Sequence[Label]
) -> UOp:
    """The product of two operands with labelled axes, summed over ``summed``; the result has the axes ``kept``."""
    order = [*kept, *summed]
    return _sum_last(product(_aligned(a, a_labels, order), _aligned(b, b_labels, order)), len(summed))


# ---------------------------------------------------------------------- einsum


def einsum(equation: str, *operands: T) -> T:
    """Sums of products in Einstein's notation: ``einsum("bij,bjk->bik", a, b)``.

    Each operand's axes have labels, letters of "a-zA-Z"; "..." stands for any further axes, which broadcast. A label that
    is not in the output is summed over; one that an operand has twice takes that operand's diagonal. Without "->" the
    output is "..." and the labels that occur once, in alphabetical order. Axes of size 1 broadcast. The operands meet in
    one dtype and are contracted from left to right. Raises ValueError, which names the label, where shapes do not fit.
    """
    if not operands:
        raise ValueError(f"einsum {equation!r} has no operands")
    for x in operands:
        if not isinstance(x, TensorBase):
            raise TypeError(f"einsum takes tensors after the equation, not {type(x).__name__}")
    labels, output = _parse(equation, [x.shape for x in operands])
    dtype = operands[0].dtype
    for x in operands[1:]:
        dtype = promote(dtype, x.dtype)
    nodes = []
    for i, x in enumerate(operands):
        x = x.cast(dtype)
        for y in dict.fromkeys(labels[i]):
            while labels[i].count(y) > 1:
                first = labels[i].index(y)
                second = labels[i].index(y, first + 1)
                x = x.diagonal(0, first, second)
                labels[i] = [z for k, z in enumerate(labels[i]) if k not in (first, second)] + [y]
        # What no other operand and no output has is summed over first: less to multiply.
        elsewhere = {*output, *(y for j, other in enumerate(labels) if j != i for y in other)}
        kept = [y for y in labels[i] if y in elsewhere]
        own = [y for y in labels[i] if y not in elsewhere]
        nodes.append(_sum_last(_aligned(x.node, labels[i], [*kept, *own]), len(own)))
        labels[i] = kept
    result, mine = nodes[0], labels[0]
    for i in range(1, len(nodes)):
        later = {*output, *(y for other in labels[i + 1 :] for y in other)}
        union = list(dict.fromkeys([*mine, *labels[i]]))
        kept = [y for y in union if y in later]
        if i == len(nodes) - 1:
            kept = [y for y in output if y in kept]
        result = _contract(result, mine, nodes[i], labels[i], kept, [y for y in union if y not in later])
        mine = kept
    return operands[0]._make(_aligned(result, mine, output), *operands[1:])


def _parse(equation: str, shapes: Sequence[Shape]) -> tuple[list[list[Label]], list[Label]]:
    """The labels of each operand's axes, and of the output's. Raises ValueError where equation and shapes disagree."""
    inputs, arrow, right = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum {equation!r} is of {len(terms)} operands; got {len(shapes)}")
    labels = [_term(term, shape, f"operand {i} of einsum {equation!r}") for i, (term, shape) in
              enumerate(zip(terms, shapes))]  # fmt: skip
    sizes: dict[Label, tuple[int, int]] = {}
    for i, (own, shape) in enumerate(zip(labels, shapes)):
        for label, n in zip(own, shape):
            name = "an axis of '...'" if label[0] == "…" else f"label {label!r}"
            mine = shape[own.index(label)]
            if mine != n:
                raise ValueError(f"einsum {equation!r}: {name} is both {mine} and {n} in operand {i} ({list(shape)})")
            known, where = sizes.setdefault(label, (n, i))
            if known != n and 1 not in (known, n):
                raise ValueError(f"einsum {equation!r}: {name} is {known} in operand {where} ({list(shapes[where])}) and "
                                 f"{n} in operand {i} ({list(shape)})")  # fmt: skip
            if known == 1:
                sizes[label] = (n, i)
    dots = sorted((x for x in sizes if x[0] == "…"), key=lambda x: -int(x[1:]))
    if not arrow:
        once = sorted(x for x in sizes if x[0] != "…" and sum(own.count(x) for own in labels) == 1)
        return labels, dots + once
    output = _term(right, (), f"the output of einsum {equation!r}", dots)
    for label in output:
        if label not in sizes:
            raise ValueError(f"einsum {equation!r}: label {label!r} of the output is in no operand")
        if output.count(label) > 1:
            raise ValueError(f"einsum {equation!r}: the output has label {label!r} twice")
    return labels, output


def _term(term: str, shape: Shape, what: str, dots: Sequence[Label] | None = None) -> list[Label]:
    """The labels of one term of an equation; "..." gives ``dots``, or as many as the shape has axes left."""
    before, ellipsis, after = term.partition("...")
    for c in before + after:
        if c not in string.ascii_letters:
            raise ValueError(f"{what}: {c!r} is no label; labels are letters, and '...' stands once for all other axes")
    named = len(before) + len(after)
    if dots is None:
        if named > len(shape) or (not ellipsis and named < len(shape)):
            raise ValueError(f"{what} has {len(shape)} axes ({list(shape)}), but {term!r} names {named}")
        dots = [f"…{i}" for i in reversed(range(len(shape) - named))]
    return [*before, *(dots if ellipsis else ()), *after]


def matmul(a: T, b: T) -> T:
    """``a @ b``: see Tensor.matmul."""
    return a.matmul(b)


def bmm(a: T, b: T) -> T:
    """Products of two stacks of matrices: see Tensor.bmm."""
    return a.bmm(b)


def dot(a: T, b: T) -> T:
    """See Tensor.dot."""
    return a.dot(b)


def vecdot(a: T, b: T, axis: int = -1) -> T:
    """See Tensor.vecdot."""
    return a.vecdot(b, axis)


def outer(a: T, b: T) -> T:
    """See Tensor.outer."""
    return a.outer(b)


def tensordot(a: T, b: T, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = 2) -> T:
    """See Tensor.tensordot."""
    return a.tensordot(b, axes)


def trace(x: T, offset: int = 0, axis1: int = 0, axis2: int = 1) -> T:
    """See Tensor.trace."""
    return x.trace(offset, axis1, axis2)
