"""What no row of the table can say of elementwise operations: how dtypes meet, operators with NumPy on either side,
and in-place forms."""
import operator

import numpy as np
import pytest
import uopd
from uopd import _dtype

def met(a, b):
    """NumPy's promotion, but that integers do not widen floats, and halves meet in f32; None: nothing holds both."""
    if a is b:
        return a
    floats = [d for d in (a, b) if d.is_float]
    if len(floats) == 1:
        return floats[0]
    if len(floats) == 2 and all(d.is_half for d in floats):
        return uopd.f32
    if len(floats) == 2:
        return max(floats, key=lambda d: d.itemsize)
    joined = np.promote_types(a.numpy, b.numpy)
    return _dtype.dtype_of(joined) if joined.kind != "f" else None


def test_every_pair_of_dtypes():
    tensors = {d: uopd.Tensor(np.ones(2), d) for d in _dtype.ALL}
    sums = []
    for a in _dtype.ALL:
        for b in _dtype.ALL:
            want = met(a, b)
            if want is None:
                with pytest.raises(TypeError, match="no integer type holds both"):
                    tensors[a] + tensors[b]
                continue
            assert (tensors[a] == tensors[b]).dtype is uopd.bool_
            assert tensors[a].maximum(tensors[b]).dtype is want, (a, b)
            both = tensors[a] + tensors[b]
            assert both.dtype is (uopd.i32 if want is uopd.bool_ else want), (a, b)
            assert (tensors[a] / tensors[b]).dtype is (want if want.is_float else uopd.f32)
            if a.number <= b.number:
                sums.append(both.cast(uopd.f64))
    total = sums[0]
    for s in sums[1:]:
        total = total + s
    assert total.tolist() == [2.0 * len(sums)] * 2


@pytest.mark.parametrize("dtype", _dtype.ALL, ids=lambda d: d.name)
def test_numbers_take_the_tensors_dtype(dtype):
    x = uopd.Tensor(np.ones(2), dtype)
    assert (x * 2).dtype is (uopd.i32 if dtype is uopd.bool_ else dtype)
    assert (x * 0.5).dtype is (dtype if dtype.is_float else uopd.f32)
    assert (2 - x).dtype is (x * 2).dtype
    assert (np.float64(0.5) * x).dtype is (x * 0.5).dtype  # a NumPy scalar is a number, whatever its dtype
    assert uopd.Tensor([True]).where(x, 0.5).dtype is (x * 0.5).dtype


def test_numbers_that_do_not_fit():
    with pytest.raises(OverflowError, match="300 does not fit into a u8"):
        uopd.Tensor([1], uopd.u8) + 300


def test_operators_with_arrays_on_either_side():
    x, a = uopd.Tensor([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0], np.float32)
    results = []
    o = operator
    for op in (o.add, o.sub, o.mul, o.truediv, o.floordiv, o.mod, o.pow):
        for left, right in ((x, a), (a, x), (x, 2), (2, x), (np.float32(2), x)):
            made = op(left, right)
            assert isinstance(made, uopd.Tensor)
            results.append((made, op(*(v.numpy() if isinstance(v, uopd.Tensor) else v for v in (left, right)))))
    uopd.realize(*(made for made, _ in results))
    for made, want in results:
        np.testing.assert_allclose(made.numpy(), want, rtol=1e-6)
    assert (a < x).tolist() == [False] * 3 and (a == x).tolist() == [False] * 3
    quotient, rest = divmod(uopd.Tensor([7, -7]), 3)
    assert (quotient.tolist(), rest.tolist()) == ([2, -3], [1, 2])


IN_PLACE = [
    (operator.iadd, 2), (operator.isub, 2), (operator.imul, 3), (operator.ifloordiv, 2), (operator.imod, 3),
    (operator.ipow, 2), (operator.iand, 6), (operator.ior, 8), (operator.ixor, 3), (operator.ilshift, 1),
    (operator.irshift, 1),
]  # fmt: skip


def test_in_place_forms_keep_the_tensor_and_what_read_it():
    changed = []
    for op, number in IN_PLACE:
        x = uopd.Tensor([5, -7, 9])
        before = x + 0
        y = op(x, number)
        assert y is x and x.dtype is uopd.i32
        want = np.array([5, -7, 9], np.int32)
        changed.append((op, x, before, op(want, number)))
    uopd.realize(*(t for _, x, before, _ in changed for t in (x, before)))
    for op, x, before, want in changed:
        assert x.tolist() == want.tolist(), op
        assert before.tolist() == [5, -7, 9]
    x = uopd.Tensor([1.0, 2.0])
    x /= 4
    assert x.tolist() == [0.25, 0.5]


@pytest.mark.parametrize("mine", _dtype.ALL, ids=lambda d: d.name)
def test_in_place_forms_take_what_numpy_takes(mine):
    for other in _dtype.ALL:
        x, y = uopd.Tensor(np.ones(2), mine), uopd.Tensor(np.ones(2), other)
        if met(mine, other) is None:
            continue
        result = (x + y).dtype
        fits = result.is_float and mine.is_float or np.can_cast(_numpy(result), _numpy(mine), "same_kind")
        if fits:
            x += y
            assert x.dtype is mine
        else:
            with pytest.raises(TypeError, match="in place"):
                x += y
            assert x.dtype is mine


def _numpy(dtype):
    return np.dtype(np.float32) if dtype is uopd.bf16 else dtype.numpy


def test_an_integer_is_not_divided_in_place():
    x = uopd.Tensor([1, 2])
    with pytest.raises(TypeError, match="f32 and does not go into a i32"):
        x /= 2
    with pytest.raises(TypeError):
        x += 0.5
    assert x.tolist() == [1, 2]


def test_bitwise_operators_want_integers():
    with pytest.raises(TypeError, match="f32"):
        uopd.Tensor([1.0]) & uopd.Tensor([1.0])


def test_gradients_of_second_order():
    """d2/dx2 of what has corners in its formula, but not in its value."""
    points = np.array([-0.7, 0.0, 0.3, 1.9])
    step = 1e-4
    wanted, made = [], []
    for name in ("tanh", "sigmoid", "softplus", "expm1", "log1p", "sinh", "cosh", "atan", "asinh", "silu", "mish",
                 "erf", "gelu", "cos"):  # fmt: skip
        x = uopd.Tensor(points, requires_grad=True)
        (first,) = uopd.grad(getattr(x, name)().sum(), [x])
        (second,) = uopd.grad(first.sum(), [x])
        moved = []
        for d in (-step, step):
            y = uopd.Tensor(points + d, requires_grad=True)
            moved.append(uopd.grad(getattr(y, name)().sum(), [y])[0])
        wanted.append(moved)
        made.append((name, second))
    uopd.realize(*(t for _, t in made), *(t for pair in wanted for t in pair))
    for (name, second), (low, high) in zip(made, wanted):
        want = (high.numpy() - low.numpy()) / (2 * step)
        np.testing.assert_allclose(second.numpy(), want, rtol=1e-5, atol=1e-5, err_msg=name)
