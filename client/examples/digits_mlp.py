#!/usr/bin/env python3
"""Trains a multi-layer perceptron, 64-128-64-10, on the digits; AdamW, about 93 % of the test images right.

    client/examples/digits_mlp.py --epochs 60
"""
import digits
from digits import uopd

if __name__ == "__main__":
    args = digits.arguments(__doc__.splitlines()[0], epochs=60)
    if args.server:
        uopd.connect(args.server)
    images, labels = digits.load(args.data)
    uopd.manual_seed(args.seed)
    model = uopd.nn.Sequential(
        uopd.nn.Linear(64, 128),
        uopd.nn.ReLU(),
        uopd.nn.Linear(128, 64),
        uopd.nn.ReLU(),
        uopd.nn.Linear(64, 10),
    )
    digits.train(model, images.reshape(-1, 64), labels, args)
