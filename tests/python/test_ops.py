"""Every row of the table of ops (see op_rows.py): values, dtypes, shapes and gradients, in one run a row."""
import builtins

import numpy as np
import op_rows
import pytest
import uopd

ROWS = op_rows.load_rows()


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_op(row):
    if "raises" in row:
        kind = getattr(builtins, row["raises"], None) or getattr(uopd, row["raises"])
        case = op_rows.cases(row)[0]
        with pytest.raises(kind, match=row.get("match")):
            case.call(case.tensors())
        return
    values = [(case, op_rows.as_tuple(case.call(case.tensors()))) for case in op_rows.cases(row)]
    gradients = _gradients(row) if "grad" in row or "grad_numpy" in row else []
    uopd.realize(*(t for _, results in values for t in results), *(g for _, g, _ in gradients))
    for case, results in values:
        wanted = case.expected()
        assert len(results) == len(wanted)
        for got, want in zip(results, wanted):
            if "out" in row:
                assert got.dtype.name == (case.inputs[0].dtype.name if row["out"] == "same" else row["out"]), case.label
            op_rows.compare(row, case.label, got.numpy(), got.dtype, want)
    for label, got, want in gradients:
        tol = row.get("grad_tol", op_rows.GRADIENT_TOLERANCE)
        np.testing.assert_allclose(got.numpy(), want, rtol=tol, atol=tol, err_msg=f"{row['id']}: gradient by {label}")


def _gradients(row):
    """(label, gradient, what it should be) for each input that it is wanted by."""
    specs = row.get("grad_inputs", row["inputs"])
    inputs = tuple(op_rows._with_dtype(spec, spec.dtype, "f64") if spec.dtype.is_float else spec
                   for spec in map(op_rows.parse_input, specs))  # fmt: skip
    case = op_rows.Case(row, "gradient", inputs)
    chosen = row.get("grad", True)
    wanted_by = chosen if isinstance(chosen, list) else [i for i, spec in enumerate(inputs) if spec.dtype.is_float]
    tensors = case.tensors()
    for i in wanted_by:
        tensors[i].requires_grad_()
    results = op_rows.as_tuple(case.call(tensors))
    arrays = [case.host(i) for i in range(len(inputs))]
    weights = op_rows.weights_like([np.zeros(r.shape) for r in results])
    pairs = [(r, w) for r, w in zip(results, weights) if r.dtype.is_float]
    loss = sum(((r * uopd.Tensor(w)).sum() for r, w in pairs[1:]), (pairs[0][0] * uopd.Tensor(pairs[0][1])).sum())
    made = uopd.grad(loss, [tensors[i] for i in wanted_by])
    if "grad_numpy" in row:
        wanted = op_rows.as_tuple(op_rows.evaluate(row["grad_numpy"], arrays, row, g=weights[0]))
        wanted = [np.broadcast_to(np.asarray(w, np.float64), arrays[i].shape) for i, w in zip(wanted_by, wanted)]
    else:
        shown = [w if r.dtype.is_float else np.zeros_like(w) for r, w in zip(results, weights)]
        wanted = [op_rows.differences(row, arrays, shown, i) for i in wanted_by]
    return [(f"input {i}", got, want) for i, got, want in zip(wanted_by, made, wanted)]
