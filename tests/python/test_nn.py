"""Layers against NumPy, the registry of parameters, state, modes; random ones by their statistics."""
import math

import numpy as np
import pytest

import uopd
from uopd import nn, optim

rng = np.random.default_rng(5)


def r(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def set_randomly(module):
    """Gives every parameter random values; returns them as f64 by name."""
    values = {name: r(*t.shape) for name, t in module.named_parameters()}
    module.load_state_dict({name: uopd.Tensor(v) for name, v in values.items()}, strict=False)
    return {name: v.astype(np.float64) for name, v in values.items()}


def close(tensor, want, tol=1e-5):
    assert tensor.shape == np.shape(want)
    np.testing.assert_allclose(tensor.numpy(), want, rtol=tol, atol=tol)


# ---------------------------------------------------------------------- the registry


class Model(nn.Module):
    def __init__(self):
        self.first = nn.Linear(3, 4)
        self.scale = uopd.Tensor([2.0], requires_grad=True)
        self.counts = uopd.Tensor(np.zeros(2, np.int64))
        self._cache = uopd.Tensor([1.0])
        self.rest = nn.ModuleList([nn.Sequential(nn.Linear(4, 4, bias=False), nn.Dropout(0.5)), nn.ReLU()])
        self.again = self.first
        self.name = "model"

    def forward(self, x):
        x = self.first(x) * self.scale
        for module in self.rest:
            x = module(x)
        return x


def test_names_and_order():
    model = Model()
    assert [n for n, _ in model.named_parameters()] == ["scale", "first.weight", "first.bias", "rest.0.0.weight"]
    assert [n for n, _ in model.named_buffers()] == ["counts"]
    assert [n for n, _ in model.named_modules()] == ["", "first", "rest", "rest.0", "rest.0.0", "rest.0.1", "rest.1"]
    assert len(model.parameters()) == 4 and len(model.buffers()) == 1
    assert all(p.requires_grad and p.is_leaf for p in model.parameters())
    assert repr(model) == """Model(
  (first): Linear(3, 4)
  (rest): ModuleList(
    (0): Sequential(
      (0): Linear(4, 4, bias=False)
      (1): Dropout(0.5)
    )
    (1): ReLU()
  )
  (again): Linear(3, 4)
)"""
    assert len(model.rest) == 2 and model.rest[0][1] is list(model.rest[0])[1]
    with pytest.raises(TypeError, match="modules"):
        model.rest.append(3)
    with pytest.raises(NotImplementedError, match="Bare"):
        type("Bare", (nn.Module,), {})()(1)


def test_modes_reach_all_below():
    model = Model()
    assert model.eval() is model and not any(m.training for m in model.modules())
    model.train()
    assert all(m.training for m in model.modules())


def test_state_goes_from_model_to_model_and_through_files(tmp_path):
    a = Model()
    x = r(2, 3)
    uopd.realize(*a.parameters())  # fused with the drawing of its parameters, a layer may round otherwise
    want = a.eval()(uopd.Tensor(x)).numpy()
    for ending in ("safetensors", "npz"):
        path = tmp_path / f"model.{ending}"
        uopd.io.save(path, a.state_dict())
        b = Model()
        b.load_state_dict(uopd.io.load(path))
        np.testing.assert_array_equal(b.eval()(uopd.Tensor(x)).numpy(), want)
    b.load_state_dict({name: t.numpy() for name, t in a.state_dict().items()})
    np.testing.assert_array_equal(b.eval()(uopd.Tensor(x)).numpy(), want)
    assert b.counts.dtype is uopd.i64 and not b.counts.requires_grad and b.scale.requires_grad


def test_a_loaded_model_is_not_the_one_it_came_from():
    a, b = nn.Linear(2, 1), nn.Linear(2, 1)
    b.load_state_dict(a.state_dict())
    x = uopd.Tensor([[1.0, 2.0]])
    (a(x) * 2 + b(x) * 3).sum().backward()
    assert a.weight.grad.tolist() == [[2, 4]] and b.weight.grad.tolist() == [[3, 6]]
    snapshot = a.state_dict()
    before = a.weight.numpy()
    optim.SGD(a.parameters(), lr=1.0).step()
    assert not np.array_equal(a.weight.numpy(), before)
    np.testing.assert_array_equal(snapshot["weight"].numpy(), before)


def test_a_state_that_does_not_fit_changes_nothing():
    model = nn.Linear(2, 3)
    before = model.weight.numpy()
    good = {"weight": np.zeros((3, 2)), "bias": np.zeros(3)}
    for bad, message in [
        ({"weight": good["weight"]}, "missing are \\['bias'\\]"),
        ({**good, "extra": np.zeros(1)}, "not known \\['extra'\\]"),
        ({**good, "bias": np.zeros(4)}, "bias is of shape \\[4\\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.load_state_dict(bad)
    np.testing.assert_array_equal(model.weight.numpy(), before)
    model.load_state_dict({"bias": np.ones(3)}, strict=False)
    assert model.bias.tolist() == [1, 1, 1] and model.bias.dtype is uopd.f32


def test_equal_constants_are_parameters_of_their_own():
    a, b = nn.LayerNorm(3), nn.LayerNorm(3)
    x = uopd.Tensor([[1.0, 2.0, 4.0]])
    (a(x) * 2 + b(x) * 3).sum().backward()
    close(b.bias.grad, [3, 3, 3])
    close(a.bias.grad, [2, 2, 2])


# ---------------------------------------------------------------------- layers


def test_linear_and_embedding():
    linear = nn.Linear(3, 2)
    p = set_randomly(linear)
    x = r(2, 4, 3)
    close(linear(uopd.Tensor(x)), x @ p["weight"].T + p["bias"])
    table = nn.Embedding(5, 3)
    p = set_randomly(table)
    index = np.array([[1, 4], [0, 1]], np.int32)
    y = table(uopd.Tensor(index))
    close(y, p["weight"][index])
    y.sum().backward()
    close(table.weight.grad, np.bincount(index.reshape(-1), minlength=5)[:, None] * np.ones(3))


def test_initial_values_are_pytorchs():
    uopd.manual_seed(3)
    linear = nn.Linear(100, 200)
    for t in linear.parameters():
        v = t.numpy()
        assert abs(v).max() <= 0.1 and abs(v).max() > 0.09
        assert v.std() == pytest.approx(0.1 / math.sqrt(3), rel=0.1)
    conv = nn.Conv2d(8, 16, 3, groups=2)
    assert conv.weight.shape == (16, 4, 3, 3) and abs(conv.weight.numpy()).max() <= 1 / 6
    transposed = nn.ConvTranspose2d(8, 16, 3, groups=2)
    assert transposed.weight.shape == (8, 8, 3, 3) and abs(transposed.weight.numpy()).max() <= 1 / math.sqrt(72)
    table = nn.Embedding(100, 100).weight.numpy()
    assert abs(table.mean()) < 0.05 and table.std() == pytest.approx(1, rel=0.05)
    uopd.manual_seed(3)
    np.testing.assert_array_equal(nn.Linear(100, 200).weight.numpy(), linear.weight.numpy())
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)
    assert not np.array_equal(a.weight.numpy(), b.weight.numpy())


def test_convolutions_call_the_ops():
    x = uopd.Tensor(r(2, 4, 6, 6))
    conv = nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)
    np.testing.assert_array_equal(conv(x).numpy(), x.conv2d(conv.weight, conv.bias, 2, 1, 1, 2).numpy())
    back = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
    np.testing.assert_array_equal(
        back(x).numpy(), x.conv_transpose2d(back.weight, back.bias, 2, 1, 1, 2).numpy())
    assert nn.Conv1d(4, 2, 3)(uopd.Tensor(r(1, 4, 5))).shape == (1, 2, 3)
    assert nn.Conv3d(2, 3, 2)(uopd.Tensor(r(1, 2, 3, 3, 3))).shape == (1, 3, 2, 2, 2)
    assert nn.ConvTranspose1d(4, 2, 3)(uopd.Tensor(r(1, 4, 5))).shape == (1, 2, 7)
    assert nn.ConvTranspose3d(2, 3, 2)(uopd.Tensor(r(1, 2, 3, 3, 3))).shape == (1, 3, 4, 4, 4)
    pooled = nn.MaxPool2d(2)(x)
    close(pooled, x.numpy().reshape(2, 4, 3, 2, 3, 2).max((3, 5)))
    close(nn.AvgPool2d(2)(x), x.numpy().reshape(2, 4, 3, 2, 3, 2).mean((3, 5)))
    assert repr(conv) == "Conv2d(4, 6, kernel_size=3, stride=2, padding=1, groups=2)"
    assert repr(nn.MaxPool2d(2, ceil_mode=True)) == "MaxPool2d(2, ceil_mode=True)"
    with pytest.raises(ValueError, match="groups"):
        nn.Conv2d(4, 6, 3, groups=4)


def standardized(x, axes, eps):
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_norms():
    x = r(4, 6, 5)
    layer = nn.LayerNorm((6, 5), eps=1e-3)
    p = set_randomly(layer)
    close(layer(uopd.Tensor(x)), standardized(x, (1, 2), 1e-3) * p["weight"] + p["bias"])
    rms = nn.RMSNorm(5, eps=1e-3)
    p = set_randomly(rms)
    close(rms(uopd.Tensor(x)), x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-3) * p["weight"])
    group = nn.GroupNorm(3, 6)
    p = set_randomly(group)
    want = standardized(x.reshape(4, 3, 10), 2, 1e-5).reshape(x.shape)
    close(group(uopd.Tensor(x)), want * p["weight"][:, None] + p["bias"][:, None])
    assert not nn.LayerNorm(5, elementwise_affine=False).parameters()
    assert len(nn.LayerNorm(5, bias=False).parameters()) == 1
    with pytest.raises(ValueError, match="sizes"):
        layer(uopd.Tensor(r(4, 5, 6)))


@pytest.mark.parametrize("make,shape", [(nn.BatchNorm1d, (8, 3)), (nn.BatchNorm1d, (4, 3, 5)),
                                        (nn.BatchNorm2d, (2, 3, 4, 2))])  # fmt: skip
def test_batch_norm_keeps_running_statistics(make, shape):
    norm = make(3, eps=1e-3, momentum=0.25)
    p = set_randomly(norm)
    axes = tuple(i for i in range(len(shape)) if i != 1)
    along = (3,) + (1,) * (len(shape) - 2)
    w, b = p["weight"].reshape(along), p["bias"].reshape(along)
    mean, var = np.zeros(3), np.ones(3)
    for _ in range(2):
        x = r(*shape) * 2 + 1
        close(norm(uopd.Tensor(x)), standardized(x, axes, 1e-3) * w + b, 2e-5)
        mean = 0.75 * mean + 0.25 * x.mean(axes)
        var = 0.75 * var + 0.25 * x.var(axes, ddof=1)
    uopd.realize(norm.running_mean, norm.running_var)
    close(norm.running_mean, mean)
    close(norm.running_var, var)
    assert [n for n, _ in norm.named_buffers()] == ["running_mean", "running_var"]
    x = r(*shape)
    want = (x - mean.reshape(along)) / np.sqrt(var.reshape(along) + 1e-3) * w + b
    close(norm.eval()(uopd.Tensor(x)), want)
    close(norm.running_mean, mean)  # evaluation leaves them
    with pytest.raises(ValueError, match="channels"):
        norm(uopd.Tensor(r(2, 4)))
    with pytest.raises(ValueError, match="no variance"):
        norm.train()(uopd.Tensor(r(1, 3, *(1,) * (len(shape) - 2))))


def test_batch_norm_trains_in_one_plan(device):
    uopd.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x = r(8, 3)
    plans = []
    for _ in range(4):
        loss = model(uopd.Tensor(x)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step(loss)
        plans.append((device.totals.plans_compiled, device.totals.runs))
    assert plans[0][0] == plans[-1][0] and plans[-1][1] - plans[0][1] == 3
    assert model[1].running_mean.numpy().any()  # it was realized with the step


def attention(x, context, w, b, ow, ob, heads, mask):
    n = x.shape[-1]
    q = x @ w[:n].T + b[:n]
    k, v = (context @ w[i * n : (i + 1) * n].T + b[i * n : (i + 1) * n] for i in (1, 2))
    out = []
    for h in range(heads):
        part = slice(h * n // heads, (h + 1) * n // heads)
        s = q[..., part] @ np.swapaxes(k[..., part], -1, -2) / math.sqrt(n // heads) + mask
        e = np.exp(s - s.max(-1, keepdims=True))
        out.append(e / e.sum(-1, keepdims=True) @ v[..., part])
    return np.concatenate(out, -1) @ ow.T + ob


@pytest.mark.parametrize("kind", ["plain", "causal", "cross", "mask", "bool mask"])
def test_multi_head_attention(kind):
    layer = nn.MultiHeadAttention(6, 2, is_causal=kind == "causal")
    p = set_randomly(layer)
    assert list(p) == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    x = r(2, 4, 6)
    context = r(2, 3, 6) if kind == "cross" else x
    mask, given = np.zeros((4, context.shape[1])), None
    if kind == "causal":
        mask = np.where(np.tril(np.ones((4, 4))), 0, -np.inf)
    elif kind == "mask":
        given = r(2, 4, 4)
        mask = given
    elif kind == "bool mask":
        given = rng.random((4, 4)) < 0.5
        given[:, 0] = True
        mask = np.where(given, 0, -np.inf)
    got = layer(uopd.Tensor(x), uopd.Tensor(context) if kind == "cross" else None,
                None if given is None else uopd.Tensor(given))  # fmt: skip
    want = attention(x, context, p["in_proj_weight"], p["in_proj_bias"], p["out_proj.weight"], p["out_proj.bias"], 2,
                     mask)  # fmt: skip
    close(got, want, 2e-5)


def test_activations_and_flatten():
    x = r(2, 3, 4)
    t = uopd.Tensor(x)
    results = {
        nn.ReLU(): np.maximum(x, 0),
        nn.LeakyReLU(0.1): np.where(x > 0, x, 0.1 * x),
        nn.ELU(0.5): np.where(x > 0, x, 0.5 * np.expm1(x)),
        nn.GELU(): x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
        nn.GELU("tanh"): x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
        nn.SiLU(): x / (1 + np.exp(-x)),
        nn.Mish(): x * np.tanh(np.log1p(np.exp(x))),
        nn.Softplus(): np.log1p(np.exp(x)),
        nn.Sigmoid(): 1 / (1 + np.exp(-x)),
        nn.Tanh(): np.tanh(x),
        nn.Softmax(1): np.exp(x) / np.exp(x).sum(1, keepdims=True),
        nn.LogSoftmax(-1): np.log(np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        nn.Identity(): x,
        nn.Flatten(): x.reshape(2, 12),
        nn.Flatten(0, 1): x.reshape(6, 4),
    }
    got = [module(t) for module in results]
    uopd.realize(*got)
    for module, y, want in zip(results, got, results.values()):
        np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, atol=1e-5, err_msg=repr(module))


def test_dropout(device):
    uopd.manual_seed(1)
    drop = nn.Dropout(0.25)
    x = uopd.Tensor(np.ones((64, 64), np.float32), requires_grad=True)
    y = drop(x)
    y.sum().backward()
    uopd.realize(y, x.grad)
    values = y.numpy()
    assert set(np.unique(values)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (values == 0).mean() == pytest.approx(0.25, abs=0.03)
    np.testing.assert_array_equal(x.grad.numpy(), values)  # the same mask
    plans = device.totals.plans_compiled
    assert not np.array_equal(drop(x).numpy(), values)  # another one the next time,
    drop(x).numpy()
    assert device.totals.plans_compiled <= plans + 1  # by the same plan
    assert drop.eval()(x) is x
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout(1.5)


def test_dropout_and_batch_norm_go_on_under_jit():
    x = r(8, 3)

    def run(wrap):
        uopd.manual_seed(4)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        uopd.realize(*model.parameters())
        forward = wrap(lambda t: model(t))
        outputs = [forward(uopd.Tensor(x)).numpy() for _ in range(4)]
        return outputs, model[1].running_mean.numpy()

    plain, plain_mean = run(lambda f: f)
    traced, traced_mean = run(uopd.jit)
    for a, b in zip(plain, traced):
        np.testing.assert_allclose(b, a, rtol=1e-6)
    np.testing.assert_allclose(traced_mean, plain_mean, rtol=1e-6)
    assert len({a.tobytes() for a in traced}) == 4  # a mask of its own each time
