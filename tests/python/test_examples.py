"""The example programs, cut short, against the server of the tests."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(server, program, *flags):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client/python")}
    command = [sys.executable, str(ROOT / "client/examples" / program), "--server", "unix:" + server["unix"], *flags]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", ["digits_mlp.py", "digits_cnn.py", "char_gpt.py"])
def test_help(server, program):
    assert "--seed" in run(server, program, "--help")


def test_digits_mlp(server, tmp_path):
    path = tmp_path / "mlp.npz"
    result = json.loads(run(server, "digits_mlp.py", "--epochs", "4", "--lr", "4e-3", "--json", "--save", str(path)))
    losses = result["losses"]
    assert len(losses) == 4 * 18
    assert np.mean(losses[-18:]) < 0.3 * losses[0] and result["accuracy"] > 0.8
    assert np.load(path)["0.weight"].shape == (128, 64)
    # The same seed is the same curve, with and without jit.
    again = json.loads(run(server, "digits_mlp.py", "--epochs", "1", "--lr", "4e-3", "--json", "--no-jit"))
    np.testing.assert_allclose(again["losses"], losses[:18], rtol=1e-4)


def test_char_gpt(server, tmp_path):
    path = tmp_path / "gpt.safetensors"
    text = tmp_path / "text"
    text.mkdir()
    (text / "a").write_text("the quick brown fox jumps over the lazy dog. " * 1000)
    (text / "b").symlink_to("a")
    small = ["--text", str(text), "--layers", "1", "--heads", "2", "--width", "16", "--context", "16", "--batch", "4"]
    result = json.loads(run(server, "char_gpt.py", *small, "--steps", "40", "--lr", "1e-2", "--save", str(path),
                            "--json", "--sample", "12", "--grow", "3", "--prompt", "the "))  # fmt: skip
    losses = result["losses"]
    assert len(losses) == 40 and np.mean(losses[-5:]) < 0.8 * losses[0]
    assert result["validation_loss"] < losses[0]
    assert result["sample"].startswith("the ") and len(result["sample"]) == 4 + 12
    loaded = run(server, "char_gpt.py", *small, "--steps", "0", "--load", str(path), "--sample", "5")
    assert f"validation loss {result['validation_loss']:.4f}" in loaded
    assert "1 plan compiled" in loaded or "0 plan compiled" in loaded
