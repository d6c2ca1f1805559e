"""Devices: connecting, errors that name the node and the line, what crosses the wire, memory that comes back."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import uopd
from conftest import start_server, stop_server
from uopd import errors


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_tcp_and_unix_give_the_same_bits(server, device):
    x = np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)

    def run():
        t = uopd.Tensor(x, requires_grad=True)
        loss = (t @ t).softmax().square().sum()
        loss.backward()
        return loss.numpy().tobytes() + t.grad.numpy().tobytes()

    here = run()
    with uopd.connect(server["grpc"]):
        assert run() == here


def test_no_server():
    with pytest.raises(errors.Unavailable, match="uop serve"):
        uopd.connect("127.0.0.1:1")


def test_what_has_no_derivative_is_named(device):
    x = uopd.Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(errors.InvalidArgument, match="BITCAST"):
        uopd.grad(x.half().bitcast(uopd.bf16).sum(), [x])[0].realize()


def test_a_server_fault_points_at_the_users_line(device):
    from uopd._graph import node
    from uopd._base import leaf_of
    from uopd.device import Buffer

    data = leaf_of(Buffer(device, uopd.f32, 4, host=bytes(16)))
    bad = node("RESHAPE", (data,), ints=(2, 2))
    bad.ints = (3, 3)  # what no check of ours lets through
    with pytest.raises(errors.InvalidArgument) as found:
        device.run([bad])
    assert found.value.node is bad
    assert "test_device.py" in found.value.where and "test_device.py" in str(found.value)


def test_errors_of_shapes_are_at_the_users_line():
    with pytest.raises(ValueError, match=r"\[2\] and \[3\] do not broadcast"):
        uopd.ones(2) + uopd.ones(3)


def test_small_data_goes_along_once_and_is_put_on_its_second_use(device):
    before = len(device.status()) and device.status()["buffers"]
    x = uopd.Tensor(np.arange(5, dtype=np.float32))
    y = (x + 1).realize()
    until(lambda: device.status()["buffers"] == before + 1)  # y alone
    z = (x + 2).realize()
    until(lambda: device.status()["buffers"] == before + 3)
    assert (y.numpy() + z.numpy()).tolist() == [3, 5, 7, 9, 11]


def test_memory_of_dead_tensors_comes_back_in_batches(device):
    gc.collect()
    until(lambda: not device._session._released)
    before = device.status()["buffers"]
    calls = []
    free = device._session._free_released
    device._session._free_released = lambda: (calls.append(1), free())
    tensors = [(uopd.Tensor(np.full(3, i, np.float32)) * 2).realize() for i in range(50)]
    assert device.status()["buffers"] >= before + 50
    del tensors
    gc.collect()
    until(lambda: device.status()["buffers"] <= before)
    assert len(calls) < 25
    device._session._free_released = free


def test_large_data_comes_and_goes_in_chunks(device):
    x = np.random.default_rng(2).integers(0, 255, 5_000_003, dtype=np.uint8)
    np.testing.assert_array_equal((uopd.Tensor(x) ^ 255).numpy(), x ^ 255)


def test_reports(device):
    x = uopd.Tensor(np.arange(7, dtype=np.float32))
    (x * 3 + 0.123).realize()
    assert device.report.plan == "compiled" and device.report.compiled == 1 and device.report.kernels == 1
    y = uopd.Tensor(np.ones(7, np.float32))
    (y * 3 + 0.123).realize()
    assert device.report.plan == "memory" and device.report.compiled == 0
    assert "EXP2" in device.ops and "numerics" in device.server_options
    assert any(stage.startswith("render_c") for stage, _ in device.explain([(x + 1).node]))
    assert (x + 1).plan().kernels == ["e_7"]


def test_options_are_part_of_the_plan(server):
    with uopd.connect(server["grpc"], opt=0) as device:
        assert len(uopd.Tensor(np.ones((4, 8), np.float32)).softmax().plan().kernels) == 3
        device.options["opt"] = 1
        assert len(uopd.Tensor(np.ones((4, 8), np.float32)).softmax().plan().kernels) == 1
        device.options["opt"] = 77
        with pytest.raises(errors.InvalidArgument, match="77"):
            uopd.ones(3).realize()


def test_two_devices_do_not_mix(server, device):
    with uopd.connect(server["grpc"]):
        there = uopd.ones(2)
    with pytest.raises(ValueError, match="live on"):
        uopd.ones(2) + there


def test_a_time_limit(server):
    with uopd.connect(server["grpc"]) as device:
        device.timeout = 1e-4
        with pytest.raises(errors.DeadlineExceeded):
            (uopd.ones(123, 7) + 0.5).realize()


def test_repr(device):
    x = uopd.Tensor([[1.0, 2.0]], requires_grad=True)
    assert repr(x) == "tensor([[1., 2.]], dtype=f32, requires_grad=True)"
    assert repr(x + 1) == "<Tensor f32[1,2], not computed yet, requires_grad=True>"
    assert "uopd.Device" in repr(device)


def test_serve_starts_a_server_and_uses_it_again(tmp_path):
    code = """
import uopd, sys
device = uopd.serve()
print((uopd.Tensor([1.0, 2.0]) * 2).tolist(), device.status()["sessions"])
"""
    folder = pathlib.Path(uopd.__file__).parents[1]
    program = os.environ.get("UOPD_PROGRAM", str(folder.parents[1] / "build/release/bin/uopd"))
    env = {**os.environ, "PYTHONPATH": str(folder), "XDG_RUNTIME_DIR": str(tmp_path), "UOPD_PROGRAM": program,
           "XDG_CACHE_HOME": str(tmp_path / "cache"), "UOPD_SERVER": ""}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert run.stdout == "[2.0, 4.0] 1\n", run.stderr
    # It ended with the process that started it; a second one, and what `import` alone gives:
    code = "import uopd; print((uopd.Tensor([1.0]) + 1).item())"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert run.stdout == "2.0\n", run.stderr
    env["UOPD_PROGRAM"] = "/bin/false"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert "did not come up" in run.stderr


def test_a_server_that_is_killed(tmp_path):
    process, ready = start_server(tmp_path)
    device = uopd.connect(ready["grpc"])
    with device:
        x = uopd.Tensor([1.0]).realize()
        y = (x + 1).realize()
        process.send_signal(signal.SIGKILL)
        process.wait()
        with pytest.raises(errors.Unavailable, match="not available"):
            (y + 1).realize()


def test_two_clients_train_at_once_as_alone(server):
    """Two processes on one server, different models: the losses of each are those it has alone."""
    folder = pathlib.Path(uopd.__file__).parents[1]
    code = """
import sys, numpy as np, uopd
from uopd import nn, optim
seed = int(sys.argv[2])
uopd.connect(sys.argv[1])
uopd.manual_seed(seed)
model = nn.Sequential(nn.Linear(4, 8 + seed), nn.ReLU(), nn.Linear(8 + seed, 1))
opt = optim.AdamW(model.parameters(), lr=1e-2)
x = np.random.default_rng(seed).standard_normal((16, 4)).astype(np.float32)
for _ in range(25):
    loss = model(uopd.Tensor(x)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step(loss)
    print(loss.item())
"""

    def start(seed):
        return subprocess.Popen([sys.executable, "-c", code, server["grpc"], str(seed)], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONPATH": str(folder)})

    alone = [start(seed).communicate(timeout=120)[0] for seed in (1, 2)]
    both = [start(seed) for seed in (1, 2)]
    assert [p.communicate(timeout=120)[0] for p in both] == alone
    assert len(alone[0].splitlines()) == 25 and alone[0] != alone[1]
