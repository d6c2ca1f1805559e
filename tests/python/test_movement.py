"""What the table of ops does not say of movement: it costs no kernel, scales to thousands of parts, and never shares."""
import numpy as np
import pytest
import uopd


def test_movement_is_part_of_the_kernel_that_reads_it():
    x = uopd.Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    y = x.permute(2, 0, 1).flip(0).reshape(4, 6).T.pad(1).roll(1, 0).tril()[1:, ::-2]
    y = y + x.reshape(-1)[:8].reshape(8, 1)[1:]
    assert len(y.plan().kernels) == 1
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    want = np.tril(np.roll(np.pad(a.transpose(2, 0, 1)[::-1].reshape(4, 6).T, 1), 1, 0))[1:, ::-2]
    want = want + np.arange(8)[1:, None]
    np.testing.assert_array_equal(y.numpy(), want)


def test_a_few_tensors_are_joined_in_one_kernel():
    parts = [uopd.Tensor(np.full(i + 1, i, np.float32)) for i in range(16)]
    joined = uopd.cat(parts) * 2
    assert len(joined.plan().kernels) == 1
    np.testing.assert_array_equal(joined.numpy(), np.concatenate([np.full(i + 1, 2 * i) for i in range(16)]))


def test_thousands_of_tensors_are_joined():
    rows = [np.arange(4, dtype=np.float32) + i for i in range(6000)]
    tensors = [uopd.Tensor(r) for r in rows]
    joined, stacked = uopd.cat(tensors), uopd.stack(tensors)
    uopd.realize(joined, stacked)
    np.testing.assert_array_equal(joined.numpy(), np.concatenate(rows))
    np.testing.assert_array_equal(stacked.numpy(), np.stack(rows))


def test_gradients_come_back_to_each_of_many_parts():
    parts = [uopd.Tensor(np.full(2, i, np.float32), requires_grad=True) for i in range(40)]
    weights = np.arange(80, dtype=np.float32)
    (uopd.cat(parts) * uopd.Tensor(weights)).sum().backward()
    got = uopd.cat([p.grad for p in parts]).numpy()
    np.testing.assert_array_equal(got, weights)


def test_bits_come_through_a_join():
    a = np.array([0x7FC12345, 0x80000000, 0x00000001, 0xFF800000], np.uint32).view(np.float32)
    got = uopd.cat([uopd.Tensor(a), uopd.Tensor(a[:1]), uopd.Tensor(a[1:])]).numpy()
    assert got.view(np.uint32).tolist() == np.concatenate([a, a[:1], a[1:]]).view(np.uint32).tolist()


@pytest.mark.parametrize("same", [lambda x: x.reshape(2, 3), lambda x: x.expand(2, 3), lambda x: x.permute(0, 1),
                                  lambda x: x.flip([]), lambda x: x.pad(0), lambda x: x[...], lambda x: x.tile(1),
                                  lambda x: x.squeeze(), lambda x: uopd.cat([x])])  # fmt: skip
def test_what_changes_nothing_shares_nothing(same):
    x = uopd.Tensor(np.zeros((2, 3), np.float32))
    y = same(x)
    y += 1
    assert y is not x
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_windows_are_what_a_convolution_reads():
    image = np.random.default_rng(0).standard_normal((2, 3, 6, 7)).astype(np.float32)
    kernel = np.random.default_rng(1).standard_normal((4, 3, 3, 2)).astype(np.float32)
    w = uopd.Tensor(image).windows((3, 2), (2, 1), (1, 2))  # 2, 3, 2, 5, 3, 2
    assert w.shape == (2, 3, 2, 5, 3, 2)
    got = uopd.einsum("nchwij,ocij->nohw", w, uopd.Tensor(kernel)).numpy()
    want = np.zeros((2, 4, 2, 5))
    for y in range(2):
        for x in range(5):
            patch = image[:, :, 2 * y : 2 * y + 3, x : x + 4 : 2]
            want[:, :, y, x] = np.einsum("ncij,ocij->no", patch, kernel)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
