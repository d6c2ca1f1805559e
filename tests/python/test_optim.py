"""Optimizers against NumPy in f64, one plan for all steps, schedules, clipping, accumulation."""
import math

import numpy as np
import pytest

import uopd
from uopd import optim

SHAPES = [(3, 2), (2,), ()]
STEPS = 5


def start():
    rng = np.random.default_rng(1)
    return [rng.standard_normal(s).astype(np.float32) for s in SHAPES]


def loss_of(params, x, sin):
    return sum(((p * p) * x + sin(p)).sum() for p in params)


def gradient(p, x):
    return 2 * p * x + np.cos(p)


def sgd(params, grads, state, t, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
    for i, g in enumerate(grads):
        g = g + weight_decay * params[i]
        if momentum:
            v = state.setdefault(i, np.zeros_like(g)) * momentum + g
            state[i] = v
            g = g + momentum * v if nesterov else v
        params[i] = params[i] - lr * g


def adam(params, grads, state, t, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    for i, g in enumerate(grads):
        if decoupled:
            params[i] = params[i] * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * params[i]
        m, v = state.get(i, (0 * g, 0 * g))
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        state[i] = m, v
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        params[i] = params[i] - lr * m_hat / (np.sqrt(v_hat) + eps)


def adamw(params, grads, state, t, lr, weight_decay=1e-2, **rest):
    adam(params, grads, state, t, lr, weight_decay=weight_decay, decoupled=True, **rest)


@pytest.mark.parametrize("kind,reference,settings", [
    (optim.SGD, sgd, {}),
    (optim.SGD, sgd, {"weight_decay": 0.1}),
    (optim.SGD, sgd, {"momentum": 0.9, "weight_decay": 0.1}),
    (optim.SGD, sgd, {"momentum": 0.9, "nesterov": True}),
    (optim.Adam, adam, {}),
    (optim.Adam, adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (optim.AdamW, adamw, {}),
    (optim.AdamW, adamw, {"weight_decay": 0.1, "betas": (0.8, 0.99)}),
], ids=lambda v: v.__name__ if callable(v) else ",".join(v))  # fmt: skip
def test_steps_are_those_of_the_definition_and_one_plan(device, kind, reference, settings):
    values = start()
    expected = [v.astype(np.float64) for v in values]
    params = [uopd.Tensor(v, requires_grad=True) for v in values]
    optimizer = kind(params, lr=0.1, **settings)
    state = {}
    compiled = []
    for t in range(1, STEPS + 1):
        lr = optimizer.lr = 0.1 / t  # a schedule: data, not structure
        x = float(t)
        loss = loss_of(params, uopd.Tensor(x), lambda p: p.sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step(loss)
        compiled.append(device.totals.plans_compiled)
        assert device.report.plan == "memory" or t == 1  # the first step has the structure of all others
        want = loss_of(expected, x, np.sin)
        assert loss.item() == pytest.approx(want, rel=1e-5)
        reference(expected, [gradient(p, x) for p in expected], state, t, np.float64(np.float32(lr)), **settings)
        for p, e in zip(params, expected):
            np.testing.assert_allclose(p.numpy(), e, rtol=2e-5, atol=1e-6)
    assert compiled[0] == compiled[-1]


def test_seeds_figures_of_momentum():
    w = uopd.Tensor([1.0, -2.0], requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(w.numpy(), [0.46, -0.92], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_other_dtypes(dtype):
    w = uopd.Tensor([1.0, -2.0], dtype, requires_grad=True)
    optimizer = optim.AdamW([w], lr=0.125, weight_decay=0)
    for _ in range(2):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
    assert w.dtype.name == dtype and optimizer.m[0].dtype.name == ("f64" if dtype == "f64" else "f32")
    reference, state = [np.array([1.0, -2.0])], {}
    for t in (1, 2):
        adam(reference, [2 * reference[0]], state, t, 0.125)
    np.testing.assert_allclose(w.numpy(), reference[0], rtol={"f64": 1e-7, "f16": 2e-3, "bf16": 1e-2}[dtype])


def test_parameters_that_began_as_one_value_are_apart():
    # Two tensors of equal constants are one node of the graph; as parameters they must not be one.
    ones = uopd.Tensor([0.0, 0.0]) + 1
    a, b = (uopd.Tensor(ones, requires_grad=True) for _ in range(2))
    assert a.node is b.node
    optimizer = optim.SGD([a, b], lr=1.0)
    loss = (a * 2 + b * 3).sum()
    loss.backward()
    optimizer.step()
    assert a.tolist() == [-1, -1] and b.tolist() == [-2, -2]


def test_gradients_accumulate_over_backward_calls(device):
    whole, parts = (uopd.Tensor([1.0, -2.0, 3.0], requires_grad=True) for _ in range(2))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    optimizers = [optim.SGD([w], lr=0.01, momentum=0.5) for w in (whole, parts)]
    for _ in range(3):
        (whole * uopd.Tensor(x)).sin().sum().backward()
        for half in (x[:2], x[2:]):
            (parts * uopd.Tensor(half)).sin().sum().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    np.testing.assert_allclose(parts.numpy(), whole.numpy(), rtol=1e-5)
    # Kept small by realizing the sum after each part.
    for half in (x[:2], x[2:]):
        (parts * uopd.Tensor(half)).sin().sum().backward()
        parts.grad.realize()
    want = (np.cos(parts.numpy() * x) * x).sum(0)
    np.testing.assert_allclose(parts.grad.numpy(), want, rtol=1e-4, atol=1e-5)


def test_a_parameter_without_gradient_stays():
    a, b = (uopd.Tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.AdamW([a, b], lr=0.1)
    (a * 2).sum().backward()
    optimizer.step()
    assert b.item() == 1 and a.item() < 1


def test_state_goes_on_where_it_stopped():
    def run(steps, state=None, value=(1.0, -2.0)):
        w = uopd.Tensor(list(value), requires_grad=True)
        optimizer = optim.AdamW([w], lr=0.1)
        if state:
            optimizer.load_state_dict(state)
        for _ in range(steps):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return w.numpy(), optimizer.state_dict()

    straight, _ = run(4)
    half, state = run(2)
    assert set(state) == {"m.0", "v.0", "power.0", "power.1"}
    np.testing.assert_array_equal(run(2, state, half)[0], straight)
    with pytest.raises(ValueError, match="another optimizer"):
        optim.SGD([uopd.Tensor([1.0], requires_grad=True)], momentum=0.9).load_state_dict(state)


def test_bad_arguments():
    w = uopd.Tensor([1.0], requires_grad=True)
    for wrong, message in [
        (lambda: optim.SGD([]), "without parameters"),
        (lambda: optim.SGD([uopd.Tensor([1.0])]), "no leaf"),
        (lambda: optim.SGD([w * 2]), "no leaf"),
        (lambda: optim.SGD([w], lr=-1), "lr"),
        (lambda: optim.SGD([w], lr=math.nan), "lr"),
        (lambda: optim.SGD([w], nesterov=True), "momentum"),
        (lambda: optim.Adam([w], betas=(1.0, 0.9)), "betas"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


# ---------------------------------------------------------------------- schedules


@pytest.mark.parametrize("make,want", [
    (lambda o: optim.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125]),
    (lambda o: optim.ExponentialLR(o, 0.5), [1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625]),
    (lambda o: optim.LinearLR(o, 0.25, 1.0, 3), [0.25, 0.5, 0.75, 1, 1, 1, 1]),
    (lambda o: optim.WarmupCosine(o, 2, 6, 0.1),
     [0.5, 1.0, 1.0] + [0.1 + 0.45 * (1 + math.cos(math.pi * i / 4)) for i in (1, 2, 3, 4)]),
    (lambda o: optim.WarmupCosine(o, 0, 2), [1, 0.5, 0, 0, 0, 0, 0]),
], ids=["step", "exponential", "linear", "warmup-cosine", "cosine"])  # fmt: skip
def test_schedules(make, want):
    optimizer = optim.SGD([uopd.Tensor([1.0], requires_grad=True)], lr=0.5)
    schedule = make(optimizer)
    got = []
    for _ in want:
        got.append(optimizer.lr)
        schedule.step()
    np.testing.assert_allclose(got, [0.5 * f for f in want], rtol=1e-12, atol=1e-15)
    state = schedule.state_dict()
    for _ in range(3):
        schedule.step()
    schedule.load_state_dict(state)
    assert schedule.state_dict() == state


# ---------------------------------------------------------------------- clipping


@pytest.mark.parametrize("norm_type", [2.0, 1.0, math.inf, 3.0])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clip_grad_norm(norm_type, max_norm):
    params = [uopd.Tensor(v, requires_grad=True) for v in start()]
    loss_of(params, uopd.Tensor(1.5), lambda p: p.sin()).backward()
    grads = [gradient(v.astype(np.float64), 1.5) for v in start()]
    flat = np.abs(np.concatenate([g.reshape(-1) for g in grads]))
    want = flat.max() if norm_type == math.inf else (flat**norm_type).sum() ** (1 / norm_type)
    norm = optim.clip_grad_norm_(params, max_norm, norm_type)
    uopd.realize(norm, *(p.grad for p in params))
    assert norm.item() == pytest.approx(want, rel=1e-5)
    for p, g in zip(params, grads):
        np.testing.assert_allclose(p.grad.numpy(), g * min(1, max_norm / (want + 1e-6)), rtol=1e-5, atol=1e-6)
        assert not p.grad.requires_grad


def test_clip_grad_value_and_nan():
    w = uopd.Tensor([1.0, -2.0, math.nan, 0.125], requires_grad=True)
    (w * w).sum().backward()
    optim.clip_grad_value_([w], 1.5)
    np.testing.assert_array_equal(w.grad.numpy(), [1.5, -1.5, math.nan, 0.25])
    assert math.isnan(optim.clip_grad_norm_([w], 1.0).item())
    with pytest.raises(ValueError, match="no gradients"):
        optim.clip_grad_norm_([uopd.Tensor([1.0], requires_grad=True)], 1.0)


def test_clipping_and_a_schedule_keep_one_plan(device):
    w = uopd.Tensor([3.0, -4.0], requires_grad=True)
    optimizer = optim.Adam([w], lr=0.1)
    schedule = optim.WarmupCosine(optimizer, 2, 10)
    plans = []
    for _ in range(5):
        loss = (w * w).sum()
        optimizer.zero_grad()
        loss.backward()
        norm = optim.clip_grad_norm_([w], 1.0)
        optimizer.step(loss, norm)
        schedule.step()
        plans.append((device.totals.plans_compiled, device.totals.runs))
    assert plans[-1][0] == plans[0][0]
    assert plans[-1][1] - plans[0][1] == 4  # one run a step, and nothing else


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1),
], ids=["sgd", "adamw"])  # fmt: skip
def test_under_jit_the_steps_are_the_same(device, make):
    def train(wrap):
        w = uopd.Tensor([3.0, -4.0], requires_grad=True)
        optimizer = make([w])
        schedule = optim.ExponentialLR(optimizer, 0.7)

        def step(x):
            loss = (w * w * x).sum()
            loss.backward()
            optim.clip_grad_norm_([w], 5.0)
            optimizer.step(loss)
            optimizer.zero_grad()
            return loss

        step = wrap(step)
        losses = []
        for t in range(1, STEPS + 1):
            losses.append(step(uopd.Tensor(float(t))))
            schedule.step()
        return [loss.item() for loss in losses], w.numpy(), step

    plain, w_plain, _ = train(lambda f: f)
    traced, w_traced, step = train(uopd.jit)
    np.testing.assert_array_equal(traced, plain)
    np.testing.assert_array_equal(w_traced, w_plain)
    assert (step.traces, step.replays) == (2, STEPS - 2)
