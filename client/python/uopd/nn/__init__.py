"""Layers and models.

    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    loss = model(x).cross_entropy(y)

Names, defaults and initial distributions are PyTorch's; what is random is drawn by ``uopd.manual_seed``'s generator, at
the server.
"""
from uopd.nn.activation import (
    ELU,
    GELU,
    Dropout,
    Flatten,
    Identity,
    LeakyReLU,
    LogSoftmax,
    Mish,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from uopd.nn.attention import MultiHeadAttention
from uopd.nn.conv import (
    AvgPool2d,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    MaxPool2d,
)
from uopd.nn.linear import Embedding, Linear
from uopd.nn.module import Module, ModuleList, Sequential
from uopd.nn.norm import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm

__all__ = [
    "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
    "ConvTranspose3d", "Dropout", "ELU", "Embedding", "Flatten", "GELU", "GroupNorm", "Identity", "LayerNorm",
    "LeakyReLU", "Linear", "LogSoftmax", "MaxPool2d", "Mish", "Module", "ModuleList", "MultiHeadAttention", "RMSNorm",
    "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Softplus", "Tanh",
]  # fmt: skip
