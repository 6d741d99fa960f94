"""Random modules: helper functions with defaults and keywords, and a function that calls them with arrays of any rank.

Helpers have options, early returns and locals that closures change; statements stand in handlers, ``with``, loops
and branches; results are formatted, printed and kept in lists, dicts and sets. Arrays have any rank, dtype, layout and
special values; calls give others, or ``None``, each time. What is seen holds warnings and printed text. ::

    python -c "from tests.random_modules import random_module; print(random_module(17))"
"""

from __future__ import annotations

import contextlib
import io
import operator
import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.written_programs import SCOPE, array, defined

DTYPES = (
    *("f8",) * 6,
    *(
        "f4",
        "f4",
        "i8",
        "i8",
        "i4",
        "i2",
        "i1",
        "u1",
        "u2",
        "u4",
        "u8",
        "c16",
        "c8",
        "b1",
        "b1",
        "f2",
    ),
)
SHAPES = (
    *(
        (4,),
        (5,),
        (6,),
        (3, 4),
        (4, 3),
        (3, 3),
        (2, 3, 4),
        (),
        (0,),
        (1,),
        (0, 3),
        (3, 0),
        (1, 4),
        (3, 1),
        (17,),
        (2, 1, 3),
    ),
)
ODD = {"f": (np.nan, np.inf, -0.0, -np.inf, 1e300, 5e-324), "c": (np.nan, 1j * np.inf, -0.0, 1e300)}

# Where a template has {A}, {N}, {I}, {B}, {T} or {P} stands an array, a number, a small int, a bool, a text or
# places; {n}, {c}, {k} are variables that may be assigned; {o} are options of a reduction, {u} those of a ufunc, {d} is a dtype
# and {a} an axis. The first row of each kind has none of these.
FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "A": (
        ("x", "y", "x", "y", "z", "w", "x", "y", "z", "w", "x.T", "y[::-1]", "x[1:]", "z[..., ::2]", "b", "L[-1]", "D['u']"),
        (
            "({A} + {A})", "({A} - {N})", "({A} * {A})", "({A} * {N})", "({A} / {A})", "({A} // {N})", "({A} % {A})", "({A} ** 2)", "(-{A})", "(~{A})", "({A} & {A})", "({A} == {A})", "({A} > {N})", "({N} - {A})", "({A} << 1)", "np.add({A}, {A}{u})", "np.multiply({A}, {N}{u})", "np.subtract({A}, {A}{u})", "np.true_divide({A}, {A}{u})", "np.floor_divide({A}, {A})", "np.less({A}, {A}{u})", "np.logical_and({A}, {A})",
            "np.sqrt({A}{u})", "np.square({A})", "np.negative({A}{u})", "np.isnan({A})", "np.isfinite({A})", "np.sign({A})", "np.floor({A})", "np.rint({A})", "np.conj({A})", "{A}.real", "{A}.imag", "np.reciprocal({A})", "np.hypot({I}, {I}) * {A}", "np.ldexp({A}, {I})", "np.frexp({A})[1]", "np.nextafter({A}, {N})", "np.spacing({A})", "np.float_power({I}, 2) + {A}",
            "{A}.sum({o})", "{A}.prod({o})", "{A}.max({o})", "{A}.min({o})", "{A}.mean({o})", "{A}.any(axis={a})", "{A}.all(axis={a})", "np.std({A}, {o})", "np.var({A}, {o}, ddof=1)", "np.argmax({A}, axis={a})", "np.argmin({A}, axis={a}, keepdims=True)", "np.ptp({A}, axis={a})", "np.median({A}, axis={a})", "np.nansum({A}, {o})", "np.nanmax({A}, axis={a})", "np.nanmean({A}, axis={a})", "np.count_nonzero({A}, axis={a})", "np.cumsum({A}, axis={a})", "np.cumprod({A}, axis=0)", "np.quantile({A}, 0.25, axis={a})", "np.percentile({A}, [25, 50])", "np.average({A}, axis={a}, weights={A})",
            "np.add.reduce({A}, {o})", "np.multiply.reduce({A}, axis={a})", "np.logical_or.reduce({A}, axis={a})", "np.maximum.accumulate({A}, axis={a})", "np.add.accumulate({A}, axis={a})", "np.subtract.accumulate({A})", "np.add.reduceat({A}, {P})", "np.maximum.reduceat({A}, {P}, axis={a})", "np.multiply.outer({A}, {A})", "np.subtract.outer({A}, {P})", "np.add.reduceat({A}, [0, 2, 1])",
            "np.einsum('i,j->ij', {A}, {A})", "np.einsum('ij->ji', {A})", "np.einsum('ij,jk->ik', {A}, {A})", "np.einsum('...i->...', {A})", "np.einsum('ii->i', {A})", "np.einsum('ij,ij->i', {A}, {A})", "np.tensordot({A}, {A}, axes=1)", "np.inner({A}, {A})", "np.matmul({A}, {A})", "np.vdot({A}, {A})", "np.cross({A}, {A})",
            "np.sort({A}, axis={a})", "np.argsort({A}, axis={a}, kind='stable')", "np.unique({A})", "np.unique({A}, return_counts=True)[1]", "np.unique({A}, return_inverse=True)[1]", "np.searchsorted(np.sort({A}, axis=None), {A})", "np.searchsorted({A}, {N}, side='right')", "np.lexsort(({A}, {A}))", "np.flatnonzero({A})", "np.bincount({P}, minlength={I})", "np.histogram({A}, bins=3)[0]", "np.digitize({A}, [0, 1, 2])", "np.isin({A}, {A})", "np.intersect1d({A}, {A})", "np.union1d({A}, {A})", "np.partition({A}, 1)",
            "{A}[{P}]", "{A}[{P}, {P}]", "{A}[:, {P}]", "{A}[{P}[:, None], {P}]", "{A}[{A} > {N}]", "{A}[..., None]", "{A}[None]", "{A}[{I}]", "{A}[{I}:]", "{A}[:{I}]", "{A}[::-1, 1:]", "{A}[..., -1]", "{A}[()]", "{A}[...]", "{A}[{B}]", "np.take({A}, {P}, axis={a})", "np.take({A}, {P}, mode='clip')", "np.compress([True, False, True], {A})", "np.choose({P} % 2, ({A}, {N}))", "np.take_along_axis({A}, np.argsort({A}, axis=0), 0)",
            "{A}.reshape(-1)", "{A}.ravel('F')", "{A}.reshape((-1, {I}), order='F')", "{A}.flatten()", "{A}.copy('F')", "np.asfortranarray({A})", "np.ascontiguousarray({A})", "{A}.astype({d})", "{A}.astype({d}, copy=False)", "{A}.view({d})", "np.asarray({A}, dtype={d})", "np.array({A}, ndmin=2)", "np.swapaxes({A}, 0, -1)", "np.moveaxis({A}, 0, -1)", "np.squeeze({A})", "np.atleast_2d({A})", "np.broadcast_to({A}, (2, *{A}.shape))", "np.expand_dims({A}, {a})", "np.flip({A}, axis={a})", "np.roll({A}, {I}, axis={a})", "np.rot90({A})", "np.repeat({A}, {I}, axis={a})", "np.repeat({A}, {P})", "np.diagonal({A})", "np.tril({A})", "np.pad({A}, 1, mode={m})", "np.resize({A}, 5)",
            "np.concatenate([{A}, {A}], axis={a})", "np.stack([{A}, {A}], axis={a})", "np.vstack([{A}, {A}])", "np.hstack([{A}, {A}])", "np.array([{N}, {N}])", "np.array({N})", "np.zeros({A}.shape, {d})", "np.full({I}, {N})", "np.full_like({A}, {N}, dtype={d})", "np.empty_like({A}, shape=0)", "np.arange({I})", "np.arange({I}, dtype={d})", "np.linspace({N}, {N}, {I})", "np.eye({I})", "np.array({A}.tolist())", "np.fromiter(({N} for _ in range({I})), float)", "np.split({A}, 2)[0]", "np.array_split({A}, 3)[{I} % 3]", "np.meshgrid({A}, {A})[0]", "np.indices((2, {I}))[0]",
            "np.where({A} > {N}, {A}, {N})", "np.where({B}, {A}, {A})", "np.select([{A} > 1, {A} < 0], [{A}, {N}])", "np.clip({A}, {N}, {N})", "np.clip({A}, None, {N})", "{A}.clip({N})", "np.nan_to_num({A}, nan={N})", "np.diff({A}, axis={a})", "np.ediff1d({A})", "np.gradient({A})", "np.convolve({A}, {A}, 'same')", "np.trapezoid({A})", "np.interp({A}, [0, 1, 2], [3, 1, 2])", "np.round({A}, {I})", "np.divmod({A}, {N})[1]", "np.modf({A})[0]", "np.isclose({A}, {A})", "np.apply_along_axis(np.sum, 0, {A})", "np.vectorize(lambda q: q * 2)({A})", "np.logical_not({A})", "np.packbits({A} > {N})", "np.cov({A})", "np.trace({A})", "np.outer({A}, {A})", "np.bitwise_count({P})",
            "({A} if {B} else {A})", "({A} or {N})", "max([{A}, {A}], key=len)", "sum([{A}, {A}])", "np.array([q_ * 2 for q_ in {A}])", "[*{A}][{I}]", "D.get({T}, {A})", "L[{I} % len(L)]", "rng.random({I})", "rng.normal(size={A}.shape)", "rng.integers(0, 5, size={I})", "rng.permutation({A})", "rng.choice({A}, 2)", "rng.standard_normal((2, {I}))", "sorted({A}.ravel())[0]", "(lambda q_, s_={N}: q_ + s_)({A})", "{A}.dot({A})", "{A}.item(0)", "np.ma.masked_less({A}, 0).filled(0)", "{A}.byteswap().byteswap()",
        ),
    ),
    "N": (
        ("c", "c", "2", "0.5", "-1", "0", "1", "300", "True", "np.float32(1.5)", "np.int8(100)", "np.uint8(3)", "np.int64(2)", "2.0", "k", "1j", "np.float16(2)", "s", "s"),
        (
            "({N} + {N})", "({N} * {N})", "({N} - {N})", "({N} / {N})", "({N} // {N})", "abs({N})", "max({N}, {N})", "{A}.sum()", "{A}.max()", "{A}.mean()", "{A}.flat[0]", "{A}[0]", "{A}[-1]", "float({A}.sum())", "int({N})", "{A}.item({I})", "({N} if {B} else {N})", "sum({A}.ravel().tolist())", "float(rng.random())", "rng.integers(10)", "np.dot({A}, {A})", "len({T})", "round({N}, 1)", "{A}.size", "{A}.nbytes", "np.sum({A}, dtype={d})", "({N} or 1)", "D.get('n', {N})", "min({A}.ravel(), default={N})", "np.asarray({N})", "np.add({N}, {N})", "{A}.dtype.type({N})", "complex({N})", "np.ndim({A})", "float(f'{{{N}:.2f}}')", "next(iter({A}.ravel()), {N})", "np.float64({N})", "np.int32({N})", "hash({T}) * 0", "np.max({A}, initial={N})", "divmod({N}, 3)[1]", "np.linalg.norm({A}, 1)",
        ),
    ),
    "I": (
        ("k", "k", "1", "2", "3", "0", "-1", "i"),
        ("({I} + 1)", "({I} % 3)", "len({A})", "{A}.ndim", "int({A}.argmax())", "({I} if {B} else {I})", "len(L)", "len(S)", "{A}.shape[0]", "{A}.shape[-1]", "(-{I})", "len(D)", "{A}.dtype.itemsize", "int({B})", "operator.index({I})", "min({I}, 2)"),
    ),
    "B": (
        ("flag", "k > 1", "c > 0", "not flag", "mode == 'sum'", "mode is None", "b is None"),
        ("{N} > {N}", "{A}.size > {I}", "({A} > {N}).any()", "{A}.ndim == {I}", "{A}.dtype.kind == 'f'", "{A} is {A}", "np.array_equal({A}, {A})", "{B} and {B}", "not {B}", "{B} or {B}", "{T} in D", "{I} in S", "{A}.flags.c_contiguous", "{A}.flags.writeable", "np.shares_memory({A}, {A})", "np.may_share_memory({A}, {A})", "isinstance({N}, float)", "isinstance({A}, np.ndarray)", "{A}.dtype == {d}", "np.isscalar({A})", "{A}.shape == {A}.shape", "len({A})", "callable({A})", "bool({A}.any())", "np.allclose({A}, {A})", "{A}.base is None", "{N} in {A}", "hasattr({A}, 'T')", "np.issubdtype({A}.dtype, np.floating)", "{N} is None", "all(q_ > 0 for q_ in {A}.ravel())", "np.can_cast({A}.dtype, {d})"),
    ),
    "T": (
        ("'u'", "'n'", "mode", "'sum'", "'k'"),
        ("f'{{{N}:.3f}}'", "f'{{{A}.shape}} {{{I}:>3}}'", "str({A}.dtype)", "repr({A})", "str({A})", "'%s' % {N}", "'{{:.2e}}'.format(float({N}))", "', '.join(f'{{q_:g}}' for q_ in {A}.ravel())", "{T}.upper()", "np.array2string({A}, precision=2)", "f'{{{A}!r:.20}}'", "type({A}).__name__", "str({N})", "repr({N})", "f'{{{B}}}'", "' '.join([{T}, {T}])", "np.format_float_positional(float({N}), 2)", "{A}.dtype.name", "str({A}.tolist())", "format({N}, '.1f')"),
    ),
    "P": (
        ("v", "v", "[0, 0, 1]", "v[::-1]", "[0, -1]", "np.array([1, 0, 1])", "v % 2"),
        ("np.argsort({A})", "np.nonzero({A})[0]", "(v + {I}) % 2", "np.arange({I})", "{A}.astype(int) % 2", "{A} > {N}", "np.array([], int)", "list(range({I}))", "v.astype('u1')", "v[:, None] % 2"),
    ),
}  # fmt: skip
OPTIONS = {
    "a": ("0", "-1", "1", "None", "0", "-1", "i"),
    "o": ("", "", "axis={a}", "axis={a}", "axis={a}, keepdims=True", "keepdims=True", "axis=(0, 1)", "axis=(0, -1), keepdims=True", "axis=()", "axis=0, dtype={d}", "dtype={d}", "axis={a}, out=z", "where={A} > {N}", "axis=-1, where={A} > {N}, initial=0"),
    "u": ("", "", "", ", out={n}", ", out={n}, where={A} > {N}", ", dtype={d}", ", casting='unsafe', dtype={d}", ", out={n}[::-1]", ", where={A} > {N}, out=np.zeros(x.shape)", ", order='F'", ", out={n}[...], casting='unsafe'"),
    "d": ("'f4'", "'i8'", "float", "int", "'u1'", "'i1'", "complex", "bool", "np.float32", "'f2'", "x.dtype", "y.dtype", "np.result_type(x, y)", "'u8'"),
    "m": ("'edge'", "'constant'", "'reflect'", "'wrap'"),
    "n": ("x", "y", "z", "w", "z", "w"), "c": ("s", "s", "c"), "k": ("k", "i"), "t": ("u", "n", "k"),
}  # fmt: skip
STATEMENTS = (
    *("z = {A}", "w = {A}") * 6, "s = {N}", "s = {N}", "s += {N}", "i = {I}", "k += 1", "b = {A}", "x = {A}", "z, w = {A}, {A}", "z = w = {A}", "z, *w = {A}, {A}, {N}",
    "{n} += {A}", "{n} -= {N}", "{n} *= {A}", "{n} /= {N}", "{n} //= {A}", "{n} %= {N}", "{n} **= 2", "{n} |= {A}", "{n} ^= {A}", "{n} <<= 1", "{n} @= {A}", "{n}[...] = {A}", "{n}[:] = {N}", "{n}[1:] = {A}[:-1]", "{n}[1:] += {n}[:-1]", "{n}[::-1] = {n}", "{n}[::2] *= {N}", "{n}[..., 0] = {N}", "{n}[..., 0] += {A}[..., -1]", "{n}[:, 1:] -= {A}", "{n}[0] = {A}", "{n}[{I}] = {N}", "{n}[{I}] += {N}", "{n}[{P}] = {A}", "{n}[{P}] += {N}", "{n}[{P}] *= {A}", "{n}[{P}, {P}] += {N}", "{n}[:, {P}] = {N}", "{n}[{A} > {N}] = {N}", "{n}[{A} > {N}] += {A}", "{n}[{n} > {N}] = {A}", "{n}[()] = {N}", "{n}.T[...] += {A}", "{n}.T[0] = {N}", "{n}.flat = {A}", "{n}.flat[{P}] = {N}", "{n}.real = {N}", "{n}.imag += {N}", "{n}.reshape(-1)[::2] = {N}", "{n}.ravel()[0] = {N}",
    "np.add({A}, {A}, out={n})", "np.multiply({n}, {A}, out={n}, where={A} > {N})", "np.subtract({n}[1:], {n}[:-1], out={n}[1:])", "np.add({n}, {n}.T, out={n})", "np.divide({A}, {A}, out={n}, casting='unsafe')", "np.add.at({n}, {P}, {N})", "np.multiply.at({n}, {P}, {A})", "np.negative.at({n}, {P})", "np.maximum.at({n}, ({P}, {P}), {N})", "np.copyto({n}, {A}, where={A} > {N})", "np.copyto({n}, {A}, casting='unsafe')", "np.putmask({n}, {A} > {N}, {A})", "np.place({n}, {n} > {N}, [1, 2])", "np.put({n}, {P}, {N})", "np.fill_diagonal({n}, {N})", "np.put_along_axis({n}, np.argmax({n}, 0, keepdims=True), {N}, 0)", "{n}.sort()", "{n}.sort(axis=0)", "{n}.partition(1)", "{n}.fill({N})", "{n}.setflags(write=False)", "np.sum({A}, axis=0, out={n})", "np.clip({n}, {N}, {N}, out={n})", "np.take({A}, {P}, out={n}, mode='clip')", "np.add.accumulate({n}, out={n})", "np.matmul({A}, {A}, out={n})", "np.add.reduce({A}, axis=0, out={n})", "rng.shuffle({n})", "np.nan_to_num({n}, copy=False)", "{n}.shape = (-1,)",
    "L.append({A})", "L.append({A})", "L += [{N}]", "L[0] = {A}", "L[-1] += {N}", "L.insert(0, {A})", "L.extend({A})", "L.pop()", "L.reverse()", "D['{t}'] = {A}", "D[{T}] = {A}", "D['n'] = {N}", "D['n'] += {N}", "D.setdefault({T}, []).append({N})", "D.update(u={A})", "D.pop('u', None)", "S.add({I})", "S.add({N})", "S.discard({I})", "S |= {{{I}, 7}}", "del D['n']", "D['u'] *= {N}", "D['u'][{I}] = {N}", "note = {T}", "note += {T}", "print({T})", "print({N}, {A}.shape)", "print(f'{{{A}}}')", "print({A}, end='; ')", "assert {B}, {T}", "if {B}: return {A}", "if {B}: raise ValueError({T})", "warnings.warn({T})", "{n} = {n}.copy(); {n} += {N}", "w = {n}; w[...] = {N}", "z = {n}[::-1]; {n}[:] = z", "del b; b = {N}",
)  # fmt: skip
SIGNATURES = {  # parameters, and calls
    "a, b=2.0": ("{A}", "{A}, {A}", "{A}, b={N}", "b={A}, a={A}"),
    "a, b=None, *, mode='sum', k=1": ("{A}", "{A}, {A}", "{A}, mode=None", "{A}, {N}, k={I}", "{A}, mode={T}"),
    "a, /, *rest, k=2, **kw": ("{A}", "{A}, {A}, {N}", "{A}, k={I}", "{A}, {A}, k={I}, b={N}", "*[{A}, {N}]", "{A}, **D"),
    "a, i=0, b=(), L=[]": ("{A}", "{A}, {I}", "{A}, L=L", "{A}, b={A}"),
    "a, D={}, flag=False": ("{A}", "{A}, D", "{A}, flag={B}", "{A}, {{'k': {A}}}"),
}  # fmt: skip
FIRST = (
    "if a.size == 0: return a", "if b is None: b = a", "if not isinstance(a, np.ndarray): a = np.asarray(a)", "if a.ndim > 1: return a.sum(axis=0)", "if np.ndim(a) == 0: raise TypeError('rank 0')", "a = a * 1.0", "a = np.asarray(a, dtype=float)", "b = np.empty(np.shape(a)); b[...] = {N}", "for r in rest: a = a + r", "k = kw.get('b', k)", "a = np.atleast_1d(a)", "out = np.zeros_like(a)", "D['a'] = a", "L.append(a)", "a += 1", "a[0] = 0", "if mode not in ('sum', None): raise KeyError(mode)",
)  # fmt: skip
LAST = ("return a", "return a * b", "return {A}", "return a.sum()", "return a[::-1]", "return a, {N}", "return b", "return None", "return np.where(a > {N}, a, {N})", "return a.copy() if {B} else a", "return {{'a': a, 'n': {N}}}", "return [a, a]")  # fmt: skip
PARAMETERS = "x, y, v, c, k, b=None, mode='sum', *, rng=None, D=None, L=(), flag=False"
STARTS = ("z = x * 1", "w = np.zeros(x.shape)", "s, i, note, S = 0.0, 0, '', {1, 2}")
RESULTS = ("z", "z, w", "x, z", "z, y, s", "z, w, note, i", "D, z", "L, w", "x", "S, s, z", "{'z': z, 'w': w}", "[z, x, y]", "b, z", "(z, note)")  # fmt: skip
BLOCKS = (
    ("if {B}:", "else:"), ("if {B}:",), ("if {B}:", "elif {B}:", "else:"), ("for i in range({I}):",), ("for i in range(3):",), ("for i, q in enumerate({A}):",), ("for b in {A}:",), ("for z in ({A}, {A}):",), ("for name, b in list(D.items()):",), ("for i in np.ndindex({A}.shape):",), ("while (k := k + 1) < 5:",), ("for q, b in zip({A}, {A}):",),
    ("try:", "except ValueError as error:"), ("try:", "except (IndexError, TypeError):"), ("try:", "except Exception as error:", "finally:"), ("try:", "finally:"), ("try:", "except FloatingPointError:", "else:"), ("try:", "except Exception as error:"),
    ("with np.errstate(all='ignore'):",), ("with np.errstate(divide='raise', invalid='raise'):",), ("with np.errstate(all='raise'):",), ("with np.printoptions(precision=2):",), ("with contextlib.suppress(ValueError, IndexError):",), ("def inner(a, b={N}):",), ("def inner(a):",),
)  # fmt: skip
INSIDE = {  # what a block has besides statements, by its head
    "except Exception": "note = f'{type(error).__name__}: {error}'",
    "except ValueError": "L.append(str(error))",
    "finally": "k += 1",
    "def": "nonlocal s, z",
}


@dataclass(frozen=True)
class Module:
    """Lines of helpers and of ``program``, and the seeds of the arguments of each call."""

    seed: int
    helpers: tuple[tuple[str, ...], ...]
    body: tuple[str, ...]
    calls: tuple[int, ...]

    def __str__(self) -> str:
        return f"# seed {self.seed}, calls {self.calls}\n{self.source}"

    @property
    def source(self) -> str:
        helpers = [line for lines in self.helpers for line in (*lines, "", "")]
        return "\n".join([*helpers, f"def program({PARAMETERS}):", *self.body, ""])

    def load(self) -> dict[str, Any]:
        """The globals, with the function."""
        space = {**SCOPE, "contextlib": contextlib, "operator": operator, "warnings": warnings}
        return defined(f"module {self.seed}", self.source, space)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.calls: list[str] = []

    def filled(self, template: str, depth: int = 2) -> str:
        def fill(found: re.Match[str]) -> str:
            if not found[1]:
                return found[0][0]
            if found[1] in FORMS:
                return self.expression(found[1], depth)
            return self.filled(self.rng.choice(OPTIONS[found[1]]), depth - 1)

        return re.sub(r"\{([ANIBTPaoudmnckt])\}|\{\{|\}\}", fill, template)

    def expression(self, kind: str, depth: int) -> str:
        leaves, forms = FORMS[kind]
        if depth <= 0 or self.rng.random() < 0.45:
            return self.rng.choice(leaves)
        if self.calls and kind in "AN" and self.rng.random() < 0.25:
            return self.filled(self.rng.choice(self.calls), depth - 1)
        return self.filled(self.rng.choice(forms), depth - 1)

    def lines(self, depth: int = 0) -> list[str]:
        """A statement."""
        rng = self.rng
        if depth < 2 and rng.random() < 0.28:
            found: list[str] = []
            for head in rng.choice(BLOCKS):
                inside = next(
                    (text for start, text in INSIDE.items() if head.startswith(start)), ""
                )
                lines = [inside] if inside else []
                for _ in range(rng.choice((1, 1, 2))):
                    lines += self.lines(depth + 1)
                if head.startswith("def"):
                    lines.append(self.filled("return {A}"))
                found += [self.filled(head), *(f"    {line}" for line in lines)]
            if found[0].startswith("def"):
                found.append(self.filled("z = inner({A})"))
            elif found[0].startswith(("for", "while")) and rng.random() < 0.3:
                found.append(self.filled(f"    if {{B}}: {rng.choice(('break', 'continue'))}"))
            return found
        return self.filled(rng.choice(STATEMENTS)).split("; ")

    def helper(self, number: int) -> tuple[str, ...]:
        rng = self.rng
        params = rng.choice(list(SIGNATURES))
        names = set(re.findall(r"\b(a|b|k|mode|rest|kw|i|L|D|flag)\b", params)) | {"a"}
        lines = [f"def h{number}({params}):"]
        for text in rng.sample(FIRST, 8)[: rng.choice((1, 2, 3))]:
            if set(re.findall(r"\b(b|k|mode|rest|kw|L|D)\b", text)) <= names:
                lines += [f"    {each}" for each in self.filled(text).split("; ")]
        lines.append(f"    {self.filled(rng.choice(LAST))}")
        free = {
            "x": "a",
            "y": "a",
            "z": "a",
            "w": "a",
            "v": "[0, -1]",
            "c": "1.5",
            "s": "2",
            "rng": "np.random.default_rng(3)",
            "S": "(1, 2)",
        }
        free |= {
            "b": "a",
            "k": "2",
            "mode": "'u'",
            "i": "1",
            "L": "[a]",
            "D": "{'u': a}",
            "flag": "True",
        }
        known = {name: text for name, text in free.items() if name not in names}
        text = "\n".join(lines[1:])
        text = re.sub(
            r"(?<![\w.'])(?:" + "|".join(known) + r")\b(?!['=])", lambda m: known[m[0]], text
        )
        self.calls += [f"h{number}({call})" for call in SIGNATURES[params]]
        return (lines[0], *text.split("\n"))


def random_module(seed: int) -> Module:
    """The program of this seed; most statements are such as the arguments of the first call allow."""
    writer = _Writer(seed)
    rng = writer.rng
    calls = [rng.randrange(1 << 30)]
    for _ in range(rng.choice((2, 3, 4))):
        calls.append(calls[-1] if rng.random() < 0.4 else rng.randrange(1 << 30))
    helpers = tuple(writer.helper(number) for number in range(rng.choice((0, 0, 1, 1, 2))))
    module = Module(seed, helpers, tuple(f"    {line}" for line in STARTS), tuple(calls))
    if not _runs(module):
        module, writer.calls = replace(module, helpers=()), []
    for _ in range(rng.choice((1, 2, 3, 4, 5))):
        for _ in range(15):
            lines = tuple(f"    {line}" for line in writer.lines())
            longer = replace(module, body=(*module.body, *lines))
            if rng.random() < 0.03 or _runs(longer):
                module = longer
                break
    return replace(module, body=(*module.body, f"    return {rng.choice(RESULTS)}"))


def _runs(module: Module) -> bool:
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            args, options = arguments(module.calls[0])
            module.load()["program"](*args, **options)
    except Exception:
        return False
    return True


def values(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array in one of many layouts, perhaps with special values."""
    kind, shift = rng.random(), rng.randrange(6)
    x = array(dtype, shape, shift)
    if rng.random() < 0.15 and x.size:
        with np.errstate(all="ignore"):
            flat = x.reshape(-1)
            if x.dtype.kind in ODD:
                odd = np.array(ODD[x.dtype.kind])[: flat.size]
                flat[: odd.size] = odd
            elif x.dtype.kind in "iu":
                flat[::2] = np.iinfo(x.dtype).max
                flat[1::3] = np.iinfo(x.dtype).min
    if kind < 0.6 or not x.ndim:
        return x
    if kind < 0.7:
        return np.asfortranarray(x)
    if kind < 0.78:
        return x[::-1]
    if kind < 0.84:
        wide = array(dtype, (*shape[:-1], 2 * shape[-1] + 1), shift)
        return wide[..., 1::2][..., : shape[-1]]
    if kind < 0.9:
        return x.T
    if kind < 0.93:
        x.flags.writeable = False
    elif kind < 0.96:
        return np.broadcast_to(x[:1], shape) if shape[0] else x
    return x


def arguments(seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, and its options."""
    rng = random.Random(seed)
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    x = values(rng, dtype, shape)
    y = values(
        rng,
        dtype if rng.random() < 0.5 else rng.choice(DTYPES),
        shape if rng.random() < 0.8 else rng.choice(SHAPES),
    )
    alias = rng.random()
    if alias < 0.05:
        y = x
    elif alias < 0.1 and x.ndim:
        y = x[::-1]
    elif alias < 0.13:
        y = x.T
    elif alias < 0.16 and x.ndim and x.shape[0] > 2:
        x, y = x[1:], x[:-1]
    elif alias < 0.18:
        y = x[...]
    v = np.array(rng.choice(([0, 1, 1], [2, 0, 1], [0], [1, -1, 0], [0, 1, 2, 3, 0], [])), int)
    c = rng.choice((0.5, 1.0, 2, 0, -1.5, 3, -0.0, np.float32(0.5), np.int64(2), True))
    options: dict[str, Any] = {}
    if rng.random() < 0.25:
        options["b"] = rng.choice((x, y, 2.0, array("f8", (3,), 1), None, 1))
    if rng.random() < 0.2:
        options["mode"] = rng.choice((None, "sum", "mean"))
    options["rng"] = np.random.default_rng(rng.randrange(5))
    options["D"] = {"u": rng.choice((x, array(dtype, shape, 2), y)), "n": rng.choice((1, 0.5))}
    options["L"] = [rng.choice((x, array("f8", (3,), 2), array("i8", (2, 2), 1)))]
    if rng.random() < 0.3:
        options["flag"] = True
    return (x, y, v, c, rng.choice((0, 1, 2, 3))), options


def smaller(module: Module) -> Iterator[Module]:
    """Modules with fewer calls, helpers or lines."""
    for place in range(len(module.calls) if len(module.calls) > 1 else 0):
        yield replace(module, calls=module.calls[:place] + module.calls[place + 1 :])
    for place in range(len(module.helpers)):
        yield replace(module, helpers=module.helpers[:place] + module.helpers[place + 1 :])
    for size in (6, 3, 2, 1):
        for place in range(len(module.body) - size, -1, -1):
            yield replace(module, body=module.body[:place] + module.body[place + size :])
    for place, line in enumerate(module.body):  # without the head of a block
        if line.endswith(":"):
            indent = len(line) - len(line.lstrip())
            end = next(
                (
                    k
                    for k in range(place + 1, len(module.body))
                    if len(module.body[k]) - len(module.body[k].lstrip()) <= indent
                ),
                len(module.body),
            )
            inside = tuple(each[4:] for each in module.body[place + 1 : end])
            yield replace(module, body=module.body[:place] + inside + module.body[end:])
