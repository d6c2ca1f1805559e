"""What the two digits programs share: the data, the training loop, the command line."""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import uopd
except ImportError:  # not installed: the one of this repository
    sys.path.insert(0, str(ROOT / "client/python"))
    import uopd

TRAIN = 1200  # the first so many images; the rest, by other writers, is the test


def arguments(description: str, epochs: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--server", help="host:port or unix:path; by default a local server, started if none runs")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "tests/data/digits",
                        help="folder of images.npy and labels.npy (default: %(default)s)")  # fmt: skip
    parser.add_argument("--epochs", type=int, default=epochs, help="default: %(default)s")
    parser.add_argument("--batch", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--lr", type=float, default=1e-3, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of parameters, dropout and order; default: %(default)s")
    parser.add_argument("--no-jit", action="store_true", help="build every step's graph anew")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE", help="write the model as .safetensors or .npz")
    parser.add_argument("--json", action="store_true", help="print nothing but one JSON object at the end")
    return parser.parse_args()


def load(folder: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Images f32[n,8,8] in 0..1, and labels i32[n]."""
    images = np.load(folder / "images.npy").astype(np.float32) / 16
    return images, np.load(folder / "labels.npy").astype(np.int32)


def train(model: "uopd.nn.Module", images: np.ndarray, labels: np.ndarray, args: argparse.Namespace) -> None:
    """Trains ``model`` on the first images, tests it on the rest, and reports."""
    device = uopd.default_device()
    optimizer = uopd.optim.AdamW(model.parameters(), lr=args.lr)
    # The data goes to the server once; a step sends the indices of its batch.
    x, y = uopd.Tensor(images[:TRAIN]).realize(), uopd.Tensor(labels[:TRAIN]).realize()
    x_test, y_test = uopd.Tensor(images[TRAIN:]).realize(), uopd.Tensor(labels[TRAIN:]).realize()

    def step(index: uopd.Tensor) -> uopd.Tensor:
        loss = model(x[index]).cross_entropy(y[index])
        loss.backward()
        optimizer.step(loss)
        optimizer.zero_grad()
        return loss

    def accuracy() -> float:
        model.eval()
        right = (model(x_test).argmax(1) == y_test).float().mean().item()
        model.train()
        return float(right)

    run = step if args.no_jit else uopd.jit(step)
    order = uopd.data.Generator(args.seed)
    losses: list[float] = []
    start = time.monotonic()
    for epoch in range(1, args.epochs + 1):
        began = time.monotonic()
        # Losses stay at the server until the epoch ends: nothing waits for them.
        waiting = [run(uopd.Tensor(index.astype(np.int32))) for index in order.batches(TRAIN, args.batch)]
        epoch_losses = [float(loss.item()) for loss in waiting]
        losses += epoch_losses
        if not args.json:
            rate = len(epoch_losses) / (time.monotonic() - began)
            print(f"epoch {epoch:3}  loss {np.mean(epoch_losses):.4f}  test accuracy {accuracy():.2%}  "
                  f"{rate:6.1f} steps/s  {totals(device)}", flush=True)  # fmt: skip
    seconds = time.monotonic() - start
    right = accuracy()
    if args.save:
        uopd.io.save(args.save, model.state_dict())
    if args.json:
        print(json.dumps({"losses": losses, "accuracy": right, "seconds": seconds,
                          "kernels_compiled": device.totals.kernels_compiled,
                          "plans_compiled": device.totals.plans_compiled}))  # fmt: skip
    else:
        print(f"{len(losses)} steps in {seconds:.1f} s; test accuracy {right:.2%}")


def totals(device: "uopd.Device") -> str:
    return f"kernels: {device.totals.kernels_compiled} compiled, {device.totals.kernels_run} run"
