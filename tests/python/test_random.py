"""Random numbers: the generator against its published answers and against one in NumPy, the distributions' figures, and
that a step of a loop is one graph whatever was drawn before."""
import math

import numpy as np
import pytest
import uopd
from conftest import start_server, stop_server
from uopd._build import constant
from uopd.random import threefry

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)


def numpy_threefry(key: tuple[int, int], x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Threefry-2x32-20 as the paper has it: four rounds, then a part of the key."""
    keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(key[0] ^ key[1] ^ 0x1BD11BDA)]
    with np.errstate(over="ignore"):
        x, y = (x + keys[0]).astype(np.uint32), (y + keys[1]).astype(np.uint32)
        for i in range(20):
            by = ROTATIONS[i % 8]
            x = (x + y).astype(np.uint32)
            y = (((y << np.uint32(by)) | (y >> np.uint32(32 - by))) ^ x).astype(np.uint32)
            if i % 4 == 3:
                j = i // 4 + 1
                x = (x + keys[j % 3]).astype(np.uint32)
                y = (y + keys[(j + 1) % 3] + np.uint32(j)).astype(np.uint32)
    return x, y


def words(seed: int, draw: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    return numpy_threefry((seed & 0xFFFFFFFF, seed >> 32), np.arange(n, dtype=np.uint32), np.full(n, draw, np.uint32))


#: Counter, key, answer: the lines "threefry2x32 20" of kat_vectors in Random123 (D. E. Shaw Research).
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(device, counter, key, answer):
    with np.errstate(over="ignore"):
        x, y = numpy_threefry(key, np.uint32(counter[0]), np.uint32(counter[1]))
    assert (int(x), int(y)) == answer
    k, c = (tuple(constant(w, uopd.u32) for w in pair) for pair in (key, counter))
    nodes = threefry(k, c)
    assert [uopd.Tensor._of(u, device).item() for u in nodes] == list(answer)


@pytest.fixture
def generator():
    return uopd.Generator(0x1234567890ABCDEF)


def test_draws_are_numbered_blocks(generator):
    first, second = generator.rand(5), generator.rand(2, 3, dtype="f64")
    third = generator.randint(-3, 1000, (7,))
    wide = generator.randint(0, 2**32, (4,), dtype="u32")
    uopd.realize(first, second, third, wide)
    x, _ = words(0x1234567890ABCDEF, 0, 5)
    assert np.array_equal(first.numpy(), (x >> 8) * np.float32(2**-24))
    x, y = words(0x1234567890ABCDEF, 1, 6)
    both = x.astype(np.uint64) << np.uint64(32) | y
    assert np.array_equal(second.numpy().ravel(), (both >> np.uint64(11)) * 2.0**-53)
    x, _ = words(0x1234567890ABCDEF, 2, 7)
    assert np.array_equal(third.numpy(), -3 + (x.astype(np.uint64) * 1003 >> 32).astype(np.int64))
    x, _ = words(0x1234567890ABCDEF, 3, 4)
    assert np.array_equal(wide.numpy(), x)


def test_one_seed_one_stream(device):
    def draw() -> list:
        got = [uopd.rand(3), uopd.randn(3), uopd.randint(10, shape=(3,)), uopd.permutation(5)]
        uopd.realize(*got)
        return [t.tolist() for t in got]

    uopd.manual_seed(7)
    first, second = draw(), draw()
    uopd.manual_seed(7)
    assert draw() == first
    assert draw() == second
    assert first != second
    uopd.manual_seed(8)
    assert draw() != first
    with pytest.raises(ValueError, match="seed"):
        uopd.manual_seed(-1)


def test_the_order_of_realization_does_not_matter():
    uopd.manual_seed(1)
    a, b = uopd.rand(4), uopd.rand(4)
    values = b.tolist(), a.tolist()
    c = uopd.rand(4).tolist()
    uopd.manual_seed(1)
    assert (uopd.rand(4).tolist(), uopd.rand(4).tolist(), uopd.rand(4).tolist()) == (values[1], values[0], c)


def test_distributions_have_their_moments(generator):
    n = 200_000
    u, z = generator.uniform(n, -2, 6), generator.normal((n,), 3.0, 2.0)
    coin, die = generator.bernoulli(0.3, n), generator.randint(1, 7, n, dtype="u8")
    wide = generator.randn(n, dtype="f64")
    uopd.realize(u, z, coin, die, wide)
    u, z, coin, die, wide = (t.numpy().astype(np.float64) for t in (u, z, coin, die, wide))
    sigma = 4.5 / math.sqrt(n)  # of a mean, in standard deviations: one test in 100,000 fails
    assert u.min() >= -2 and u.max() < 6
    assert abs(u.mean() - 2) < sigma * 8 / math.sqrt(12)
    assert abs(u.var() - 64 / 12) < sigma * 5
    for values, mean, std in ((z, 3, 2), (wide, 0, 1)):
        y = (values - mean) / std
        assert abs(y.mean()) < sigma
        assert abs((y**2).mean() - 1) < sigma * math.sqrt(2)
        assert abs((y**3).mean()) < sigma * math.sqrt(15)
        assert abs((y**4).mean() - 3) < sigma * math.sqrt(96)
        assert np.isfinite(y).all() and np.abs(y).max() > 4
    assert abs(coin.mean() - 0.3) < sigma * math.sqrt(0.21)
    # Chi-square, with 99 (5) degrees of freedom.
    cells = np.bincount(((u + 2) / 8 * 100).astype(int), minlength=100)
    assert ((cells - n / 100) ** 2 / (n / 100)).sum() < 170
    faces = np.bincount(die.astype(int), minlength=7)
    assert faces[0] == 0 and ((faces[1:] - n / 6) ** 2 / (n / 6)).sum() < 30


def test_halves_stay_below_1(generator):
    for dtype in ("f16", "bf16"):
        values = generator.rand(20_000, dtype=dtype).numpy().astype(np.float64)
        assert values.min() == 0 and 0.99 < values.max() < 1 and abs(values.mean() - 0.5) < 0.02


def test_permutations(generator):
    p, q = generator.permutation(1000), generator.permutation(1000)
    x = uopd.arange(12).reshape(6, 2)
    rows = generator.permutation(x)
    uopd.realize(p, q, rows)
    assert sorted(p.tolist()) == list(range(1000)) and sorted(q.tolist()) == list(range(1000))
    assert p.tolist() != q.tolist()
    assert (np.asarray(p) == np.arange(1000)).mean() < 0.02
    assert sorted(rows.tolist()) == x.tolist()
    # Each of the six orders of three as often: 5 degrees of freedom.
    keys = words(5, 0, 3 * 600)[0].reshape(600, 3)
    orders = np.argsort(keys, axis=1, kind="stable") @ np.array([9, 3, 1])
    counts = np.unique(orders, return_counts=True)[1]
    assert len(counts) == 6 and ((counts - 100) ** 2 / 100).sum() < 25


def test_every_step_is_one_graph(device, generator):
    w = uopd.Tensor(np.zeros(8, np.float32))

    def step() -> None:
        mask = generator.bernoulli(0.5, (8,))
        w.assign(w + generator.randn(8) * mask.cast("f32"))
        w.realize()

    step()
    compiled = device.totals.plans_compiled
    seen = []
    for _ in range(4):
        step()
        seen.append(w.tolist())
    assert device.totals.plans_compiled == compiled
    assert len({tuple(v) for v in seen}) == 4


def test_jit_draws_anew_at_each_replay(device):
    uopd.manual_seed(3)

    @uopd.jit
    def noisy(x: uopd.Tensor) -> uopd.Tensor:
        return x + uopd.rand(4)

    zero = uopd.Tensor(np.zeros(4, np.float32))
    got = [noisy(zero).tolist() for _ in range(5)]
    assert noisy.replays == 3
    uopd.manual_seed(3)
    assert got == [uopd.rand(4).tolist() for _ in range(5)]


def test_gradients_pass_through_normal(generator):
    mean, std = uopd.Tensor(np.full(3, 1.0, np.float32), requires_grad=True), uopd.Tensor([2.0], requires_grad=True)
    x = generator.normal((3,), mean, std)
    (x * x).sum().backward()
    uopd.realize(x, mean.grad, std.grad)
    z = (x.numpy() - 1) / 2
    np.testing.assert_allclose(mean.grad.numpy(), 2 * x.numpy(), rtol=1e-6)
    np.testing.assert_allclose(std.grad.numpy(), [(2 * x.numpy() * z).sum()], rtol=1e-5)


def draws_of(address: str, **options: object) -> tuple[list[bytes], bytes]:
    """What one seed gives there: numbers that are exact, and normal ones."""
    with uopd.connect(address, **options):
        g = uopd.Generator(99)
        draws = [g.rand(1000), g.uniform((1000,), -0.3, 0.7), g.randint(0, 77, (1000,)), g.permutation(100), g.randn(5000)]
        uopd.realize(*draws)
        *exact, normal = (d.numpy().tobytes() for d in draws)
        return exact, normal


def test_the_same_at_every_level_and_number_of_threads(server, tmp_path):
    address = "unix:" + server["unix"]
    exact, normal = draws_of(address)
    assert draws_of(address, opt=0) == (exact, normal)
    assert draws_of(address, numerics="strict")[0] == exact
    process, ready = start_server(tmp_path, "--threads", "1")
    try:
        assert draws_of("unix:" + ready["unix"]) == (exact, normal)
    finally:
        stop_server(process)


@pytest.mark.parametrize(("call", "error"), [
    (lambda g: g.rand(3, dtype="i32"), TypeError), (lambda g: g.randint(0, 300, 3, dtype="u8"), TypeError),
    (lambda g: g.randint(3, 3, 3), ValueError), (lambda g: g.bernoulli(0.5), ValueError),
    (lambda g: g.uniform(3, 1, 0), ValueError), (lambda g: g.rand(2**33), ValueError),
])  # fmt: skip
def test_refusals(generator, call, error):
    with pytest.raises(error):
        call(generator)
