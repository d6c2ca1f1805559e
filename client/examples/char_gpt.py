#!/usr/bin/env python3
"""Trains a small GPT on the licence texts of a Debian system, character by character, and lets it write.

    client/examples/char_gpt.py --steps 1500 --save gpt.safetensors
    client/examples/char_gpt.py --steps 0 --load gpt.safetensors --sample 400
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

try:
    import uopd
except ImportError:  # not installed: the one of this repository
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    import uopd
from uopd import nn

BLOCK = 2048  # characters; every tenth block is held out


class Block(nn.Module):
    """Attention, then a perceptron of one hidden layer; each normalizes its input and adds to it."""

    def __init__(self, width: int, heads: int) -> None:
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiHeadAttention(width, heads, is_causal=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

    def forward(self, x: uopd.Tensor) -> uopd.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Tokens i32[batch, t <= context] -> logits of the next one, f32[batch, t, vocabulary]."""

    def __init__(self, vocabulary: int, context: int, width: int, heads: int, layers: int) -> None:
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        for table in (self.token, self.position):
            with uopd.no_grad():
                table.weight.assign(table.weight * 0.02)

    def forward(self, tokens: uopd.Tensor) -> uopd.Tensor:
        x = self.token(tokens) + self.position.weight[: tokens.shape[-1]]
        return self.head(self.norm(self.blocks(x)))


class Text:
    """The characters of plain files as numbers: ``train``, all but every tenth block, and those, ``held_out``."""

    def __init__(self, folder: pathlib.Path) -> None:
        files = sorted(f for f in folder.iterdir() if f.is_file() and not f.is_symlink())
        text = "".join(f.read_text(encoding="utf-8", errors="replace") for f in files)
        self.characters = sorted(set(text))
        number = {c: i for i, c in enumerate(self.characters)}
        tokens = np.array([number[c] for c in text], np.int32)
        blocks = [tokens[at : at + BLOCK] for at in range(0, len(tokens), BLOCK)]
        self.train = np.concatenate([b for i, b in enumerate(blocks) if i % 10 != 9])
        self.held_out = [b for i, b in enumerate(blocks) if i % 10 == 9]

    def batch(self, order: uopd.data.Generator, size: int, context: int) -> np.ndarray:
        """Random pieces of the training text, each of ``context`` characters and the next."""
        starts = [order.below(len(self.train) - context) for _ in range(size)]
        return np.stack([self.train[s : s + context + 1] for s in starts])

    def test_batches(self, size: int, context: int) -> list[np.ndarray]:
        """The held-out blocks in pieces; the few that do not fill a batch are left out."""
        pieces = [b[at : at + context + 1] for b in self.held_out for at in range(0, len(b) - context, context)]
        return [np.stack(pieces[at : at + size]) for at in range(0, len(pieces) - size + 1, size)]


def loss_of(model: GPT, tokens: uopd.Tensor) -> uopd.Tensor:
    logits = model(tokens[:, :-1])
    return logits.flatten(0, 1).cross_entropy(tokens[:, 1:].flatten())


def validate(model: GPT, text: Text, batch: int, context: int) -> float:
    with uopd.no_grad():
        losses = [loss_of(model, uopd.Tensor(b)).item() for b in text.test_batches(batch, context)]
    return float(np.mean(losses))


def choose(logits: np.ndarray, order: uopd.data.Generator, temperature: float) -> int:
    """A token by its probability."""
    e = np.exp((logits.astype(np.float64) - logits.max()) / temperature)
    return int(np.searchsorted(np.cumsum(e), order.next() / 2**64 * e.sum(), side="right").clip(0, len(e) - 1))


def write_fixed(model: GPT, tokens: list[int], count: int, context: int, pick) -> list[int]:
    """``count`` tokens more. The context always has its full length, filled up at the end, where no position before
    sees it; which position is read is data. So all tokens are one plan."""
    tokens = list(tokens)
    for _ in range(count):
        seen = tokens[-context:]
        padded = np.array([seen + [0] * (context - len(seen))], np.int32)
        with uopd.no_grad():
            logits = model(uopd.Tensor(padded))[0]
            row = logits[uopd.Tensor(np.array([len(seen) - 1], np.int32))]
        tokens.append(pick(row.numpy()[0]))
    return tokens


def write_growing(model: GPT, tokens: list[int], count: int, context: int, pick) -> list[int]:
    """``count`` tokens more, each from a context just as long as it is: less arithmetic, but every length is a shape,
    and so a plan of its own, until the context is full."""
    tokens = list(tokens)
    for _ in range(count):
        with uopd.no_grad():
            logits = model(uopd.Tensor(np.array([tokens[-context:]], np.int32)))[0, -1]
        tokens.append(pick(logits.numpy()))
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", help="host:port or unix:path; by default a local server, started if none runs")
    parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path("/usr/share/common-licenses"),
                        help="folder of plain files (default: %(default)s)")  # fmt: skip
    parser.add_argument("--steps", type=int, default=1500, help="default: %(default)s")
    parser.add_argument("--batch", type=int, default=32, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of parameters, order and sampling; default: %(default)s")
    parser.add_argument("--lr", type=float, default=1e-3, help="the highest, after 100 steps; default: %(default)s")
    parser.add_argument("--layers", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--heads", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--width", type=int, default=128, help="default: %(default)s")
    parser.add_argument("--context", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--every", type=int, default=50, help="steps from one line of progress to the next")
    parser.add_argument("--validate", type=int, default=250, metavar="STEPS", help="steps between validations; 0: none")
    parser.add_argument("--no-jit", action="store_true", help="build every step's graph anew")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE", help="write the model as .safetensors or .npz")
    parser.add_argument("--load", type=pathlib.Path, metavar="FILE", help="start from a model that was saved")
    parser.add_argument("--sample", type=int, default=200, help="characters to write at the end; default: %(default)s")
    parser.add_argument("--grow", type=int, default=0, metavar="N",
                        help="write N of them with a growing context first; each length is compiled once")  # fmt: skip
    parser.add_argument("--prompt", default="The licensor", help="what to begin with (default: %(default)r)")
    parser.add_argument("--temperature", type=float, default=0.8, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print nothing but one JSON object at the end")
    args = parser.parse_args()

    def say(line: str) -> None:
        if not args.json:
            print(line, flush=True)

    device = uopd.connect(args.server) if args.server else uopd.default_device()
    text = Text(args.text)
    uopd.manual_seed(args.seed)
    order = uopd.data.Generator(args.seed)
    model = GPT(len(text.characters), args.context, args.width, args.heads, args.layers)
    if args.load:
        model.load_state_dict(uopd.io.load(args.load))
    optimizer = uopd.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.99), weight_decay=0.1)
    parameters = sum(p.numel() for p in model.parameters())
    say(f"{len(text.train)} characters of {len(text.characters)} kinds; {parameters} parameters")

    def step(tokens: uopd.Tensor) -> uopd.Tensor:
        loss = loss_of(model, tokens)
        loss.backward()
        uopd.optim.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(loss)
        optimizer.zero_grad()
        return loss

    run = step if args.no_jit else uopd.jit(step)
    warmup = min(100, args.steps // 10)
    schedule = uopd.optim.WarmupCosine(optimizer, warmup, max(args.steps, 1), min_factor=0.1)
    losses: list[float] = []
    waiting: list[uopd.Tensor] = []
    start = began = time.monotonic()
    for t in range(1, args.steps + 1):
        waiting.append(run(uopd.Tensor(text.batch(order, args.batch, args.context))))
        schedule.step()
        if t % args.every == 0 or t == args.steps:
            new = [float(loss.item()) for loss in waiting]  # read together: no step waits for its loss
            losses += new
            waiting.clear()
            rate = len(new) / (time.monotonic() - began)
            say(f"step {t:5}  loss {np.mean(new):.4f}  {rate:6.2f} steps/s  kernels: {device.totals.kernels_compiled} "
                f"compiled, {device.totals.kernels_run} run; plans: {device.totals.plans_compiled} compiled, "
                f"{device.totals.plan_hits} hit")  # fmt: skip
            began = time.monotonic()
        if args.validate and t % args.validate == 0 and t < args.steps:
            say(f"            validation loss {validate(model, text, args.batch, args.context):.4f}")
            began = time.monotonic()
    result = {"losses": losses, "seconds": time.monotonic() - start}
    if args.validate:
        result["validation_loss"] = validate(model, text, args.batch, args.context)
        say(f"validation loss {result['validation_loss']:.4f}, after {result['seconds']:.1f} s of training")
    if args.save:
        uopd.io.save(args.save, model.state_dict(), {"steps": str(args.steps), "characters": "".join(text.characters)})

    tokens = [text.characters.index(c) for c in args.prompt if c in text.characters] or [0]
    grown = write_growing(model, tokens, args.grow, args.context, lambda row: choose(row, order, args.temperature))
    rest = max(0, args.sample - args.grow)
    plans = device.totals.plans_compiled
    tokens = write_fixed(model, grown, rest, args.context, lambda row: choose(row, order, args.temperature))
    result["sample"] = "".join(text.characters[i] for i in tokens)
    say(f"\n{result['sample']}\n")
    if rest:
        say(f"{rest} characters of a fixed context: {device.totals.plans_compiled - plans} plan compiled")
    result["kernels_compiled"], result["plans_compiled"] = device.totals.kernels_compiled, device.totals.plans_compiled
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
