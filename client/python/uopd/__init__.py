"""Tensors whose programs run on a uopd server.

    import uopd
    x = uopd.Tensor([[1.0, 2.0], [3.0, 4.0]])
    print((x * 2 + 1).numpy())

The first tensor finds a server (UOPD_SERVER), or starts one on this machine; ``uopd.connect("host:port")`` names one.
"""
from uopd import data, io, nn, optim
from uopd._base import grad, no_grad, realize
from uopd._dtype import bf16, bool_, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from uopd._elementwise import where
from uopd._joining import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_tensors,
    cat,
    concatenate,
    hstack,
    meshgrid,
    stack,
    vstack,
)
from uopd._linalg import bmm, dot, einsum, matmul, outer, tensordot, trace, vecdot
from uopd._tensor import Tensor
from uopd._version import __version__
from uopd.creation import (
    arange,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from uopd.device import Device, connect, default_device
from uopd.errors import JitError, UopdError
from uopd._jit import jit
from uopd.local import serve
from uopd.random import (
    Generator,
    bernoulli,
    integers,
    manual_seed,
    normal,
    permutation,
    rand,
    randint,
    randn,
    randperm,
    uniform,
)

__all__ = [
    "Device", "Generator", "JitError", "Tensor", "UopdError", "__version__", "arange", "atleast_1d", "atleast_2d",
    "atleast_3d", "bernoulli", "bf16", "bmm", "bool_", "broadcast_tensors", "cat", "concatenate", "connect", "data", "default_device", "dot",
    "einsum", "empty", "empty_like", "eye", "f16", "f32", "f64", "from_numpy", "full", "full_like", "grad",
    "hstack", "io", "i16", "i32", "i64", "i8", "integers", "jit", "linspace", "manual_seed", "matmul", "meshgrid",
    "nn", "no_grad", "normal", "ones", "ones_like", "optim", "outer", "permutation", "rand", "randint", "randn", "randperm",
    "realize", "serve", "stack", "tensor", "tensordot", "trace", "u16", "u32", "u64", "u8", "uniform", "vecdot",
    "vstack", "where", "zeros", "zeros_like",
]  # fmt: skip
