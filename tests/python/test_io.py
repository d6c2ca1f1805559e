"""Files: written byte for byte as the formats say, read by an independent reader, and refused where they are wrong."""
import json
import os
import struct

import numpy as np
import pytest

import uopd
from uopd import io
from uopd._dtype import ALL, bf16, to_bf16_bits

# By hand, from the format's specification: three tensors (one of them empty) and metadata.
_HEADER = (b'{"__metadata__":{"who":"me"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},'
           b'"empty":{"dtype":"I16","shape":[0,3],"data_offsets":[16,16]},'
           b'"b":{"dtype":"U8","shape":[],"data_offsets":[16,17]}}')  # fmt: skip
_DATA = struct.pack("<4f", 1.0, -2.0, 0.5, 3.0) + b"\x07"


def by_hand(header: bytes, data: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def parse(raw: bytes):
    """A reader of its own: NumPy arrays by name (bf16 as uint16 patterns), metadata, and the offsets."""
    (n,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + n])
    kinds = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
             "I64": "<i8", "F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}  # fmt: skip
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, e in header.items():
        begin, end = e["data_offsets"]
        arrays[name] = np.frombuffer(raw[8 + n + begin : 8 + n + end], kinds[e["dtype"]]).reshape(e["shape"])
    return arrays, metadata, header, 8 + n


def samples():
    rng = np.random.default_rng(3)
    for dtype in ALL:
        if dtype.is_float:
            values = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-3])
        elif dtype is uopd.bool_:
            values = rng.integers(0, 2, 8).astype(bool)
        else:
            info = np.iinfo(dtype.numpy)
            values = np.array([info.min, info.max, 0, 1, 2, 3, 4, 5], dtype.numpy)
        yield dtype, values.reshape(2, 4)


def test_reads_what_was_written_by_hand(tmp_path):
    path = tmp_path / "hand.safetensors"
    path.write_bytes(by_hand(_HEADER, _DATA))
    loaded = io.load(path)
    assert list(loaded) == ["w", "empty", "b"]
    assert loaded["w"].tolist() == [[1.0, -2.0], [0.5, 3.0]] and loaded["w"].dtype is uopd.f32
    assert loaded["empty"].shape == (0, 3) and loaded["empty"].dtype is uopd.i16
    assert loaded["b"].item() == 7 and loaded["b"].shape == ()
    assert io.read_metadata(path) == {"who": "me"}


def test_writes_byte_for_byte_what_the_format_says(tmp_path):
    path = tmp_path / "t.safetensors"
    io.save(path, {"b": uopd.Tensor(np.uint8(7)), "empty": np.zeros((0, 3), np.int16),
                   "w": uopd.Tensor([[1.0, -2.0], [0.5, 3.0]])}, {"who": "me"})  # fmt: skip
    header = _HEADER + b" " * (-len(_HEADER) % 8)
    assert path.read_bytes() == by_hand(header, _DATA)


def test_every_dtype_round_trips_and_is_read_by_others(tmp_path):
    path = tmp_path / "all.safetensors"
    values = {dtype.name: (dtype, array) for dtype, array in samples()}
    io.save(path, {name: uopd.Tensor(array, dtype) for name, (dtype, array) in values.items()})
    arrays, metadata, header, start = parse(path.read_bytes())
    assert metadata == {} and set(arrays) == set(values)
    loaded = io.load(path)
    for name, (dtype, array) in values.items():
        bits = to_bf16_bits(array.astype(np.float32)) if dtype is bf16 else array.astype(dtype.numpy)
        assert arrays[name].tobytes() == bits.tobytes(), name
        assert (start + header[name]["data_offsets"][0]) % dtype.itemsize == 0, f"{name} is not aligned"
        assert loaded[name].dtype is dtype
        np.testing.assert_array_equal(loaded[name].numpy(), uopd.Tensor(array, dtype).numpy())
    # What is loaded works at the server too, and saving it again gives the same bytes.
    assert (loaded["i32"] + 0).numpy().tolist() == values["i32"][1].tolist()
    io.save(tmp_path / "again.safetensors", loaded)
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def entry(dtype="U8", shape=(4,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize("raw,message", [
    (b"", "no safetensors"),
    (b"\1\0\0", "no safetensors"),
    (struct.pack("<Q", 1 << 40) + b"{}", "cut off"),
    (by_hand(b"[]", b""), "does not begin"),
    (by_hand(b" {}", b""), "does not begin"),
    (by_hand(b"{'a':1}", b""), "not JSON"),
    (by_hand(b'{"\xff":1}', b""), "not JSON"),
    (by_hand(b'{"a":NaN}', b""), "NaN"),
    (by_hand(b'{"a":' + b"[" * 100_000, b""), "not JSON"),
    (by_hand(b'{"__metadata__":{"a":1}}', b""), "object of strings"),
    (by_hand(json.dumps({"a": 3}).encode(), b""), "not described"),
    (by_hand(json.dumps({"a": entry(dtype="F8_E5M2")}).encode(), bytes(4)), "F8_E5M2"),
    (by_hand(json.dumps({"a": entry(shape=(-4,))}).encode(), bytes(4)), "sizes"),
    (by_hand(json.dumps({"a": entry(shape=(True, 4))}).encode(), bytes(4)), "sizes"),
    (by_hand(json.dumps({"a": entry(shape=(4.0,))}).encode(), bytes(4)), "sizes"),
    (by_hand(json.dumps({"a": entry(shape=(3,))}).encode(), bytes(4)), "takes 3 bytes"),
    (by_hand(json.dumps({"a": entry(shape=(1 << 62, 8))}).encode(), bytes(4)), "takes"),
    (by_hand(json.dumps({"a": entry(offsets=(4, 0))}).encode(), bytes(4)), "apart"),
    (by_hand(json.dumps({"a": entry(), "b": entry()}).encode(), bytes(4)), "overlaps"),
    (by_hand(json.dumps({"a": entry(), "b": entry(offsets=(2, 6))}).encode(), bytes(6)), "overlaps"),
    (by_hand(json.dumps({"a": entry(), "b": entry(offsets=(5, 9))}).encode(), bytes(9)), "gap"),
    (by_hand(json.dumps({"a": entry(offsets=(1, 5))}).encode(), bytes(5)), "gap"),
    (by_hand(json.dumps({"a": entry()}).encode(), bytes(5)), "has 5"),
    (by_hand(json.dumps({"a": entry()}).encode(), bytes(3)), "has 3"),
    (by_hand(json.dumps({"a": entry(dtype="BOOL")}).encode(), b"\0\1\2\1"), "BOOL"),
    (by_hand(b'{"a":%b,"a":%b}' % ((json.dumps(entry()).encode(),) * 2), bytes(4)), "twice"),
])  # fmt: skip
def test_refuses_what_is_wrong(tmp_path, raw, message):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=message):
        io.load(path)


def test_refuses_to_write_what_cannot_be_read(tmp_path):
    with pytest.raises(TypeError, match="metadata"):
        io.save(tmp_path / "a.safetensors", {}, {"epoch": 3})
    with pytest.raises(ValueError, match="__metadata__"):
        io.save(tmp_path / "a.safetensors", {"__metadata__": np.zeros(2)})
    with pytest.raises(ValueError, match="ending"):
        io.save(tmp_path / "a.pt", {})
    with pytest.raises(TypeError, match="not a dtype"):
        io.save(tmp_path / "a.safetensors", {"a": np.array([None])})
    assert list(tmp_path.iterdir()) == []  # and leaves nothing behind


def test_a_failed_save_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.safetensors"
    io.save(path, {"a": np.arange(3)})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="pickle"):
        io.save_npz(path, {"good": np.zeros(1000), "bad": np.array([None])})
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.safetensors"]


def test_npz_and_npy_go_both_ways(tmp_path):
    path = tmp_path / "all.npz"
    values = {dtype.name: (dtype, array) for dtype, array in samples()}
    io.save(path, {name: uopd.Tensor(array, dtype) for name, (dtype, array) in values.items()})
    with np.load(path, allow_pickle=False) as archive:
        for name, (dtype, array) in values.items():
            np.testing.assert_array_equal(archive[name], uopd.Tensor(array, dtype).numpy())
    loaded = io.load(path)
    assert loaded["i8"].dtype is uopd.i8 and loaded["bf16"].dtype is uopd.f32
    np.savez_compressed(tmp_path / "other.npz", x=np.arange(6.0, dtype=">f4").reshape(2, 3).T)
    assert io.load(tmp_path / "other.npz")["x"].tolist() == [[0, 3], [1, 4], [2, 5]]

    io.save_npy(tmp_path / "x.npy", uopd.Tensor(3.5))
    assert np.load(tmp_path / "x.npy") == np.float32(3.5)
    np.save(tmp_path / "y.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert io.load_npy(tmp_path / "y.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_pickles_stay_closed(tmp_path):
    np.save(tmp_path / "a.npy", np.array([print]), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        io.load_npy(tmp_path / "a.npy")
    np.savez(tmp_path / "a.npz", a=np.array([None]))
    with pytest.raises(ValueError, match="allow_pickle"):
        io.load(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="zip"):
        io.load(tmp_path / "b.npz")
