"""Metas of contractions and of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, Type, ordered_strides

from ..library import eigenvalues, eigenvectors
from ..table import TABLE
from .layout import copied_strides, fresh_strides, iteration_order
from .pointwise import pointwise_type
from .probing import Operand, ask, ask_bound, fail_in_numpy, key_of, type_of
from .shapes import broadcast_shapes, same_dim


def _stacked(
    dtype: np.dtype[Any],
    loops: tuple[tuple[ArrayType, int], ...],
    core: tuple[Dim, ...],
    refuse: Callable[[], NoReturn],
) -> ArrayType:
    """What a generalised ufunc allocates: ``core`` in C order, inside the axes of its loop.

    ``loops`` are the operands, each with how many of its axes belong to the core; ``refuse`` is
    called if the others do not broadcast.
    """
    outers = [ArrayType(x.dtype, x.shape[: x.rank - n], x.strides[: x.rank - n]) for x, n in loops]
    try:
        outer_shape = broadcast_shapes(*(kind.shape for kind in outers))
    except ValueError:
        refuse()
    order = iteration_order(len(outer_shape), outers)
    shape = (*outer_shape, *core)
    layout = (*order, *range(len(outer_shape), len(shape)))
    return ArrayType(dtype, shape, ordered_strides(shape, layout, dtype.itemsize))


def matmul(x: Operand, y: Operand) -> Type:
    """``np.matmul``."""
    (found,) = ask_bound(TABLE["matmul"], (key_of(x), key_of(y)))
    left, right = type_of(x), type_of(y)
    assert isinstance(left, ArrayType)
    assert isinstance(right, ArrayType)

    def refuse() -> NoReturn:
        fail_in_numpy(np.matmul, left, right)

    if not same_dim(left.shape[-1], right.shape[-min(right.rank, 2)]):
        refuse()
    core = (*left.shape[-2:-1], *(right.shape[-1:] if right.rank > 1 else ()))
    if left.rank > 2 or right.rank > 2:
        loops = (left, min(left.rank, 2)), (right, min(right.rank, 2))
        return _stacked(found.dtype, loops, core, refuse)
    return (
        ArrayType(found.dtype, core, fresh_strides(core, found.dtype.itemsize)) if core else found
    )


def dot(x: Operand, y: Operand) -> Type:
    """``np.dot``."""
    left, right = type_of(x), type_of(y)
    (found,) = ask(np.dot, (key_of(x), key_of(y)))
    if left.rank == 0 and right.rank == 0:
        return found
    if left.rank == 0 or right.rank == 0:
        return _scaled(found.dtype, left if left.rank else right)
    place = max(right.rank - 2, 0)
    if not same_dim(left.shape[-1], right.shape[place]):
        fail_in_numpy(np.dot, left, right)
    shape = (*left.shape[:-1], *right.shape[:place], *right.shape[place + 1 :])
    if not shape:
        return found
    return ArrayType(found.dtype, shape, fresh_strides(shape, found.dtype.itemsize))


def _scaled(dtype: np.dtype[Any], kind: Type) -> Type:
    """An array times a scalar: by BLAS up to rank 2, where BLAS knows the dtype, else a ufunc."""
    assert isinstance(kind, ArrayType)
    if kind.dtype != dtype:
        kind = ArrayType(dtype, kind.shape, copied_strides(kind, "K", dtype.itemsize))
    if dtype.char in "fdFD" and kind.rank <= 2:
        return ArrayType(dtype, kind.shape, fresh_strides(kind.shape, dtype.itemsize))
    return pointwise_type(dtype, kind)


def outer(x: Operand, y: Operand) -> Type:
    """``np.outer`` of the flattened operands."""
    (found,) = ask(np.outer, (key_of(x), key_of(y)))
    sizes = [k.size if isinstance(k, ArrayType) else 1 for k in (type_of(x), type_of(y))]
    return ArrayType(found.dtype, tuple(sizes), fresh_strides(tuple(sizes), found.dtype.itemsize))


def _square(kind: Type, *operands: Type, name: str) -> ArrayType:
    if not isinstance(kind, ArrayType) or kind.rank < 2 or not same_dim(*kind.shape[-2:]):
        fail_in_numpy(getattr(np.linalg, name), kind, *operands)
    return kind


def linalg_inv(x: Operand) -> Type:
    """``np.linalg.inv``: over stacks of square matrices."""
    kind = _square(type_of(x), name="inv")
    (found,) = ask(np.linalg.inv, ((kind.dtype, 2, None),))

    def refuse() -> NoReturn:
        fail_in_numpy(np.linalg.inv, kind)

    return _stacked(found.dtype, ((kind, 2),), kind.shape[-2:], refuse)


def linalg_solve(x: Operand, y: Operand) -> Type:
    """``np.linalg.solve``: ``y`` is a stack of matrices, or one vector if of rank 1."""
    right = type_of(y)
    left = _square(type_of(x), right, name="solve")

    def refuse() -> NoReturn:
        fail_in_numpy(np.linalg.solve, left, right)

    core = min(right.rank, 2)
    if not core or not same_dim(left.shape[-1], right.shape[-core]):
        refuse()
    assert isinstance(right, ArrayType)
    (found,) = ask(np.linalg.solve, ((left.dtype, 2, None), (right.dtype, core, None)))
    return _stacked(found.dtype, ((left, 2), (right, core)), right.shape[-core:], refuse)


def _of_square(name: str, *cores: int) -> Callable[..., Any]:
    """The meta of a function of stacks of square matrices, whose results have so many axes each
    behind those of the stack; a number where there are none at all.
    """
    function = getattr(np.linalg, name)

    def meta(x: Operand, *options: object) -> Any:
        kind = _square(type_of(x), name=name)
        found = ask(function, ((kind.dtype, 2, None),))

        def refuse() -> NoReturn:
            fail_in_numpy(function, kind)

        made = [
            _stacked(each.dtype, ((kind, 2),), kind.shape[-1:] * core, refuse)
            for each, core in zip(found, cores, strict=True)
        ]
        results = [each if each.rank else ScalarType(each.dtype) for each in made]
        return tuple(results) if len(results) > 1 else results[0]

    return meta


def _matrices(x: Operand, function: Callable[..., Any]) -> tuple[ArrayType, Dim, Dim, Dim]:
    """The type of a stack of matrices, with their rows, their columns, and the least of both."""
    kind = type_of(x)
    if not isinstance(kind, ArrayType) or kind.rank < 2:
        fail_in_numpy(function, kind)
    rows, columns = kind.shape[-2:]
    return kind, rows, columns, columns if guard(rows, ">=", columns) else rows


def _parts(
    kind: ArrayType, function: Callable[..., Any], *cores: tuple[Dim, ...]
) -> tuple[ArrayType, ...]:
    """What a function gives of a stack of matrices: so much for each."""

    def refuse() -> NoReturn:
        fail_in_numpy(function, kind)

    found = ask(function, ((kind.dtype, 2, None),))
    parts = zip(found, cores, strict=True)
    return tuple(_stacked(each.dtype, ((kind, 2),), core, refuse) for each, core in parts)


def linalg_svd(x: Operand, full_matrices: bool) -> tuple[Type, ...]:
    """``np.linalg.svd``."""
    kind, rows, columns, least = _matrices(x, np.linalg.svd)
    left, right = (rows, columns) if full_matrices else (least, least)
    return _parts(kind, np.linalg.svd, (rows, left), (least,), (right, columns))


def linalg_svdvals(x: Operand) -> Type:
    """``np.linalg.svdvals``."""
    kind, _, _, least = _matrices(x, np.linalg.svdvals)
    (found,) = _parts(kind, np.linalg.svdvals, (least,))
    return found


def linalg_qr(x: Operand, mode: str) -> tuple[Type, Type]:
    """``np.linalg.qr``."""
    kind, rows, columns, least = _matrices(x, np.linalg.qr)
    if mode == "complete":
        least = rows if guard(rows, ">", columns) else least
    q, _ = _parts(kind, np.linalg.qr, (rows, least), (least, columns))
    return q, _upper(kind, least, q.dtype)


def linalg_qr_r(x: Operand) -> Type:
    """The triangle of ``np.linalg.qr``."""
    kind, _, _, least = _matrices(x, np.linalg.qr)
    found, _ = ask(np.linalg.qr, ((kind.dtype, 2, None),))
    return _upper(kind, least, found.dtype)


def _upper(kind: ArrayType, rows: Dim, dtype: np.dtype[Any]) -> Type:
    """The upper triangle of so many rows of a copy of some matrices, by ``np.triu``."""
    shape = (*kind.shape[:-2], rows, kind.shape[-1])
    part = ArrayType(dtype, shape, copied_strides(kind, "K", dtype.itemsize))
    mask = ArrayType(np.dtype(bool), shape[-2:], fresh_strides(shape[-2:], 1))
    return pointwise_type(dtype, mask, part)


def linalg_eig(x: Operand) -> tuple[Type, ...]:
    """``np.linalg.eig``."""
    kind = _square(type_of(x), name="eig")
    return _parts(kind, eigenvectors, kind.shape[-1:], kind.shape[-2:])


def linalg_eigvals(x: Operand) -> Type:
    """``np.linalg.eigvals``."""
    kind = _square(type_of(x), name="eigvals")
    (found,) = _parts(kind, eigenvalues, kind.shape[-1:])
    return found


def linalg_lstsq(x: Operand, y: Operand, rcond: Operand | None) -> tuple[Type, ...]:
    """``np.linalg.lstsq``."""
    left, right = type_of(x), type_of(y)
    is_fit = isinstance(left, ArrayType) and left.rank == 2 and right.rank in (1, 2)
    if not is_fit or not same_dim(left.shape[0], right.shape[0]):
        fail_in_numpy(np.linalg.lstsq, left, right)
    rows, columns = left.shape
    sides = (right.shape[1] if right.rank == 2 else 1,)
    keys = (left.dtype, 2, None), (right.dtype, right.rank, None), None
    found = ask(np.linalg.lstsq, keys)
    is_tall = guard(rows, ">", columns)
    shapes = (
        (columns, *right.shape[1:]),
        sides if is_tall else (0,),
        (),
        (columns if is_tall else rows,),
    )
    arrays = [
        ArrayType(kind.dtype, shape, fresh_strides(shape, kind.dtype.itemsize)) if shape else kind
        for kind, shape in zip(found, shapes, strict=True)
    ]
    return tuple(arrays)


METAS: dict[str, Callable[..., Any]] = {
    "linalg_svd": linalg_svd,
    "linalg_svdvals": linalg_svdvals,
    "linalg_qr": linalg_qr,
    "linalg_qr_r": linalg_qr_r,
    "linalg_eig": linalg_eig,
    "linalg_eigvals": linalg_eigvals,
    "linalg_lstsq": linalg_lstsq,
    "linalg_det": _of_square("det", 0),
    "linalg_cholesky": _of_square("cholesky", 2),
    "linalg_eigvalsh": _of_square("eigvalsh", 1),
    "linalg_eigh": _of_square("eigh", 1, 2),
    "linalg_slogdet": _of_square("slogdet", 0, 0),
    "matmul": matmul,
    "dot": dot,
    "outer": outer,
    "linalg_inv": linalg_inv,
    "linalg_solve": linalg_solve,
}
