"""Tensors in files: safetensors, and NumPy's ``.npz`` and ``.npy``. No file is ever unpickled.

    uopd.io.save("model.safetensors", model.state_dict(), metadata={"epoch": "3"})
    model.load_state_dict(uopd.io.load("model.safetensors"))

A file is written beside its name and renamed into place: who reads it sees the old one or the new one, whole.

safetensors (the format of github.com/huggingface/safetensors) is: 8 bytes, little-endian, the length N of the header; N
bytes of JSON, an object of name -> {"dtype", "shape", "data_offsets": [begin, end]} and at most one "__metadata__", an
object of strings, padded with spaces; then the data, row-major and little-endian, which the offsets are relative to and
cover without gap or overlap. We pad the header to a multiple of 8 and write wider elements first (names in order within
a width), so that every tensor is aligned to its elements.
"""
from __future__ import annotations

import json
import math
import os
import pathlib
import secrets
import zipfile
from typing import IO, Any, Callable, Mapping, Union

import numpy as np

from uopd import _dtype
from uopd._base import TensorBase, leaf_of, realize
from uopd._build import base_buffer, reshape
from uopd._dtype import DType
from uopd._tensor import Tensor
from uopd.device import Buffer, Device, default_device, to_bytes

Path = Union[str, "os.PathLike[str]"]
Value = Union[TensorBase, np.ndarray[Any, Any]]

_NAME_OF = {
    _dtype.bool_: "BOOL", _dtype.u8: "U8", _dtype.i8: "I8", _dtype.u16: "U16", _dtype.i16: "I16", _dtype.u32: "U32",
    _dtype.i32: "I32", _dtype.u64: "U64", _dtype.i64: "I64", _dtype.f16: "F16", _dtype.bf16: "BF16",
    _dtype.f32: "F32", _dtype.f64: "F64",
}  # fmt: skip
_BY_NAME = {name: dtype for dtype, name in _NAME_OF.items()}
_METADATA = "__metadata__"
#: Longest header that is read, the limit of the format's own library.
_MAX_HEADER_BYTES = 100_000_000
_ALIGNMENT = 8


def save(path: Path, tensors: Mapping[str, Value], metadata: Mapping[str, str] | None = None) -> None:
    """Writes named tensors in the format of the name's ending: ``.safetensors`` or ``.npz`` (which has no metadata)."""
    if pathlib.Path(path).suffix == ".npz":
        if metadata:
            raise ValueError(f"{path}: an .npz file has no metadata; save as .safetensors")
        save_npz(path, tensors)
    else:
        _check_suffix(path)
        save_safetensors(path, tensors, metadata)


def load(path: Path, device: Device | None = None) -> dict[str, Tensor]:
    """Reads what ``save`` wrote, or any other file of these formats."""
    if pathlib.Path(path).suffix == ".npz":
        return load_npz(path, device)
    _check_suffix(path)
    return load_safetensors(path, device)


def _check_suffix(path: Path) -> None:
    if pathlib.Path(path).suffix != ".safetensors":
        raise ValueError(f"{path}: the ending says the format: .safetensors or .npz (.npy: save_npy, load_npy)")


# ---------------------------------------------------------------------- safetensors


def save_safetensors(path: Path, tensors: Mapping[str, Value], metadata: Mapping[str, str] | None = None) -> None:
    """Writes ``tensors`` and ``metadata`` (strings only) as a safetensors file. Lazy tensors are realized together."""
    _realize(tensors)
    kinds = {name: _dtype_of(value) for name, value in tensors.items()}
    names = sorted(tensors, key=lambda name: (-kinds[name].itemsize, name))
    header: dict[str, Any] = {}
    if metadata:
        for key, text in metadata.items():
            if not isinstance(key, str) or not isinstance(text, str):
                raise TypeError(f"metadata is of strings; got {key!r}: {text!r}")
        header[_METADATA] = dict(metadata)
    at = 0
    for name in names:
        if not isinstance(name, str) or name == _METADATA:
            raise ValueError(f"{name!r} is no name for a tensor")
        shape = list(tensors[name].shape)
        end = at + math.prod(shape) * kinds[name].itemsize
        header[name] = {"dtype": _NAME_OF[kinds[name]], "shape": shape, "data_offsets": [at, end]}
        at = end
    encoded = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)

    def write(file: IO[bytes]) -> None:
        file.write(len(encoded).to_bytes(8, "little"))
        file.write(encoded)
        for name in names:
            file.write(_bytes_of(tensors[name], kinds[name]))

    _replace(path, write)


def load_safetensors(path: Path, device: Device | None = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file, in the order of its header; each goes to the server when it is first used.
    Raises ValueError where the file is not what the format says."""
    device = device or default_device()
    with open(path, "rb") as file:
        entries, _, start = _read_header(path, file)
        loaded = {}
        for name, (dtype, shape, begin, end) in entries.items():
            file.seek(start + begin)
            data = file.read(end - begin)
            if len(data) != end - begin:
                raise ValueError(f"{path}: ends within {name!r}")
            if dtype is _dtype.bool_ and data.strip(b"\0\1"):
                raise ValueError(f"{path}: {name!r} is BOOL, but has bytes other than 0 and 1")
            loaded[name] = _tensor(data, dtype, shape, device)
    return loaded


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file; reads no tensor."""
    with open(path, "rb") as file:
        return _read_header(path, file)[1]


_Entry = tuple[DType, tuple[int, ...], int, int]


def _read_header(path: Path, file: IO[bytes]) -> tuple[dict[str, _Entry], dict[str, str], int]:
    """Entries by name, metadata, and where the data begins."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError(f"{path}: is no safetensors file, or is cut off: its header would be {length} bytes long, the "
                         f"file is {size}")  # fmt: skip
    if length > _MAX_HEADER_BYTES:
        raise ValueError(f"{path}: a header of {length} bytes is over the format's limit of {_MAX_HEADER_BYTES}")
    text = file.read(length)
    if text[:1] != b"{":
        raise ValueError(f"{path}: is no safetensors file: its header does not begin with '{{'")
    try:
        header = json.loads(text.decode(), object_pairs_hook=lambda pairs: _once(path, pairs),
                            parse_constant=lambda word: _refuse(f"{path}: {word} in the header"))  # fmt: skip
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: the header is not JSON: {error}") from None
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"{path}: {_METADATA} is not an object of strings")
    entries = {name: _entry(path, name, value) for name, value in header.items()}
    at = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != at:
            what = "overlaps the one before" if begin < at else f"begins at {begin}, which leaves a gap after {at}"
            raise ValueError(f"{path}: the data of {name!r} {what}")
        at = end
    if at != size - 8 - length:
        raise ValueError(f"{path}: the header describes {at} bytes of data, the file has {size - 8 - length}")
    return entries, metadata, 8 + length


def _entry(path: Path, name: str, value: Any) -> _Entry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{path}: {name!r} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BY_NAME:
        raise ValueError(f"{path}: {name!r} is of dtype {dtype!r}; there are {', '.join(sorted(_BY_NAME))}")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"{path}: {name!r} has shape {shape} and offsets {offsets}; they are lists of sizes")
    nbytes = math.prod(shape) * _BY_NAME[dtype].itemsize
    if offsets[1] - offsets[0] != nbytes:
        raise ValueError(f"{path}: {name!r}, {dtype} of shape {shape}, takes {nbytes} bytes, but its offsets {offsets} "
                         f"are {offsets[1] - offsets[0]} apart")  # fmt: skip
    return _BY_NAME[dtype], tuple(shape), offsets[0], offsets[1]


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)


def _once(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"{path}: a name is twice in the header")
    return made


def _refuse(message: str) -> Any:
    raise ValueError(message)


# ---------------------------------------------------------------------- NumPy's formats


def save_npz(path: Path, tensors: Mapping[str, Value]) -> None:
    """Writes ``tensors`` as an uncompressed ``.npz``; bf16 as float32, which holds it exactly."""
    _realize(tensors)

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, value in tensors.items():
                with archive.open(name + ".npy", "w", force_zip64=True) as member:
                    _write_npy(member, value)

    _replace(path, write)


def load_npz(path: Path, device: Device | None = None) -> dict[str, Tensor]:
    """The arrays of an ``.npz`` file. Raises ValueError where one holds Python objects or a dtype that we have not."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path}: is no .npz file, which is a zip archive")
    with np.load(path, allow_pickle=False) as archive:
        return {name: _of_array(path, archive[name], device) for name in archive.files}


def save_npy(path: Path, value: Value) -> None:
    """Writes one tensor as ``.npy``; bf16 as float32."""
    _replace(path, lambda file: _write_npy(file, value))


def load_npy(path: Path, device: Device | None = None) -> Tensor:
    """The array of an ``.npy`` file."""
    return _of_array(path, np.load(path, allow_pickle=False), device)


def _of_array(path: Path, array: Any, device: Device | None) -> Tensor:
    try:
        return Tensor(array, device=device)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from None


def _write_npy(file: IO[bytes], value: Value) -> None:
    array = np.asarray(value.numpy() if isinstance(value, TensorBase) else value)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    np.lib.format.write_array(file, array, allow_pickle=False)  # type: ignore[no-untyped-call]


# ---------------------------------------------------------------------- both


def _realize(tensors: Mapping[str, Value]) -> None:
    by_device: dict[int, list[TensorBase]] = {}
    for value in tensors.values():
        if isinstance(value, TensorBase):
            by_device.setdefault(id(value.device), []).append(value)
    for together in by_device.values():
        realize(*together)


def _dtype_of(value: Value) -> DType:
    return value.dtype if isinstance(value, TensorBase) else _dtype.dtype_of(value.dtype)


def _bytes_of(value: Value, dtype: DType) -> bytes:
    if not isinstance(value, TensorBase):
        return to_bytes(value, dtype)
    base = base_buffer(value.realize().node)
    assert base is not None
    return bytes(base.buffer.read())


def _tensor(data: bytes, dtype: DType, shape: tuple[int, ...], device: Device) -> Tensor:
    buffer = Buffer(device, dtype, math.prod(shape), host=data)
    return Tensor._of(reshape(leaf_of(buffer), shape), device)


def _replace(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    target = pathlib.Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
