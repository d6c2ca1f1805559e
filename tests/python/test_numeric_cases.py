"""Every case of tests/data/numeric through the library: operands as buffers and as constants, at each optimization level,
with one and with two threads. Results are judged as tests/client/numeric_cases_test.cpp does; what may be answered in
several ways ("policy") has to be answered in one way everywhere."""
import inspect
import itertools
import json
import math
import pathlib

import conftest
import numpy as np
import pytest
import uopd
from uopd import _build

DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "data/numeric"
ROWS = {row["id"]: row for row in json.loads((DIRECTORY / "cases.json").read_text())}
#: Operands of up to so many elements are also given as constants.
MOST_CONSTANTS = 40

i32, i64, f32 = uopd.i32, uopd.i64, uopd.f32


def array_of(json_value):
    if "file" in json_value:
        return np.load(DIRECTORY / json_value["file"])
    return np.array([float(v) if isinstance(v, str) else v for v in json_value["data"]],
                    json_value["dtype"]).reshape(json_value["shape"])  # fmt: skip


def constants(array):
    """The tensor of an array as a graph without buffers: one CONST an element."""
    like = uopd.zeros(1)
    dtype = uopd.Tensor(array[..., None][..., :0]).dtype
    scalars = [type(like)._of(_build.constant(v.item(), dtype), like.device) for v in array.reshape(-1)]
    return uopd.stack(scalars).reshape(array.shape)


# ---------------------------------------------------------------------- the cases
# One function a case, named by its id; parameters are its operands. What NumPy gives as int64 (an index, a count) is cast.


def case_1(x):
    return x.max()


def case_3(x):
    return uopd.stack([x.max(0), x.min(0)])


def case_5(x):
    return x.argmax().cast(i64)


def case_7(x):
    return x * 0.0


def case_9(x):
    return x / x


def case_11(x, i):
    return x[i]


def case_13(x):
    return -x


def case_15(x):
    return x + 0.0


def case_17(a, b):
    return a.copysign(b)


def case_19(x):
    return x.clip(-1, 1)


def case_21(x):
    return (x * x).abs().sqrt()


def case_23(x):
    return x.heaviside(0.5)


def case_25(x):
    return x.softmax()


case_27 = case_25


def case_29(a, b):
    seen = (b != 0).where(a, -math.inf)
    return (b * (seen - seen.max()).exp()).sum().log() + seen.max()


def case_31(x, m):
    return m.where(m.where(x, -math.inf).softmax(), 0.0)


def case_33(x):
    return x.layer_norm(eps=0.0)


def case_35(a, b):
    return a // b


def case_37(a, b):
    return a**b


def case_39(x):
    return x.max()


def case_41(x):
    return x.argmin(1).reshape(0, 3).cast(i64)


def case_43(x):
    return uopd.stack([x.var(correction=d) for d in (4, 5, 6)])


def case_45(x):
    return x.roll(1, 1)


def case_47(x):
    return x.cumsum(0)


def case_49(x):
    return x.sum(axis=0)


def case_51(x):
    return x[:10]


def case_53(a, b):
    return uopd.stack([a.tdiv(b), a.fmod(b)])


def case_55(a):
    return a * 5 % 12 % 5


def case_57(g):
    thirds = g // 3 % 224 * 3
    return uopd.stack([thirds + g // 600 * 600, g // 672 * 700 + thirds, thirds + g % 3 + g // 672 * 672])


def case_59(x):
    y = x * 48 + 241
    return uopd.stack([y.tdiv(16), y // 16])


def case_61():
    return uopd.full((), 7, dtype=i32) % uopd.full((), 3, dtype=i32)


def case_63(a, b):
    return uopd.stack([a // b, a % b])


case_65 = case_63


def case_67(x):
    return uopd.stack([x // x, x % x])


def case_69(a, b):
    return uopd.stack([a + b, a * b])


def case_71(c, x, y):
    return uopd.stack([(c * (x + y)).cast(i32), (c * x + c * y).cast(i32)])


def case_73(a, s):
    return uopd.stack([a << s, a >> s])


def case_75(a, s):
    return a >> s


def case_77(x):
    return uopd.stack([x**e for e in (0.5, 1.5, 2.0, -1.0, 0.0)])


def case_79(x):
    return x.cast(i64).sum()


def case_81(x):
    return (x != 0).cumsum(0) != 0


def case_83(x):
    return uopd.stack([x.sum(), x.max(), x.min()])


def case_85(x):
    return x + (2**32 - 1)


def case_87(x, j):
    return x[999, j]


def case_89(a, b):
    return uopd.stack([a.argmax(), a.argmin(), b.argmax(), b.argmin()]).cast(i64)


def case_91(x):
    return x.argmax(0).cast(i64)


def case_93(x):
    return x.min()


def case_95(x):
    return x.sort()[0]


def case_97(x):
    return x.cast(i32)


def case_99(x):
    return x.cast(uopd.bf16).cast(f32)


case_101 = case_99


def case_103(x):
    return (x * 200).cast(f32)


def case_105(x):
    return x.exp2()


def case_107(x):
    return x.sin()


def case_109(x):
    return x.log2()


def case_111(a, b):
    return uopd.linspace(a, b, 10)[[0, -1]]


def case_113(x):
    return x.ldexp(128)


def case_114(x):
    return x.mean()


def case_115(x):
    return (x[:, 7:22] == 0).where(42.0, x[:, :15]).pad([(0, 0), (0, 15)], value=42.0)


def case_117(b):
    return b.pad([(1, 1), (0, 0)]).sum(1) + b.pad([(1, 2), (0, 0)])[0:6].sum(1)


def case_119(x):
    return uopd.stack([(1 / x.pad((0, 1))).sum(), (1 / x).pad((0, 1)).sum()])


def case_121():
    return uopd.ones(4).pad(1)


def case_123(x):
    return x.pad([(1, 0), (1, 0)], mode="wrap")[:-1, :-1]


def case_125(x):
    return x[:, None, :].expand(2, 3, 4)[::-1, :, ::-1] + 0


def case_127(a, b):
    return (a.T[:, :, None] * b.T[None, :, :]).sum(1)


def case_129(x):
    return x.sin().T.argmax().cast(i64)


def case_131(x, y):
    return x.mean((2, 3, 4, 5), keepdim=True) + y


def case_133(x, y):
    return uopd.stack([x, y]).max(0)


def case_135(c):
    return c.where(1.5, 0.0)


def case_137(x, w):
    return x.conv2d(w)


def case_139(x):
    return uopd.stack([x * 2, x * 2, x * 2 - x * 2])


def case_141(a):
    return a * 2 + a


case_143 = case_11


def case_145():
    return uopd.ones(1, dtype=i64).expand(2**31 + 8).sum()


def case_147(x):
    for _ in range(10_000):
        x = x + 1
    return x


def case_149(x):
    x[1:] = 1 + x[:-1]
    return x


def case_151(X):  # noqa: N803
    X[0] = X[0].roll(5)
    return X


def case_153(a):
    a[:-1000] = a[1000:]
    return a


def case_155(a):
    a[:] = a.flip(0) + a
    return a


def case_157(a, b):
    a += b
    b += a
    return uopd.stack([a, b])


def case_159(a, b):
    a, b = a + b, a * b
    return uopd.stack([a, b])


def case_161(b):
    p = b[:2].sum()
    b.assign(10)
    return uopd.stack([p, b.sum()])


def case_163(x):
    seen = [x + 0]
    for _ in range(3):
        x += 1
        seen.append(x + 0)
    return uopd.cat(seen)


def case_165(b, m, p):
    for _ in range(10):
        m.assign(m * 0.9 + 0.1)
        p -= m / (1 - b)
        b *= 0.9
    return uopd.stack([p, m, b])


CASES = {int(name[5:]): function for name, function in list(globals().items()) if name.startswith("case_")}


# ---------------------------------------------------------------------- running and judging


def build(case, as_constants):
    """The result of a case, not computed yet, or the exception that building it raised."""
    operands = {}
    for name in inspect.signature(CASES[case]).parameters:
        array = array_of(ROWS[case]["inputs"][name])
        operands[name] = constants(array) if as_constants and 0 < array.size <= MOST_CONSTANTS else uopd.Tensor(array)
    try:
        return CASES[case](**operands)
    except Exception as error:  # noqa: BLE001: the case says which it should be
        return error


def run_all(device, as_constants):
    """All cases in one plan: the graphs share nothing, but one compilation of it all is quick."""
    with device:
        built = {case: build(case, as_constants) for case in CASES}
        tensors = {case: t for case, t in built.items() if isinstance(t, uopd.Tensor)}
        try:
            uopd.realize(*tensors.values())
        except uopd.UopdError:
            pass  # Each by itself then, to see which.
        for case, t in tensors.items():
            try:
                built[case] = t.numpy()
            except uopd.UopdError as error:
                built[case] = error
        return built


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By configuration, by case: the array, or the exception."""
    found = {}
    for threads in (1, 2):
        # One cache directory: threads are not part of what is compiled.
        folder = tmp_path_factory.mktemp("numeric") if not found else folder
        (folder / "ready.json").unlink(missing_ok=True)
        process, ready = conftest.start_server(folder, "--threads", str(threads))
        try:
            for opt, as_constants in itertools.product((0, 1), (False, True)):
                how = f"opt={opt}, {threads} threads, operands as {'constants' if as_constants else 'buffers'}"
                found[how] = run_all(uopd.connect("unix:" + ready["unix"], opt=opt), as_constants)
        finally:
            conftest.stop_server(process)
    return found


def test_every_case_is_here():
    assert list(CASES) == list(ROWS)


def fits(row, got, want):
    """What is wrong with ``got``, or None."""
    if got.dtype.kind != want.dtype.kind or (row["kind"] != "policy" and got.dtype != want.dtype):
        return f"dtype {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    with np.errstate(invalid="ignore"):
        same = np.asarray(got == want)
        if got.dtype.kind == "f":
            if row["kind"] == "close":
                near = np.abs(got.astype(float) - want) <= row["atol"] + row["rtol"] * np.abs(want.astype(float))
                same |= np.isfinite(want) & near
            if row["kind"] == "bits":
                same &= np.signbit(got) == np.signbit(want)
            same = np.where(np.isnan(want), np.isnan(got), same)
    return None if same.all() else f"{got.tolist() if got.size < 100 else got}, not {want.tolist() if want.size < 100 else want}"


@pytest.mark.parametrize("case", list(CASES), ids=lambda c: f"{c}-{ROWS[c]['name'].replace(' ', '_')}")
def test_case(results, case):
    row = ROWS[case]
    by_how = {how: found[case] for how, found in results.items()}
    for how, got in by_how.items():
        if row["kind"] == "raises":
            assert isinstance(got, ValueError), f"{how}: gave {got!r}"
            continue
        if isinstance(got, Exception):
            raise AssertionError(f"{how}: {row['expr']}") from got
        accepted = [row["expected"]] if "expected" in row else [a for a in row["accept"] if a != "error"]
        problems = [fits(row, got, array_of(a)) for a in accepted]
        assert None in problems, f"{how}: {row['expr']} ({row['why']}) gave {' / '.join(filter(None, problems))}"
    if row["kind"] == "policy":
        assert len({got.tobytes() for got in by_how.values()}) == 1, f"not one answer: {by_how}"
