"""Shuffling and batches, the same in every client: for one seed the Python and the C++ library draw the same numbers.

The generator is SplitMix64 (Steele, Lea and Flood, 2014): with all arithmetic modulo 2^64,

    state += 0x9E3779B97F4A7C15
    z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    return z ^ z >> 31

``below(n)`` is the upper half of the 128-bit product of such a number and n. ``permutation(n)`` starts with 0..n-1 and
for i = n-1 down to 1 swaps places i and below(i + 1) (Fisher and Yates).
"""
from __future__ import annotations

from typing import Any, Iterator

import numpy as np

_MASK = (1 << 64) - 1


class Generator:
    """Random numbers on the client, for the order of the data. (Tensors are drawn at the server: see uopd.random.)"""

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def next(self) -> int:
        """The next of 2^64 numbers."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = ((self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A number in 0..n-1. Requires: 0 < n <= 2^64."""
        return (self.next() * n) >> 64

    def permutation(self, n: int) -> np.ndarray[Any, Any]:
        """0..n-1 in random order, i64[n]."""
        order = np.arange(n, dtype=np.int64)
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def batches(self, n: int, size: int) -> Iterator[np.ndarray[Any, Any]]:
        """One epoch: the indices 0..n-1 in random order, in batches of ``size``. What is left over at the end, too few
        for a batch of the same shape (and so the same plan), is left out."""
        if not 0 < size <= n:
            raise ValueError(f"batches of {size} of {n} samples; the size is in 1..{n}")
        order = self.permutation(n)
        for at in range(0, n - size + 1, size):
            yield order[at : at + size]
