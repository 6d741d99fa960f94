"""Composites against NumPy, bit for bit, each kind on real arrays through the CPU column."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import AliasKey, DispatchKey
from fxc.ops.composite_rows import COMPOSITES, Composite
from fxc.ops.identities import IDENTITIES, power_takes_shortcuts
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import meta_of
from fxc.ops.samples import samples
from fxc.ops.table import TABLE


def dispatcher_for(composite: Composite) -> Dispatcher:
    """NumPy kernels for all operators but the composite's, which is decomposed."""

    def kernels(name: str) -> Any:
        if name == composite.op:
            raise KeyError(name)
        return kernel_of(name)

    dispatcher = Dispatcher()
    dispatcher.source(DispatchKey.CPU, kernels)
    dispatcher.source(DispatchKey.META, meta_of)
    dispatcher.impl_composite(composite.op, AliasKey(composite.alias_key), composite.function)
    dispatcher.fallback(DispatchKey.CPU, lambda op, args: DECLINED)
    return dispatcher


DECLINED = object()


def bits(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(bits, x))
    kind = np.ndarray if isinstance(x, np.ndarray) else type(x)
    return kind, x.dtype, x.shape, np.ascontiguousarray(x).tobytes()


ELSEWHERE = ("bincount", "histogram", "ufunc_reduce")  # few samples, and tests of their own
TRIED = [composite for composite in COMPOSITES if composite.op not in ELSEWHERE]
IDS = [f"{composite.op}-{composite.alias_key}" for composite in TRIED]


@pytest.mark.parametrize("composite", TRIED, ids=IDS)
def test_composite_has_the_bits_of_numpy(composite: Composite) -> None:
    dispatcher = dispatcher_for(composite)
    served = 0
    for sample in samples(TABLE[composite.op]):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = dispatcher.call(composite.op, *sample.args)
            expected = kernel_of(composite.op)(*sample.args)
        if found is DECLINED:
            continue
        served += 1
        assert bits(found) == bits(expected), sample
    assert served > 3


@pytest.mark.parametrize("composite", TRIED, ids=IDS)
def test_composite_gives_the_layout_of_numpy(composite: Composite) -> None:
    dispatcher = dispatcher_for(composite)
    for sample in samples(TABLE[composite.op]):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = dispatcher.call(composite.op, *sample.args)
            expected = kernel_of(composite.op)(*sample.args)
        if isinstance(found, np.ndarray) and found.size:
            type_of = dispatcher.ops.type_of
            assert type_of(found) == type_of(expected), sample


def large(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.random.default_rng(1).standard_normal(int(np.prod(shape))) * 100
    return values.astype(dtype).reshape(shape)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
def test_averages_of_many_elements_have_the_bits_of_numpy(name: str, dtype: str) -> None:
    (composite,) = (each for each in COMPOSITES if each.op == name)
    dispatcher = dispatcher_for(composite)
    for shape, axis, keepdims in itertools.product(
        [(10007,), (301, 203)], [None, (0,), (-1,)], [False, True]
    ):
        x = large(dtype, shape)
        for array in (x, x.T, x[::-1], x[..., ::3]):
            with np.errstate(all="ignore"):
                found = dispatcher.call(name, array, axis=axis, keepdims=keepdims)
                expected = kernel_of(name)(
                    array, axis, keepdims, None, *([0] if name != "mean" else [])
                )
            assert bits(found) == bits(expected)


# ---------------------------------------------------------------- identities

EXPONENTS = (2, 2.0, 0.5, -1, -1.0, 1, 1.0, 3, np.float32(2), np.float64(0.5), np.int64(2), True)


def interesting(dtype: str) -> np.ndarray:
    """Values of all magnitudes, special ones among them; only such whose powers do not raise."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.array([0, 1, 2, 3, 100, info.min, info.max], kind)
    unsigned = np.random.default_rng(2).integers(0, 2**62, 4000, dtype=np.uint64)
    random = unsigned.view(np.float64)
    with np.errstate(all="ignore"):
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324])
        return np.concatenate([random, -random, special]).astype(kind)


@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i8", "u1"])
def test_power_is_rewritten_only_where_numpy_computes_the_same(dtype: str, exponent: Any) -> None:
    from fxc.ir.graph import Literal, Value
    from fxc.ir.types import array_type

    base = interesting(dtype)
    for x in (base, base[:1], base[::-2], base.reshape(-1, 1), np.array(base[3])):
        value = Value("x", array_type(x.dtype, x.shape, x.strides))
        found = IDENTITIES["power"]((value, Literal(exponent)))
        if found is None:
            continue
        op, args = found
        assert args == (value,)
        with np.errstate(all="ignore"):
            assert bits(kernel_of(op)(x)) == bits(np.power(x, exponent))


def test_power_becomes_a_square_a_root_a_reciprocal() -> None:
    from fxc.ir.graph import Literal, Value
    from fxc.ir.types import array_type

    x = Value("x", array_type(np.dtype("f8"), (3,)))
    power = IDENTITIES["power"]
    exponents = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive", 3: None}
    for exponent, op in exponents.items():
        found = power((x, Literal(exponent)))
        assert found == ((op, (x,)) if op and power_takes_shortcuts() else None)
