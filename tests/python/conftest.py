"""One server for all tests of a run: on a unix socket, with a cache directory of its own."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client/python"))
sys.path.insert(0, str(ROOT / "tests/python"))

import uopd  # noqa: E402


def start_server(folder: pathlib.Path, *flags: str) -> tuple[subprocess.Popen, dict]:
    """A server of the build at hand (UOPD_PROGRAM), and what its ready file says."""
    program = os.environ.get("UOPD_PROGRAM", str(ROOT / "build/release/bin/uopd"))
    ready = folder / "ready.json"
    process = subprocess.Popen(
        [program, "--listen", "127.0.0.1:0", "--metrics", "none", "--unix", str(folder / "uopd.sock"),
         "--cache-dir", str(folder / "cache"), "--ready-file", str(ready), "--log-level", "warning", *flags])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return process, json.loads(ready.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"{program} did not come up")


def stop_server(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The ready file of a server: addresses "grpc" and "unix"."""
    folder = tmp_path_factory.mktemp("server")
    process, ready = start_server(folder)
    yield ready
    stop_server(process)


@pytest.fixture(scope="session", autouse=True)
def device(server, tmp_path_factory):
    """A session at it, where new tensors live."""
    with uopd.connect("unix:" + server["unix"]) as device:
        yield device
