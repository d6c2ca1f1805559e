"""What the table of ops cannot say of products, convolutions and the parts of networks: kernels and random numbers."""
import math

import numpy as np
import pytest
import uopd
from uopd._graph import toposort


def tensor(*shape, **more):
    values = np.random.default_rng(len(shape)).uniform(-1, 1, shape)
    return uopd.Tensor(values, uopd.f32, **more)


@pytest.mark.parametrize("build", [
    lambda: tensor(4, 5) @ tensor(5, 3),
    lambda: uopd.einsum("bij,bkj->bik", tensor(2, 3, 4), tensor(2, 5, 4)),
    lambda: tensor(2, 3, 6, 6).conv2d(tensor(4, 3, 3, 3), tensor(4), padding=1),
    lambda: tensor(2, 3, 6, 6).conv2d(tensor(6, 1, 3, 3), stride=2, dilation=2, groups=3),
    lambda: tensor(2, 3, 5).conv_transpose1d(tensor(3, 2, 3), stride=2),
    lambda: tensor(2, 3, 6, 6).max_pool2d(2),
    lambda: tensor(2, 3, 6, 6).avg_pool2d(3, 2),
    lambda: tensor(4, 5).softmax(),
], ids=["matmul", "einsum", "conv", "grouped", "transposed", "max_pool", "avg_pool", "softmax"])  # fmt: skip
def test_is_one_kernel(build):
    assert len(build().plan().kernels) == 1


@pytest.mark.parametrize("f", [
    lambda x: x.softmax(),
    lambda x: x.log_softmax(0),
    lambda x: x.layer_norm(),
    lambda x: x.normalize(),
    lambda x: x.cross_entropy(uopd.Tensor([2, 0, 5], uopd.i32)),
    lambda x: x.binary_cross_entropy_with_logits(uopd.Tensor(np.full((3, 6), 0.3))),
    lambda x: (x * x).conv1d(x.reshape(2, 3, 3), padding=1),
    lambda x: (x**3).max_pool1d(3, 2, 1),
    lambda x: x.scaled_dot_product_attention(x * 2, x * x, is_causal=True),
    lambda x: uopd.einsum("ij,kj,kl->il", x, x, x),
], ids=["softmax", "log_softmax", "layer_norm", "normalize", "cross_entropy", "bce", "conv", "max_pool", "attention",
        "einsum"])  # fmt: skip
def test_second_derivatives(f):
    rng = np.random.default_rng(7)
    x, v, u = (rng.uniform(-1, 1, (3, 6)) for _ in range(3))
    step = 1e-4

    def slope(values):
        """x, and the derivative of f's weighted sum in direction v."""
        at = uopd.Tensor(values, requires_grad=True)
        y = f(at)
        weights = uopd.Tensor(np.linspace(0.5, 1.5, y.numel()).reshape(y.shape))
        (first,) = uopd.grad((y * weights).sum(), [at])
        return at, (first * uopd.Tensor(v)).sum()

    at, along_v = slope(x)
    (second,) = uopd.grad(along_v, [at])
    ends = [slope(x + sign * step * u)[1] for sign in (-1, 1)]
    uopd.realize(second, *ends)
    want = (ends[1].item() - ends[0].item()) / (2 * step)
    np.testing.assert_allclose((second.numpy() * u).sum(), want, rtol=1e-5, atol=1e-6)


def test_labels_are_gathered():
    labels = uopd.Tensor([1, 0, 2], uopd.i32)
    loss = tensor(3, 4).cross_entropy(labels)
    wide = [u for u in toposort([loss.node]) if u.shape == (3, 4) and labels.node in toposort([u])]
    assert not wide
    assert loss.item() == tensor(3, 4).cross_entropy(np.array([1, 0, 2], np.int32)).item()


def test_products_with_arrays():
    a, x = np.arange(6.0, dtype=np.float32).reshape(2, 3), uopd.Tensor([[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(np.asarray(a @ x), a @ x.numpy())
    np.testing.assert_array_equal((x.T @ a.T).numpy(), x.numpy().T @ a.T)
    with pytest.raises(ValueError, match="multiply by a number with"):
        x @ 2


def test_normalize_by_the_greatest():
    x = tensor(3, 4)
    y = x.normalize(math.inf, axis=-1)
    want = x.numpy() / np.abs(x.numpy()).max(1, keepdims=True)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-6)
    with pytest.raises(ValueError, match="order 1, 2 or infinity"):
        x.normalize(3)


def test_dropout():
    uopd.random.manual_seed(3)
    x = uopd.ones(10_000, requires_grad=True)
    y = x.dropout(0.25)
    (gradient,) = uopd.grad(y.sum(), [x])
    uopd.realize(y, gradient)
    values = y.numpy()
    scale = np.float32(1 / 0.75)
    assert set(values.tolist()) == {0.0, scale.item()}
    assert abs((values == 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(gradient.numpy(), values)
    assert not np.array_equal(x.dropout(0.25).numpy(), values)
    uopd.random.manual_seed(3)
    np.testing.assert_array_equal(x.dropout(0.25).numpy(), values)


def test_dropout_at_its_ends():
    x = tensor(4)
    assert x.dropout(0.5, training=False) is x
    assert x.dropout(0.0) is x
    np.testing.assert_array_equal(x.dropout(1.0).numpy(), np.zeros(4))
    assert x.cast(uopd.f16).dropout(0.5).dtype is uopd.f16
    with pytest.raises(ValueError, match="takes a probability"):
        x.dropout(1.5)


def test_attention_drops_weights():
    uopd.random.manual_seed(5)
    q, v = uopd.zeros((1, 64, 8)), uopd.ones((1, 64, 8))
    y = q.scaled_dot_product_attention(q, v, dropout_p=0.5).numpy()
    # Each weight is 1/64, dropped or doubled, for all of a row alike.
    np.testing.assert_array_equal(y, np.broadcast_to(y[..., :1], y.shape))
    np.testing.assert_allclose(y * 32, np.round(y * 32), atol=1e-4)
    assert abs(y.mean() - 1) < 0.05 and y.std() > 0
