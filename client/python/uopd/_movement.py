"""Movement: the same elements under another shape or order; no kernel of its own, but an index map within the one that
reads it.

What the result would share with the tensor in NumPy it does not share here: tensors change by assignment to themselves
only.
"""
from __future__ import annotations

from typing import Any, Iterator, Self, Sequence

from uopd import _dtype
from uopd._activation import ActivationOps
from uopd._build import Number, broadcast_shapes, broadcast_to, constant, full, normal_axes, normal_axis, permute, prod
from uopd._build import reshape
from uopd._graph import UOp, node
from uopd._views import Pairs, flip, index_along, index_dtype, join, pad, pad_axis, repeated, shrink, shrink_axis
from uopd._views import windows_of


def sizes(arguments: Sequence[Any]) -> list[int]:
    """The numbers of f(2, 3), f((2, 3)) or f([2, 3])."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        arguments = arguments[0]
    return [int(n.__index__()) for n in arguments]


def pairs_of(padding: int | Sequence[Any], rank: int) -> list[tuple[int, int]]:
    """NumPy's forms of a padding: an int, one (before, after), or one for each axis; None is none."""
    if isinstance(padding, int):
        return [(padding, padding)] * rank
    if len(padding) == 2 and all(isinstance(p, int) for p in padding):
        return [(padding[0], padding[1])] * rank
    if len(padding) != rank:
        raise ValueError(f"a tensor of {rank} axes takes an int, (before, after), or {rank} such pairs as padding; got "
                         f"{padding!r}")  # fmt: skip
    return [(0, 0) if p is None else (p, p) if isinstance(p, int) else (int(p[0]), int(p[1])) for p in padding]


_MODES = {"edge": "replicate", "wrap": "circular"}


def _padded_by_mode(u: UOp, axis: int, before: int, after: int, mode: str) -> UOp:
    """One axis padded with copies of its own elements."""
    n = u.shape[axis]
    most = {"reflect": n - 1, "circular": n, "symmetric": n, "replicate": max(before, after) if n else 0}[mode]
    if max(before, after) > most:
        raise ValueError(f"padding {(before, after)} by {mode} of axis {axis} of {list(u.shape)}: at most {max(most, 0)} "
                         "on a side; pad in several steps")  # fmt: skip

    def part(begin: int, end: int) -> UOp:
        return shrink_axis(u, axis, begin, end)

    if mode == "circular":
        return join([part(n - before, n), u, part(0, after)], axis)
    if mode == "replicate":
        shape = list(u.shape)
        ends = []
        for count, edge in ((before, part(0, min(n, 1))), (after, part(max(n - 1, 0), n))):
            shape[axis] = count
            ends.append(broadcast_to(edge, tuple(shape)) if count else edge)
        return join([e for e in (ends[0] if before else None, u, ends[1] if after else None) if e is not None], axis)
    skip = 1 if mode == "reflect" else 0
    left, right = part(skip, skip + before), part(n - skip - after, n - skip)
    return join([flip(left, [axis]), u, flip(right, [axis])], axis)


class MovementOps(ActivationOps):
    """The movement methods of Tensor."""

    __slots__ = ()

    # ------------------------------------------------------------------ shape

    def reshape(self, *shape: int | Sequence[int]) -> Self:
        """The same elements in row-major order; one size may be -1: what is left."""
        return self._make(reshape(self.node, self._completed(sizes(shape))))

    view = reshape

    def _completed(self, shape: list[int]) -> list[int]:
        """``shape`` with the size for its -1."""
        if -1 not in shape:
            return shape
        rest = -prod(shape)
        if shape.count(-1) > 1 or rest <= 0 or self.numel() % rest:
            raise ValueError(f"{list(self.shape)} does not become {shape}: one size may be -1, and the others must "
                             f"divide its {self.numel()} elements")  # fmt: skip
        return [self.numel() // rest if n == -1 else n for n in shape]

    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> Self:
        """Axes start..end (inclusive) made into one; a tensor without axes gets one."""
        if not self.shape:
            return self.reshape(1)
        start, end = normal_axis(start_axis, self.ndim), normal_axis(end_axis, self.ndim)
        if start > end:
            raise ValueError(f"flatten from axis {start} to axis {end}: the first comes first")
        return self.reshape(*self.shape[:start], prod(self.shape[start : end + 1]), *self.shape[end + 1 :])

    def ravel(self) -> Self:
        return self.reshape(self.numel())

    def unflatten(self, axis: int, shape: Sequence[int]) -> Self:
        """One axis made into several; one size may be -1."""
        axis = normal_axis(axis, self.ndim)
        parts = list(shape)
        if parts.count(-1) == 1 and -prod(parts) > 0 and self.shape[axis] % -prod(parts) == 0:
            parts[parts.index(-1)] = self.shape[axis] // -prod(parts)
        if prod(parts) != self.shape[axis] or -1 in parts:
            raise ValueError(f"axis {axis} of {list(self.shape)} does not become {list(shape)}")
        return self.reshape(*self.shape[:axis], *parts, *self.shape[axis + 1 :])

    def unsqueeze(self, axis: int) -> Self:
        """A new axis of size 1 before ``axis`` (of the result)."""
        axis = normal_axis(axis, self.ndim + 1)
        return self.reshape(*self.shape[:axis], 1, *self.shape[axis:])

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """Without its axes of size 1, or without those of ``axis`` that are."""
        named = normal_axes(axis, self.ndim)
        return self.reshape([n for a, n in enumerate(self.shape) if n != 1 or a not in named])

    def expand(self, *shape: int | Sequence[int]) -> Self:
        """Axes of size 1 repeated and axes added in front, to ``shape``; -1 keeps a size."""
        to = sizes(shape)
        front = len(to) - self.ndim
        whole = tuple(self.shape[i - front] if n == -1 and i >= front else n for i, n in enumerate(to))
        if front < 0 or any(n < 0 for n in whole) or broadcast_shapes(self.shape, whole) != whole:
            raise ValueError(f"{list(self.shape)} does not expand to {to}: an axis of size 1 may be repeated, and axes "
                             "may be added in front")  # fmt: skip
        return self._make(broadcast_to(self.node, whole))

    def broadcast_to(self, shape: Sequence[int]) -> Self:
        return self.expand(*shape)

    # ------------------------------------------------------------------ order

    def permute(self, *order: int | Sequence[int]) -> Self:
        """Axis i of the result is axis order[i]."""
        axes = [normal_axis(a, self.ndim) for a in sizes(order)]
        return self._make(permute(self.node, axes))

    def transpose(self, axis_a: int = -2, axis_b: int = -1) -> Self:
        """Two axes swapped; by default the last two."""
        order = list(range(self.ndim))
        a, b = normal_axis(axis_a, self.ndim), normal_axis(axis_b, self.ndim)
        order[a], order[b] = b, a
        return self.permute(order)

    swapaxes = transpose

    @property
    def T(self) -> Self:  # noqa: N802
        """All axes reversed."""
        return self.permute(list(range(self.ndim))[::-1])

    @property
    def mT(self) -> Self:  # noqa: N802
        """The last two axes swapped."""
        return self.transpose()

    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Self:
        """Axes ``source`` put at ``destination``; the others keep their order."""
        sources, places = ([normal_axis(a, self.ndim) for a in ([axes] if isinstance(axes, int) else axes)]
                           for axes in (source, destination))  # fmt: skip
        if len(sources) != len(places) or len(set(sources)) < len(sources) or len(set(places)) < len(places):
            raise ValueError(f"moveaxis takes as many axes as places, each once; got {source} and {destination}")
        order = [a for a in range(self.ndim) if a not in sources]
        for place, a in sorted(zip(places, sources)):
            order.insert(place, a)
        return self.permute(order)

    def flip(self, axis: int | Sequence[int] | None = None) -> Self:
        """Reversed along ``axis``; None: along all."""
        return self._make(flip(self.node, normal_axes(axis, self.ndim)))

    def roll(self, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Self:
        """Element i comes to i + shift, round the end; without ``axis``, of all elements in their order."""
        if axis is None:
            return self.ravel().roll(shift, 0).reshape(self.shape)
        axes = [axis] if isinstance(axis, int) else list(axis)
        shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
        if len(shifts) != len(axes):
            raise ValueError(f"roll by {shift} along {axis}: one shift for each axis")
        u = self.node
        for by, a in zip(shifts, (normal_axis(a, self.ndim) for a in axes)):
            n = u.shape[a]
            at = -by % n if n else 0  # the first element of the result
            u = join([shrink_axis(u, a, at, n), shrink_axis(u, a, 0, at)], a)
        return self._make(u)

    # ------------------------------------------------------------------ extent

    def shrink(self, ranges: Pairs) -> Self:
        """begin <= i < end of each axis; None: all of it."""
        if len(ranges) != self.ndim:
            raise ValueError(f"shrink of {self.ndim} axes takes {self.ndim} pairs (begin, end); got {ranges!r}")
        return self._make(shrink(self.node, [(0, n) if r is None else r for r, n in zip(ranges, self.shape)]))

    def pad(self, padding: int | Sequence[Any], mode: str = "constant", value: Number = 0) -> Self:
        """Elements added before and after axes: ``padding`` is an int, (before, after), or one of these for each axis;
        a negative one removes. ``mode``: "constant" (``value``), "reflect" (without the edge), "symmetric" (with it),
        "replicate" or "edge", "circular" or "wrap"."""
        pairs = pairs_of(padding, self.ndim)
        mode = _MODES.get(mode, mode)
        if mode not in ("constant", "reflect", "symmetric", "replicate", "circular"):
            raise ValueError(f"no padding mode {mode!r}; take constant, reflect, symmetric, replicate or circular")
        u = self.node
        for axis, ((before, after), n) in enumerate(zip(pairs, u.shape)):
            if -min(before, 0) - min(after, 0) > n:
                raise ValueError(f"padding {pairs} removes more than all of axis {axis} of {list(u.shape)}")
        u = shrink(u, [(-min(b, 0), n + min(a, 0)) for (b, a), n in zip(pairs, u.shape)])
        pairs = [(max(b, 0), max(a, 0)) for b, a in pairs]
        if mode != "constant":
            for axis, (before, after) in enumerate(pairs):
                u = _padded_by_mode(u, axis, before, after, mode) if before or after else u
            return self._make(u)
        filler = constant(value, u.dtype)
        padded = pad(u, pairs)
        if padded is not u and filler.bits != 0:
            inside = pad(full(True, u.shape, _dtype.bool_), pairs)
            padded = node("WHERE", (inside, padded, broadcast_to(filler, padded.shape)))
        return self._make(padded)

    # ------------------------------------------------------------------ parts

    def split(self, size: int | Sequence[int], axis: int = 0) -> list[Self]:
        """Parts of ``size`` along ``axis`` (the last may be smaller), or of the sizes given, which add up to it."""
        axis = normal_axis(axis, self.ndim)
        n = self.shape[axis]
        if isinstance(size, int):
            if size <= 0:
                raise ValueError(f"split into parts of {size}; it takes a size above 0")
            parts = [min(size, n - at) for at in range(0, n, size)] or [0]
        else:
            parts = list(size)
        if sum(parts) != n or min(parts, default=0) < 0:
            raise ValueError(f"split of axis {axis} of {list(self.shape)} into {size}: the sizes add up to {n}")
        ends = [sum(parts[: i + 1]) for i in range(len(parts))]
        return [self._make(shrink_axis(self.node, axis, end - part, end)) for part, end in zip(parts, ends)]

    def chunk(self, chunks: int, axis: int = 0) -> list[Self]:
        """At most ``chunks`` parts of one size along ``axis``, the last of what is left."""
        if chunks <= 0:
            raise ValueError(f"chunk into {chunks} parts; it takes a number above 0")
        n = self.shape[normal_axis(axis, self.ndim)]
        return self.split(max(1, -(-n // chunks)), axis)

    def unbind(self, axis: int = 0) -> list[Self]:
        """One tensor for each index of ``axis``, without that axis."""
        axis = normal_axis(axis, self.ndim)
        rest = (*self.shape[:axis], *self.shape[axis + 1 :])
        return [self._make(reshape(shrink_axis(self.node, axis, i, i + 1), rest)) for i in range(self.shape[axis])]

    def __iter__(self) -> Iterator[Self]:
        """Over the first axis."""
        if not self.shape:
            raise TypeError("a tensor without axes has no parts to go over")
        return iter(self.unbind())

    # ------------------------------------------------------------------ repetition

    def repeat(self, *repeats: int | Sequence[int]) -> Self:
        """Repeated as a whole, repeats[i] times along axis i (counted from the last, new axes come in front)."""
        times = sizes(repeats)
        if len(times) < self.ndim or min(times, default=0) < 0:
            raise ValueError(f"repeat of {list(self.shape)} takes a number for each axis, 0 or more; got {times}")
        return self.tile(times)

    def tile(self, *repeats: int | Sequence[int]) -> Self:
        """The same, but fewer numbers than axes are of the last ones."""
        times = sizes(repeats)
        times = [1] * (self.ndim - len(times)) + times
        u = reshape(self.node, [1] * (len(times) - self.ndim) + list(self.shape))
        for axis, n in enumerate(times):
            u = u if n == 1 else repeated(u, axis, n)
        return self._make(u)

    def repeat_interleave(self, repeats: int, axis: int | None = None) -> Self:
        """Each element ``repeats`` times in place; without ``axis``, of the flattened tensor."""
        if axis is None:
            return self.ravel().repeat_interleave(repeats, 0)
        if repeats < 0:
            raise ValueError(f"repeat_interleave takes a number of 0 or more; got {repeats}")
        axis = normal_axis(axis, self.ndim)
        front, n, back = self.shape[:axis], self.shape[axis], self.shape[axis + 1 :]
        each = broadcast_to(reshape(self.node, (*front, n, 1, *back)), (*front, n, repeats, *back))
        return self._make(reshape(each, (*front, n * repeats, *back)))

    # ------------------------------------------------------------------ matrices

    def _below(self, diagonal: int) -> UOp:
        """Where column <= row + diagonal, of the last two axes."""
        if self.ndim < 2:
            raise ValueError(f"a triangle is of a matrix, but {self.node.type} has {self.ndim} axes")
        matrix = self.shape[-2:]
        dtype = index_dtype(max(matrix) + abs(diagonal))
        rows, columns = (index_along(matrix, a, dtype) for a in (0, 1))
        last = node("ADD", (rows, full(diagonal, rows.shape, dtype)))
        below = node("CMPLE", (broadcast_to(columns, matrix), broadcast_to(last, matrix)))
        return broadcast_to(below, self.shape)

    def tril(self, diagonal: int = 0) -> Self:
        """The matrix of the last two axes, with 0 above its ``diagonal``-th diagonal."""
        zero = full(0, self.shape, self.dtype)
        return self._make(node("WHERE", (self._below(diagonal), self.node, zero)))

    def triu(self, diagonal: int = 0) -> Self:
        """The matrix of the last two axes, with 0 below its ``diagonal``-th diagonal."""
        zero = full(0, self.shape, self.dtype)
        return self._make(node("WHERE", (self._below(diagonal - 1), zero, self.node)))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The diagonal ``offset`` to the right of the main one, of the matrix of two axes; it becomes the last axis."""
        a, b = normal_axis(axis1, self.ndim), normal_axis(axis2, self.ndim)
        if a == b:
            raise ValueError(f"a diagonal is of two axes; got {axis1} twice")
        rest = [i for i in range(self.ndim) if i not in (a, b)]
        u = permute(self.node, [*rest, a, b])
        batch, (rows, columns) = u.shape[:-2], u.shape[-2:]
        top, left = max(-offset, 0), max(offset, 0)
        n = max(0, min(rows - top, columns - left))
        if n == 0:
            return self._make(reshape(shrink(u, [(0, k) for k in batch] + [(0, 0), (0, 0)]), (*batch, 0)))
        u = shrink(u, [(0, k) for k in batch] + [(top, top + n), (left, left + n)])
        # Element i is n + 1 after the one before: the first column of rows of n + 1.
        flat = pad_axis(reshape(u, (*batch, n * n)), len(batch), 0, n)
        column = shrink_axis(reshape(flat, (*batch, n, n + 1)), len(batch) + 1, 0, 1)
        return self._make(reshape(column, (*batch, n)))

    def diag(self, diagonal: int = 0) -> Self:
        """Of a vector: the matrix with it on that diagonal, 0 elsewhere; of a matrix: that diagonal."""
        if self.ndim == 2:
            return self.diagonal(diagonal)
        if self.ndim != 1:
            raise ValueError(f"diag is of a vector or a matrix, not of {self.node.type}; use diagonal")
        n = self.shape[0]
        rows = pad_axis(reshape(self.node, (n, 1)), 1, 0, n)
        square = reshape(shrink_axis(reshape(rows, (n * (n + 1),)), 0, 0, n * n), (n, n))
        top, left = max(-diagonal, 0), max(diagonal, 0)
        return self._make(pad(square, [(top, left), (left, top)]))

    # ------------------------------------------------------------------ windows

    def windows(
        self, kernel: int | Sequence[int], stride: int | Sequence[int] = 1, dilation: int | Sequence[int] = 1
    ) -> Self:
        """The windows that slide over the last axes, as many as ``kernel`` has numbers: (…, out_1..out_n, k_1..k_n),
        with out = (size - dilation * (k - 1) - 1) // stride + 1. Index maps only: what im2col would copy."""
        k = [kernel] if isinstance(kernel, int) else list(kernel)
        s = [stride] * len(k) if isinstance(stride, int) else list(stride)
        d = [dilation] * len(k) if isinstance(dilation, int) else list(dilation)
        if not len(k) == len(s) == len(d) <= self.ndim or min([*k, *s, *d], default=1) < 1:
            raise ValueError(f"windows over the last {len(k)} axes of {list(self.shape)}: kernel {k}, stride {s} and "
                             f"dilation {d} are of one length, each number 1 or more")  # fmt: skip
        for n, size, by in zip(self.shape[self.ndim - len(k) :], k, d):
            if by * (size - 1) >= n:
                raise ValueError(f"a window of {k} with dilation {d} is larger than {list(self.shape)}; pad it")
        return self._make(windows_of(self.node, k, s, d))

    def unfold(self, axis: int, size: int, step: int) -> Self:
        """The windows of ``size`` along one axis, every ``step``; within a window is the last axis."""
        axis = normal_axis(axis, self.ndim)
        return self.moveaxis(axis, -1).windows(size, step).moveaxis(-2, axis)
