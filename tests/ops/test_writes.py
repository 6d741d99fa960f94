"""Writes: in place, through ``out=`` and ``where=``, by functions that write their argument.

Each program runs on arrays in every layout, twice (see ``tests/bodies.py``).
"""

from __future__ import annotations

import pytest

from tests.bodies import check_body

IN_PLACE = {
    0: ["x[...] = 3", "x[()] = 3", "x += 1", "x.fill(2)", "x[...] *= x", "x[None][0] = 4"],
    1: [
        "x[...] += 1",
        "x[:] = x[::-1]",
        "x[1:] = x[:-1]",
        "x[:-1] = x[1:]",
        "x += x[::-1]",
        "x -= x[0]",
        "x /= x[1]",
        "x[0], x[1] = x[1], x[0]",
        "for v in x: v += 1",
        "for i in range(len(x)): x[i] += 1",
        "x.fill(x[0])",
        "x.fill(np.array(3.0))",
        "x.fill(True)",
        "x.fill(1j)",
    ],
    2: [
        "for row in x: row += 1",
        "for i, row in enumerate(x): row[...] = i",
        "if len(x): (a, b, c, d) = x; a += b; return c",
        "a, *b = x; a += 1; return b",
        "x[0], x[1] = x[1], x[0]",
        "x[0], x[1] = x[1].copy(), x[0].copy()",
        "x[0][1] = 5",
        "x[1:][0][::2] = 5",
        "x[:, 0][1] += 5",
        "x[0, 0, ...] += 1",
        "x.T[...] = x.T + 1",
        "x[:4, :4] += x[:4, :4].T",
        "x[:] = x[::-1, ::-1]",
        "x.reshape(-1)[::3] = 5",
        "x.T.reshape(-1)[0] = 5; return x",
        "x.flatten()[0] = 5; return x",
        "x *= x[:, 0:1]",
        "x @= x.T @ x",
        "x @= (x.T @ x)[None]",
        "x[...] = x.sum(0)",
    ],
}

OUT = {
    0: [
        "np.add(x, 1, out=x)",
        "np.sqrt(x, out=x, where=x > 0)",
        "y = np.empty(()); return np.modf(x, y, None)",
    ],
    1: [
        "y = x.astype('f4'); np.add(y, x, out=y[::-1], where=x > 2); return y",
        "np.add(x[1:], x[:-1], out=x[1:])",
        "np.add(x, 1, out=x[::-1])",
        "return np.add(x, 1, out=x) is x",
        "np.add(x, 1, x)",
        "np.add(x, 1, out=(x,))",
        "np.add(x, 1, (x,))",
        "np.add(x)",
        "np.add(x, 1, x, out=x)",
        "np.add(x, 1, out=(x, x))",
        "y = np.zeros(6, 'i4'); np.add(x, 1, out=y); return y",
        "y = np.zeros(6, 'i4'); np.add(x, 1, out=y, casting='unsafe'); return y",
        "y = np.zeros(6, 'f4'); return np.multiply(x, 2.0, out=y)",
        "y = np.zeros(3); np.add(x, 1, out=y)",
        "y = np.zeros((1, 6)); return np.add(x, 1, out=y)",
        "y = np.zeros(6, 'f4'); return np.add(x[None], 1, out=y, casting='unsafe')",
        "y = np.zeros(6); return np.add(x, 1, out=y, where=x > 0)",
        "np.add(x, 1, out=x, where=x > 0)",
        "y = np.ones((2, 6)); return np.add(x, 1, out=y, where=x > 0)",
        "y = np.ones((2, 6), 'f4'); return np.sqrt(x, out=y, where=x > 0)",
        "np.sqrt(x, out=x, where=x[::-1] > 0)",
        "np.add(x, 1, out=x, where=False)",
        "np.add(x, 1, out=x, where=[True, False] * 3)",
        "np.add(x, 1, out=x, where=[1, 0] * 3)",
        "np.add(x, 1, out=x, where=np.ones((2, 6), bool))",
        "y = np.add(x, 1, where=x > 0); return np.where(x > 0, y, 0)",
        "y = np.add(x, 1, where=np.ones((2, x.size), bool)); return y",
        "return np.add(x, 1, dtype='f4')",
        "return np.add(x, 1, dtype='i4')",
        "return np.add(x, 1, dtype='i4', casting='unsafe')",
        "return np.add(x, 1, dtype='f4', casting='safe')",
        "np.add(x, 1, out=x, dtype='f4')",
        "return np.add(x, 1, subok=False)",
        "return np.add(x, 1, casting='no')",
        "return np.add(x, 1, casting='unsafe')",
        "return np.add(x, 1, casting='never')",
        "return np.add(x, 1, signature='dd->d')",
        "return np.add(x, 1, signature='ff->f', dtype='f4')",
        "return np.add(x, 1, order='X')",
        "return np.add(x, 1, nonsense=3)",
        "return np.add(x, True, dtype='f4')",
        "return np.modf(x)",
        "a = np.empty_like(x); b = np.empty_like(x); r = np.modf(x, a, b); return r, a, b, r[0] is a",
        "a = np.empty(6); b = np.empty(6); np.modf(x, out=(a, b)); return a, b",
        "a = np.empty(6); r = np.modf(x, out=(a, None)); return a, r",
        "np.modf(x, out=(x, None))",
        "np.modf(x, out=x)",
        "np.modf(x, out=(x, x[::-1].copy()))",
        "a = np.empty(6); b = np.empty(6); np.divmod(x, 2.0, out=(a, b)); return a, b",
        "a = np.zeros(6); b = np.ones(6); np.divmod(x, 2.0, out=(a, b), where=x > 0); return a, b",
        "return np.frexp(x), np.ldexp(x, 2)",
        "return np.subtract.outer(x, x, dtype='f4')",
    ],
    2: [
        "np.add(x, 1, out=x.T)",
        "np.add(x[:4, :4], x[:4, :4].T, out=x[:4, :4])",
        "np.add(x, x[0], out=x)",
        "np.multiply(x, x[:, :1], out=x)",
        "np.subtract(x, x.mean(0), out=x)",
        "return np.add(x, 1, order='F')",
        "return np.add(x, 1, order='C')",
        "return np.add(x.T, 1, order='A')",
        "return np.add(x, x.T.copy().T, order='A')",
        "return np.add(x, 1, order='K', where=x > 0, out=x)",
        "y = np.empty((6, 6)); return np.matmul(x.T, x, out=y)",
        "y = np.empty((6, 6), order='F'); return np.matmul(x.T, x, y)",
        "np.matmul(x[:, :4], x[:, :4].copy(), out=x[:, :4])",
        "y = np.empty((4, 4)); return np.dot(x[:, :4], x[:, :4], out=y)",
    ],
}

REDUCTIONS = {
    0: ["return np.hypot.reduce(x), np.subtract.reduce(x, axis=-1)"],
    1: [
        "return np.subtract.reduce(x)",
        "return np.logical_xor.reduce(x)",
        "return np.hypot.reduce(x)",
        "return np.logaddexp.reduce(x)",
        "return np.fmax.reduce(x)",
        "return np.bitwise_or.reduce(x.astype(int))",
        "return np.maximum.accumulate(x)",
        "return np.minimum.accumulate(x)",
        "return np.add.accumulate(x)",
        "np.add.accumulate(x, out=x)",
        "np.maximum.accumulate(x, out=x)",
        "return np.add.reduceat(x, [0, 2, 4]) if x.flags.c_contiguous else 0",
        "return np.maximum.reduceat(x + 1, [0, 3])",
        "return np.add.reduceat(x + 1, [0, 9])",
        "return x.sum(initial=3)",
        "return x.max(initial=0)",
        "return np.min(x, initial=0.0)",
        "return x.prod(initial=2.0)",
        "return np.add.reduce(x, initial=1)",
        "return np.add.reduce(x, 0, 'f4')",
        "return x.sum(where=x > 0)",
        "return x.sum(where=True)",
        "return x.sum(where=False)",
        "return x.max(where=x > 0, initial=-1)",
        "return x.max(where=x > 0)",
        "return x.any(where=x > 0), x.all(where=x > 0)",
        "y = np.empty(()); r = x.sum(out=y); return r is y, y",
        "y = np.empty(()); r = np.add.reduce(x, out=(y,)); return r is y, y",
        "y = np.empty((), 'f4'); (x * 0.1).sum(out=y); return y",
        "y = np.empty((), 'i4'); x.sum(out=y); return y",
        "y = np.empty((), 'i4'); x.astype('i8').max(initial=2**40, out=y); return y",
        "y = np.empty((), 'f4'); x.any(out=y); return y",
        "y = np.empty(len(x), 'f4'); (x * 0.1).cumsum(out=y); return y",
        "y = np.empty((), int); return x.argmax(out=y) is y",
        "np.cumsum(x[1:], out=x[:-1])",
        "return np.add.accumulate(x[0])",
        "return np.maximum.accumulate(x[0])",
        "return np.add.accumulate(x, axis=None), np.subtract.accumulate(x, axis=None)",
    ],
    2: [
        "return np.add.reduce(x, (0, 1))",
        "return np.add.reduce(x, 1)",
        "return np.add.reduce(x, None, None, None, True)",
        "return np.subtract.reduce(x, 1)",
        "return np.subtract.reduce(x, (0, 1))",
        "return np.maximum.accumulate(x, axis=1)",
        "return np.maximum.accumulate(x, 2)",
        "return np.add.accumulate(x, axis=None)",
        "return np.maximum.accumulate(x)",
        "return np.add.reduceat(x + 1, [0, 2], axis=1) if x.flags.c_contiguous else 0",
        "return x.sum(0, initial=2)",
        "return x.sum(axis=1, where=x > 0)",
        "return x.sum(axis=1, where=x[:, :1] > 0, keepdims=True)",
        "return x.sum(axis=1, where=np.ones((2, *x.shape), bool))",
        "return x.min(axis=0, initial=0)",
        "y = np.empty(x.shape[0]); x.sum(1, out=y); return y",
        "y = np.empty((x.shape[0], 1)); x.sum(1, out=y, keepdims=True); return y",
        "x.sum(1, out=x[:, 0])",
        "x.mean(1, out=x[:, 0])",
        "x.max(0, out=x[0])",
        "y = np.empty((), 'i4'); (x * 1e6).astype('i8').max(out=y); return y",
    ],
    3: [
        "return x.sum(1, where=x > 0)",
        "return x.transpose(1, 2, 0).sum(0, where=x.transpose(1, 2, 0) > 0)",
        "return np.hypot.reduce(x, 1)",
        "return np.fmax.accumulate(x.transpose(2, 0, 1), 1)",
    ],
}

FUNCTIONS = {
    0: ["x.sort()", "x.partition(0)", "return x.argsort()", "np.copyto(x, 2)"],
    1: [
        "np.copyto(x, 1)",
        "np.copyto(x, 3.0, where=x > 0)",
        "np.copyto(x, 1, casting='no')",
        "np.copyto(x, 1 + 2j, casting='unsafe')",
        "np.copyto(x, 1 + 2j)",
        "np.copyto(x, [1.0] * 6)",
        "np.copyto(dst=x, src=2.0)",
        "np.copyto(x, 1, where=[True, False] * 3)",
        "np.clip(x, -1, 1, out=x)",
        "x.clip(-1, 1, x)",
        "np.clip(x, -1, 1, out=x[::-1])",
        "np.round(x, out=x)",
        "x.round(1, out=x)",
        "return np.round(x, 1), np.round(x, -1), x.round(30)",
        "return np.nan_to_num(x, copy=False) is x",
        "x.sort()",
        "x[::2].sort()",
        "x.sort(kind='stable')",
        "x.sort(kind='mergesort')",
        "x.sort(stable=True)",
        "x.sort(kind='stable', stable=True)",
        "x.sort(axis=1)",
        "x.sort(order='f')",
        "x.sort(kind='foo')",
        "x.partition(2)",
        "x.partition(-1)",
        "return x.argsort(), x.argsort(kind='stable'), x.argpartition(2)",
        "return np.sort(x, kind='stable'), np.sort(x, stable=True), np.argsort(x, kind='heapsort')",
        "return np.partition(x, 2), np.argpartition(x, (1, 2))",
        "y = x.copy(); y.sort(); return y[::-1]",
        "y = np.sort(x); y += 1; return y",
    ],
    2: [
        "np.copyto(x, x[0])",
        "x.sort()",
        "x.sort(0)",
        "x.T.sort()",
        "x[:, 1].sort()",
        "x[::-1].sort(0)",
        "x.sort(None)",
        "x.sort(5)",
        "x.partition(2)",
        "x.partition(1, axis=0)",
        "x.partition((1, 3))",
        "x.partition(9)",
        "x.partition(1, kind='nonsense')",
        "return x.argsort(0), x.argsort(None), np.sort(x, 0), np.sort(x, None)",
        "return np.partition(x, 1, None), np.partition(x, 1, axis=0), np.argpartition(x, 1)",
        "return np.round(x, 1), np.round(x.T, 1), np.round(x.astype('f4'), 2)",
    ],
    3: ["return np.round(x.transpose(1, 2, 0), 1)", "return np.sort(x.transpose(1, 2, 0), 1)"],
}

JOINS = {
    1: [
        "y = np.zeros(12); np.concatenate([x, x[::-1]], out=y); return y",
        "y = np.zeros(12, 'f4'); np.concatenate([x, x], out=y); return y",
        "y = np.zeros(12, 'i4'); np.concatenate([x, x], out=y); return y",
        "y = np.zeros(12, 'i4'); np.concatenate([x, x], out=y, casting='unsafe'); return y",
        "y = np.zeros(11); np.concatenate([x, x], out=y)",
        "return np.concatenate([x, x], dtype='f4')",
        "return np.concatenate([x, x], dtype='i4')",
        "return np.concatenate([x, x], dtype='i4', casting='unsafe')",
        "return np.concatenate([x, x.astype('f4')], casting='no')",
        "y = np.zeros((2, 6)); return np.stack([x, x + 1], out=y) is y, y",
        "return np.stack([x, x], dtype='f4'), np.stack([x, x], 1, dtype='f4')",
        "return np.hstack([x, x], dtype='f4'), np.vstack([x, x], dtype='f4')",
    ],
    2: [
        "y = np.zeros(48); np.concatenate([x, x + 1], None, y); return y",
        "return np.roll(x, (1, 2), axis=(0, 1)), np.roll(x, (1, 2), axis=1), np.roll(x, 1, (0, 1))",
        "return np.roll(x, (1, 2, 3), axis=(0, 1))",
        "return np.roll(x, (1, 1), axis=(0, 0))",
    ],
}

UNSAFE = "casting='unsafe'"

# np.concatenate does not look whether its out= may be written, and NumPy writes nothing at all
# where source and target are the same memory: fxc takes both for errors and leaves them to NumPy.
UNCHECKED = [
    (1, "np.concatenate([x[:3], x[3:]], out=x)"),
    (1, "np.concatenate([x[3:], x[:3]], out=x)"),
    (2, "np.concatenate([x[2:], x[:2]], out=x)"),
    (2, "np.concatenate([x[:, 3:], x[:, :3]], axis=1, out=x)"),
    (1, "np.copyto(x, x[::-1])"),
    (1, "np.copyto(x[1:], x[:-1])"),
    (1, "np.copyto(x, x[::-1], where=x > 0)"),
    (1, "np.greater(x[::-1], 1, where=x > 0, out=x)"),
    (1, "np.divmod(x, 2.0, out=(x, x[::-1]))"),
    (
        1,
        f"y = x.astype(int) + {2**60}; np.add(y, 0.5, out=y[::-1], where=x > 2, {UNSAFE}); return y",
    ),
    (1, "y = np.empty((len(x), 1)); np.cumsum(x, out=y); return y"),
    (2, "y = np.empty((0, 3)); np.cumsum(x[:0], out=y); return y"),
    (2, "y = np.empty((1, 2)); np.cumsum(x[:1, :2] * 1j, out=y)"),
]

INTEGERS = [
    "x += 1",
    "x += 1.5",
    "x[:] = 1.5",
    "x /= 2",
    "x //= 2",
    "x **= 2",
    "np.add(x, 1.5, out=x)",
    "np.add(x, 1.5, out=x, casting='unsafe')",
    "np.add(x, 1, out=x, dtype='f4')",
    "np.add(x, 1, out=x, dtype='f8', casting='unsafe')",
    "np.take(np.ones(9, 'i8'), x % 9, out=x)",
    "np.take(x, [0, 1, 2, 3, 4, 5], out=x.astype('f8'))",
    "y = np.zeros(2, 'i2'); np.take(x, [0, 0], out=y, mode='clip'); return y",
    "np.copyto(x, 1.5)",
    "np.copyto(x, 1.5, casting='unsafe')",
    "x.sort()",
    "x.fill(1.9)",
    "x.fill(300000000000)",
    "x <<= 1",
    "x &= 3",
    "x[x > 0] = 1.7",
    "y = x[:0]; y **= -1; np.power(y, -2, out=y); return y",
    "return np.cumsum(x, dtype='f4')",
    "np.negative(x, out=x, where=x > 0)",
    "return np.round(x, 1)",
    "return x.sum(initial=1), x.max(initial=3), x.mean(dtype='f4')",
    "return np.bitwise_or.reduce(x), np.bitwise_xor.accumulate(x)",
    "return x.mean(dtype='i4'), (x * 2**29).mean(dtype=x.dtype, keepdims=True), x.var(dtype='i4')",
    "y = np.empty((), 'i8'); x.sum(out=y); return y",
    "y = np.empty((), 'u1'); x.prod(out=y); return y",
]
BOOLS = [
    "x += True",
    "x |= True",
    "x[:] = 2",
    "x ^= x[::-1]",
    "x &= False",
    "x.sort()",
    "x.fill(3)",
    "return np.add(x, x, dtype='i4'), np.add.reduce(x, dtype='u1'), np.add.reduce(x, initial=True)",
]


def _cases(groups: dict[int, list[str]]) -> list[tuple[int, str]]:
    return [(rank, text) for rank, texts in groups.items() for text in texts]


@pytest.mark.parametrize(("rank", "text"), _cases(IN_PLACE))
def test_in_place(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(OUT))
def test_outputs_of_ufuncs(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(REDUCTIONS))
def test_reductions_and_scans(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(FUNCTIONS))
def test_functions_that_write(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(JOINS))
def test_joins(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), UNCHECKED)
def test_what_numpy_does_not_check(rank: int, text: str) -> None:
    check_body(text, rank, eager=True)


@pytest.mark.parametrize("text", INTEGERS)
def test_integers(text: str) -> None:
    check_body(text, 1, "i4")


@pytest.mark.parametrize("text", BOOLS)
def test_bools(text: str) -> None:
    check_body(text, 1, "?")


def test_an_element_that_is_the_truth_of_an_array() -> None:
    check_body("x[1] = x[:1] * 3", 1, "?", eager=True)
