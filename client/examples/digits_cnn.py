#!/usr/bin/env python3
"""Trains a small convolutional network on the digits; AdamW, dropout, about 95 % of the test images right.

    client/examples/digits_cnn.py --epochs 30
"""
import digits
from digits import uopd

if __name__ == "__main__":
    args = digits.arguments(__doc__.splitlines()[0], epochs=30)
    if args.server:
        uopd.connect(args.server)
    images, labels = digits.load(args.data)
    uopd.manual_seed(args.seed)
    model = uopd.nn.Sequential(
        uopd.nn.Conv2d(1, 32, 3, padding=1),
        uopd.nn.ReLU(),
        uopd.nn.MaxPool2d(2),
        uopd.nn.Conv2d(32, 64, 3, padding=1),
        uopd.nn.ReLU(),
        uopd.nn.MaxPool2d(2),
        uopd.nn.Flatten(),
        uopd.nn.Dropout(0.25),
        uopd.nn.Linear(256, 128),
        uopd.nn.ReLU(),
        uopd.nn.Dropout(0.5),
        uopd.nn.Linear(128, 10),
    )
    digits.train(model, images.reshape(-1, 1, 8, 8), labels, args)
