"""NumPy references of what NumPy has not: small functions for the "numpy" expressions of the table of ops (op_rows.py).

They take and give f64 and are written for plainness: loops over the window or the batch, nothing shared with the library.
"""
import itertools

import numpy as np


def _numbers(value, rank):
    return [value] * rank if isinstance(value, int) else list(value)


def _window(x, start, kernel, dilation):
    """The elements of a window over the last axes that begins at ``start``."""
    return x[(..., *(slice(s, s + d * (k - 1) + 1, d) for s, k, d in zip(start, kernel, dilation)))]


def conv(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """conv1d, 2d, 3d by the rank of the weight: x (N,C,…), w (O,C/groups,k…)."""
    rank = w.ndim - 2
    if x.ndim == rank + 1:
        return conv(x[None], w, b, stride, padding, dilation, groups)[0]
    kernel = w.shape[2:]
    steps, gaps = _numbers(stride, rank), _numbers(dilation, rank)
    reach = [d * (k - 1) for k, d in zip(kernel, gaps)]
    if padding == "same":
        borders = [(r // 2, r - r // 2) for r in reach]
    else:
        borders = [(p, p) for p in _numbers(0 if padding == "valid" else padding, rank)]
    x = np.pad(x, [(0, 0), (0, 0), *borders])
    out = [(n - r - 1) // s + 1 for n, r, s in zip(x.shape[2:], reach, steps)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    per_group, outputs = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        g = o // outputs
        part = x[:, g * per_group : (g + 1) * per_group]
        for at in itertools.product(*map(range, out)):
            window = _window(part, [i * s for i, s in zip(at, steps)], kernel, gaps)
            y[(slice(None), o, *at)] = (window * w[o]).sum(tuple(range(1, rank + 2)))
    return y if b is None else y + b.reshape(-1, *[1] * rank)


def conv_transpose(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """By scattering: each input element adds its multiple of the window; w (C,O/groups,k…)."""
    rank = w.ndim - 2
    if x.ndim == rank + 1:
        return conv_transpose(x[None], w, b, stride, padding, output_padding, groups, dilation)[0]
    kernel = w.shape[2:]
    steps, gaps = _numbers(stride, rank), _numbers(dilation, rank)
    borders, extra = _numbers(padding, rank), _numbers(output_padding, rank)
    full = [(n - 1) * s + d * (k - 1) + 1 + e for n, s, d, k, e in zip(x.shape[2:], steps, gaps, kernel, extra)]
    per_group, channels = w.shape[1], x.shape[1] // groups
    y = np.zeros((x.shape[0], groups * per_group, *full))
    for c in range(x.shape[1]):
        g = c // channels
        for at in itertools.product(*map(range, x.shape[2:])):
            target = _window(y[:, g * per_group : (g + 1) * per_group], [i * s for i, s in zip(at, steps)], kernel, gaps)
            target += x[(slice(None), c, *at)].reshape(-1, *[1] * (rank + 1)) * w[c]
    y = y[(..., *(slice(p, n - p) for p, n in zip(borders, full)))]
    return y if b is None else y + b.reshape(-1, *[1] * rank)


def pool(x, kind, kernel, rank, stride=None, padding=0, dilation=1, ceil_mode=False, count_include_pad=True):
    """max_pool ("max") and avg_pool ("mean") over the last ``rank`` axes, window by window."""
    kernel = _numbers(kernel, rank)
    steps = kernel if stride is None else _numbers(stride, rank)
    borders, gaps = _numbers(padding, rank), _numbers(dilation, rank)
    shape = x.shape[x.ndim - rank :]
    out = []
    for n, k, s, p, d in zip(shape, kernel, steps, borders, gaps):
        room = n + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        out.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    y = np.zeros(x.shape[: x.ndim - rank] + tuple(out), x.dtype if kind == "max" else np.float64)
    for at in itertools.product(*map(range, out)):
        places, counted = [], 1
        for i, n, k, s, p, d in zip(at, shape, kernel, steps, borders, gaps):
            begin = i * s - p
            places.append([j for j in range(begin, begin + d * (k - 1) + 1, d) if 0 <= j < n])
            counted *= min(begin + k, n + p) - begin if count_include_pad else len(places[-1])
        window = x[(..., *np.ix_(*places))]
        axes = tuple(range(x.ndim - rank, x.ndim))
        y[(..., *at)] = window.max(axes) if kind == "max" else window.sum(axes) / counted
    return y


def along(p, like, axes):
    """A parameter as it lies along axes of ``like``."""
    return np.reshape(p, [n if i in axes else 1 for i, n in enumerate(like.shape)])


def standardized(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps)


def layer_norm(x, w=None, b=None, axes=(-1,), eps=1e-5):
    axes = tuple(sorted(i % x.ndim for i in axes))
    y = standardized(x, axes, eps)
    return (y if w is None else y * along(w, x, axes)) + (0 if b is None else along(b, x, axes))


def rms_norm(x, w=None, axes=(-1,), eps=1e-6):
    axes = tuple(sorted(i % x.ndim for i in axes))
    y = x / np.sqrt((x**2).mean(axes, keepdims=True) + eps)
    return y if w is None else y * along(w, x, axes)


def batch_norm(x, mean=None, var=None, w=None, b=None, eps=1e-5, axis=1):
    others = tuple(i for i in range(x.ndim) if i != axis)
    mean = x.mean(others) if mean is None else mean
    var = x.var(others) if var is None else var
    y = (x - along(mean, x, [axis])) / np.sqrt(along(var, x, [axis]) + eps)
    return (y if w is None else y * along(w, x, [axis])) + (0 if b is None else along(b, x, [axis]))


def group_norm(x, groups, w=None, b=None, eps=1e-5):
    y = standardized(x.reshape(x.shape[0], groups, -1), (2,), eps).reshape(x.shape)
    return (y if w is None else y * along(w, x, [1])) + (0 if b is None else along(b, x, [1]))


def log_softmax(x, axis=-1):
    x = x.astype(np.float64)
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def reduced(loss, reduction="mean"):
    return {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](loss)


def nll(logs, target, w=None, ignore=-100, reduction="mean", smoothing=0.0, axis=1):
    """Of log-probabilities and class indices, row by row."""
    axis %= logs.ndim
    rows = np.moveaxis(logs, axis, -1)
    classes = rows.shape[-1]
    w = np.ones(classes) if w is None else w
    loss, counted = np.zeros(target.shape), 0.0
    for at in np.ndindex(*target.shape):
        label = int(target[at])
        if label == ignore:
            continue
        loss[at] = -(1 - smoothing) * w[label] * rows[at][label] - smoothing / classes * (w * rows[at]).sum()
        counted += w[label]
    return loss.sum() / counted if reduction == "mean" else reduced(loss, reduction)


def cross_entropy(x, target, w=None, axis=1, **more):
    axis = min(axis, x.ndim - 1)
    return nll(log_softmax(x, axis), target, w, axis=axis, **more)


def cross_entropy_of_probabilities(x, target, w=None, smoothing=0.0, reduction="mean", axis=1):
    p = target * (1 - smoothing) + smoothing / x.shape[axis]
    p = p if w is None else p * along(w, x, [axis])
    return reduced(-(log_softmax(x, axis) * p).sum(axis), reduction)


def attention(q, k, v, mask=None, causal=False, scale=None, groups=1):
    k, v = (np.repeat(t, groups, -3) if groups > 1 else t for t in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    return np.exp(log_softmax(scores)) @ v


def bce(x, y):
    with np.errstate(divide="ignore"):
        return -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log1p(-x), -100))
