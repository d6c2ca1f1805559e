"""x[…] and x[…] = v against NumPy: random keys, many in one plan, so that they cost few compilations; and the cases
that have to be told one by one."""
import random

import numpy as np
import pytest
import uopd

SEED = 20240131


# ---------------------------------------------------------------------- random keys


def random_slice(rng: random.Random, n: int) -> slice:
    def end() -> int | None:
        return rng.choice([None, None, rng.randint(-n - 2, n + 2)])

    return slice(end(), end(), rng.choice([None, None, 1, 2, 3, -1, -2, -3]))


def random_key(rng: random.Random, shape: tuple[int, ...], arrays: bool) -> tuple:
    """A key for a tensor of ``shape``; with ``arrays`` some parts are index arrays that broadcast together."""
    index_shape = rng.choice([(), (2,), (3,), (2, 3), (1, 3), (0,)])
    parts: list = []
    used = rng.randint(0, len(shape))
    ellipsis_at = rng.randint(0, used) if rng.random() < 0.5 else None
    axes = list(range(used))
    if ellipsis_at is not None:  # what comes after it counts from the last axis
        axes = axes[:ellipsis_at] + list(range(len(shape) - used + ellipsis_at, len(shape)))
    for i, axis in enumerate(axes):
        if i == ellipsis_at:
            parts.append(Ellipsis)
        if rng.random() < 0.15:
            parts.append(None)
        n = shape[axis]
        kind = rng.random()
        if arrays and kind < 0.5 and n > 0:
            own = tuple(1 if rng.random() < 0.2 else m for m in index_shape)[rng.randint(0, 1) if index_shape else 0 :]
            parts.append(np.array([rng.randint(-n, n - 1) for _ in range(int(np.prod(own)))], np.int64).reshape(own))
        elif kind < 0.65 and n > 0:
            parts.append(rng.randint(-n, n - 1))
        else:
            parts.append(random_slice(rng, n))
    if ellipsis_at == used:
        parts.append(Ellipsis)
    return tuple(parts)


def as_sent(rng: random.Random, key: tuple) -> tuple:
    """The key for uopd: index arrays are sent as arrays, lists, or tensors of some integer dtype."""
    sent: list = []
    for k in key:
        if not isinstance(k, np.ndarray):
            sent.append(k)
        elif rng.random() < 0.3:
            sent.append(k)
        elif rng.random() < 0.3 and k.ndim > 0:
            sent.append(k.tolist())
        else:
            dtypes = [np.int64, np.int32, np.int8] + ([np.uint8] if k.size == 0 or k.min() >= 0 else [])
            sent.append(uopd.Tensor(k.astype(rng.choice(dtypes))))
    return tuple(sent)


def check_all(pairs: list[tuple[uopd.Tensor, np.ndarray, object]]) -> None:
    """Realizes all tensors in one plan, as one vector: a kernel an expression would take 60 ms each to compile."""
    for got, want, key in pairs:
        assert got.shape == want.shape, f"{key}: shape {got.shape}, not {want.shape}"
    flat = [got.reshape(-1 if got.numel() else 0) for got, _, _ in pairs]
    values = uopd.cat(flat).numpy()
    at = 0
    for got, want, key in pairs:
        part = values[at : at + want.size].reshape(want.shape)
        at += want.size
        np.testing.assert_array_equal(part, want, err_msg=str(key))


@pytest.mark.parametrize("arrays", [False, True], ids=["basic", "arrays"])
def test_getitem_is_numpys(arrays):
    rng = random.Random(SEED + arrays)
    pairs = []
    for _ in range(200):
        shape = rng.choice([(5,), (4, 3), (3, 4, 2), (2, 3, 4, 2), (1, 5), (3, 1, 4), (0, 3)])
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1
        key = random_key(rng, shape, arrays)
        try:
            want = x[key]
        except IndexError:  # index arrays that do not broadcast
            continue
        pairs.append((uopd.Tensor(x)[as_sent(rng, key)], want, (shape, key)))
    assert len(pairs) > 150
    check_all(pairs)


@pytest.mark.parametrize("arrays", [False, True], ids=["basic", "arrays"])
def test_setitem_is_numpys(arrays):
    rng = random.Random(SEED + 2 + arrays)
    pairs = []
    for i in range(120):
        shape = rng.choice([(5,), (4, 3), (3, 4, 2), (2, 3, 2, 2), (1, 5), (3, 1, 4), (0, 3)])
        want = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1
        x = uopd.Tensor(want)
        key = random_key(rng, shape, arrays)
        try:
            region = want[key].shape
        except IndexError:
            continue
        value_shape = tuple(1 if rng.random() < 0.2 else n for n in region)[rng.randint(0, len(region)) :]
        value = 100.0 + np.arange(np.prod(value_shape), dtype=np.float32).reshape(value_shape)
        want = want.copy()
        want[key] = value
        x[as_sent(rng, key)] = value if i % 3 else uopd.Tensor(value)
        pairs.append((x, want, (shape, key, value_shape)))
    assert len(pairs) > 90
    check_all(pairs)


def test_setitem_by_masks():
    rng = np.random.default_rng(SEED)
    pairs = []
    for shape, mask_shape, lead in [((4, 3), (4, 3), ()), ((4, 3), (4,), ()), ((4, 3), (3,), (slice(None),)),
                                    ((2, 4, 3), (4,), (0,)), ((4, 5), (2,), (slice(1, 5, 2), slice(0, 2))),
                                    ((), (), ())]:  # fmt: skip
        want = rng.standard_normal(shape).astype(np.float32)
        x = uopd.Tensor(want)
        if lead == (slice(1, 5, 2), slice(0, 2)):
            mask = np.array([[True, False], [False, True]])
            x[1:5:2, 0:2][mask] = 5.0  # of a part, which is a tensor of its own
            pairs.append((x, want, "a part of x"))
            continue
        mask = rng.random(mask_shape) < 0.5
        value = 7.0 if len(pairs) % 2 else np.float32(3)
        want = want.copy()
        want[(*lead, mask)] = value
        x[(*lead, uopd.Tensor(mask) if len(pairs) % 2 else mask)] = value
        pairs.append((x, want, (shape, mask_shape, lead)))
    x = uopd.Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x[np.array([True, False, True])] = np.array([8.0, 9.0], np.float32)  # one for each selected row
    pairs.append((x, np.array([[8, 9], [3, 4], [8, 9]], np.float32), "rows"))
    check_all(pairs)


# ---------------------------------------------------------------------- what has to be told one by one


def test_reads_see_the_value_before_the_write():
    x = uopd.Tensor([1.0, 2.0, 3.0, 4.0])
    before = x * 10
    reverse = x[::-1]
    x[:2] = x[2:]
    x[2:] = x[:2]
    later = x + 0
    x += 1
    x[0] += 100
    # In an order of its own: the last first.
    assert x.tolist() == [104, 5, 4, 5]
    assert later.tolist() == [3, 4, 3, 4]
    assert reverse.tolist() == [4, 3, 2, 1]
    assert before.tolist() == [10, 20, 30, 40]


def test_the_last_of_two_values_for_one_element_stays():
    x = uopd.zeros((3,))
    x[[1, 1, 2, 1]] = uopd.Tensor([1.0, 2.0, 3.0, 4.0])
    assert x.tolist() == [0, 4, 3]


def test_an_index_tensor_outside_of_its_axis_reads_0_and_writes_nothing():
    x = uopd.Tensor(np.arange(1, 13, dtype=np.int32).reshape(3, 4))
    i = uopd.Tensor([0, 3, -3, -4, 2**31 - 1, -(2**31)])
    j = uopd.Tensor([1, 1, -1, 1, 1, 1])
    one, two = x[:, 0][i], x[i, j]
    y, z = x + 0, x + 0
    y[i] = -1
    z[i, j] = -1
    big = x[:, 0][uopd.Tensor(np.array([2**64 - 1, 2], np.uint64))]
    uopd.realize(one, two, y, z, big)
    assert one.tolist() == [1, 0, 1, 0, 0, 0]
    assert two.tolist() == [2, 0, 4, 0, 0, 0]
    assert y.tolist() == [[-1] * 4, [5, 6, 7, 8], [9, 10, 11, 12]]
    assert z.tolist() == [[1, -1, 3, -1], [5, 6, 7, 8], [9, 10, 11, 12]]
    assert big.tolist() == [0, 9]


def test_bits_come_through():
    x = np.array([-0.0, np.nan, np.inf, 1e-40, -1.5], np.float32)
    x.view(np.uint32)[1] = 0x7FC12345
    t = uopd.Tensor(x)
    y = uopd.Tensor(np.zeros(7, np.float32))
    y[1:6] = t
    z = uopd.Tensor(np.zeros(10, np.float32))
    z[9::-2] = t
    got = uopd.cat([t[::-1], t[[0, 1, 4]], y, z]).numpy()
    want_y, want_z = np.zeros(7, np.float32), np.zeros(10, np.float32)
    want_y[1:6] = x
    want_z[9::-2] = x
    want = np.concatenate([x[::-1], x[[0, 1, 4]], want_y, want_z])
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()


@pytest.mark.parametrize(("key", "error", "says"), [
    (3, IndexError, "index 3 of axis 0"), (-4, IndexError, "has 3 elements"), ((0, 0, 0), IndexError, "3 indices"),
    ((..., ...), IndexError, "one ellipsis"), ([0, 3], IndexError, "index 3"), (1.5, TypeError, "float is no index"),
    ([0.5], TypeError, "integer dtype"), (np.array([True, False, True]), TypeError, "masked_fill"),
    ([True, False, True], TypeError, "where"), (True, TypeError, "no index"), ("a", TypeError, "str is no index"),
    (np.array([True, False]), IndexError, "sizes must be the same"), (slice(0, 2, 0), ValueError, "zero"),
    (([0, 1], [0, 1, 1]), IndexError, "broadcast together"),
])  # fmt: skip
def test_keys_that_cannot_be(key, error, says):
    with pytest.raises(error, match=says):
        uopd.zeros((3, 2))[key]


def test_assignments_that_cannot_be():
    x = uopd.zeros((3, 2))
    with pytest.raises(ValueError, match="does not broadcast"):
        x[0] = [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="mask"):
        x[np.array([True, False, True])] = np.zeros((2, 2), np.float32)
    with pytest.raises(TypeError, match="mask"):
        x[np.array([True, False, True]), [0]] = 1
    with pytest.raises(TypeError, match="integer dtype, not f32"):
        x[uopd.Tensor([0.5])] = 1


def test_gradients_pass_through_reads_and_writes():
    x = uopd.Tensor(np.arange(12, dtype=np.float32).reshape(3, 4), requires_grad=True)
    v = uopd.Tensor([2.0, 3.0], requires_grad=True)
    weights = uopd.Tensor(np.arange(1, 13, dtype=np.float32).reshape(3, 4))
    y = x * 1
    y[1, ::2] = v
    y[[0, 2, 0], 3] = uopd.Tensor([1.0, 1.0, 1.0])
    part = x[uopd.Tensor([1, 1, -1]), 1:3]  # row 1 twice
    loss = (y * weights).sum() + part.sum()
    loss.backward()
    uopd.realize(x.grad, v.grad)
    want = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    want[1, ::2] = 0
    want[[0, 2], 3] = 0
    want[1, 1:3] += 2
    want[2, 1:3] += 1
    assert x.grad.tolist() == want.tolist()
    assert v.grad.tolist() == [5, 7]
