"""The order of the data: portable, so these values hold in every client."""
import numpy as np
import pytest

from uopd.data import Generator


def test_splitmix64():
    # The first numbers of seed 1234567, as published with the generator.
    g = Generator(1234567)
    assert [g.next() for _ in range(5)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    assert Generator(-1).next() == Generator(2**64 - 1).next()


def test_below_and_permutation():
    g = Generator(7)
    drawn = np.array([g.below(10) for _ in range(2000)])
    assert drawn.min() == 0 and drawn.max() == 9 and np.bincount(drawn).min() > 150
    assert Generator(7).permutation(8).tolist() == [7, 4, 6, 1, 2, 5, 0, 3]
    assert sorted(Generator(7).permutation(1000)) == list(range(1000))
    assert Generator(1).permutation(0).tolist() == [] and Generator(1).permutation(1).tolist() == [0]


def test_batches_cover_an_epoch_without_the_rest():
    g = Generator(3)
    first, second = (list(g.batches(10, 3)) for _ in range(2))
    assert [b.shape for b in first] == [(3,)] * 3
    assert len(set(np.concatenate(first))) == 9
    assert not np.array_equal(np.concatenate(first), np.concatenate(second))
    with pytest.raises(ValueError, match="batches"):
        next(g.batches(3, 4))
