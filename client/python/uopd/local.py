"""A server on this machine, started when none runs: so that one import is enough to begin."""
from __future__ import annotations

import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from uopd import errors
from uopd.device import Device, OptionValue, connect

_START_SECONDS = 30.0


def serve(*, program: str | None = None, keep: bool = False, **options: OptionValue) -> Device:
    """A session at a server of this user on this machine, over a unix socket that only this user may open. One that
    runs already is used; else ``uopd`` is started: ``program``, the environment's UOPD_PROGRAM, or the one on PATH. It
    ends with this process, unless ``keep``. Raises FileNotFoundError where there is no such program, and Unavailable
    where it does not come up, with what it said."""
    folder = _folder()
    socket = folder / "uopd.sock"
    address = f"unix:{socket}"
    if socket.exists():
        try:
            return connect(address, **options)
        except errors.Unavailable:
            pass  # left by one that was killed
    path = program or os.environ.get("UOPD_PROGRAM") or shutil.which("uopd")
    if path is None:
        raise FileNotFoundError("there is no `uopd` on PATH; install the server, set UOPD_PROGRAM, or connect to one")
    _start(path, folder, socket, keep)
    return connect(address, **options)


def _folder() -> pathlib.Path:
    base = os.environ.get("XDG_RUNTIME_DIR") or os.path.join(tempfile.gettempdir(), f"uopd-{os.getuid()}")
    folder = pathlib.Path(base) / "uopd"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise PermissionError(f"{folder} is not this user's alone; remove it, or set XDG_RUNTIME_DIR")
    return folder


def _start(path: str, folder: pathlib.Path, socket: pathlib.Path, keep: bool) -> None:
    ready = folder / f"ready-{os.getpid()}.json"
    ready.unlink(missing_ok=True)
    log_path = folder / "uopd.log"
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            [path, "--listen", "none", "--metrics", "none", "--unix", str(socket), "--ready-file", str(ready)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)  # fmt: skip
    if not keep:
        atexit.register(_stop, process)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            json.loads(ready.read_text())
            ready.unlink()
            return
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.01)
    said = log_path.read_text(errors="replace")[-2000:]
    if process.poll() is None:
        process.kill()
    raise errors.Unavailable(f"`{path}` did not come up; it said:\n{said}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
