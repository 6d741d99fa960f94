"""Types of values: arrays with NumPy's layout, and scalars of NumPy's or Python's kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .boxed_dtypes import boxed_name, is_boxed, is_without_unit
from .dtypes import same_dtype
from .records import frozen
from .size_guards import guard
from .symbols import Dim, product

# Note [Layout in types]
# An ArrayType carries the strides (in bytes) that NumPy's array would have at this point. In a
# captured graph they decide whether reshape and ravel give a view or a copy, and what can be
# written. In a functional graph no value depends on them, but two things NumPy users see do: the
# layout of a result, and the order in which NumPy adds up a sum. They are therefore kept through
# all passes, as a description of NumPy's array and not of the buffer that lowering chooses.
# Strides of dims of size 0 or 1 have no meaning and are normalised by ``normal_strides``. A program
# that reads ``x.strides`` is told those of NumPy's array all the same (``sharing.strides_of``).

DTYPE_NAMES = {
    np.dtype(code): name
    for code, name in [
        ("?", "bool"),
        *((f"i{n}", f"i{8 * n}") for n in (1, 2, 4, 8)),
        *((f"u{n}", f"u{8 * n}") for n in (1, 2, 4, 8)),
        *((f"f{n}", f"f{8 * n}") for n in (2, 4, 8)),
        *((f"c{n}", f"c{8 * n}") for n in (8, 16)),
    ]
}
_KNOWN = {dtype: dtype for dtype in DTYPE_NAMES}


def is_known(dtype: np.dtype) -> bool:
    """Whether graphs know a dtype: they compute with it, or see Note [Boxed dtypes].

    NumPy calls dtypes equal that programs can tell apart: ``longlong`` and ``long`` of one size,
    and those with metadata.
    """
    known = _KNOWN.get(dtype)
    if known is None:
        return is_boxed(dtype)
    return known is dtype or same_dtype(known, dtype)


def known_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype itself, which is known; the one object that is of those with names."""
    return _KNOWN.get(dtype, dtype)


def dtype_name(dtype: np.dtype) -> str:
    """How the text of graphs writes a known dtype: ``f64``, or ``'<M8[s]'``."""
    return DTYPE_NAMES.get(dtype) or repr(boxed_name(dtype))


DTYPES_BY_NAME = {name: dtype for dtype, name in DTYPE_NAMES.items()}
PYTHON_KINDS: dict[type, np.dtype] = {
    bool: np.dtype(bool),
    int: np.dtype("i8"),
    float: np.dtype("f8"),
    complex: np.dtype("c16"),
}
# Of what the real and the imaginary part of a complex number are.
PART_DTYPES: dict[np.dtype, np.dtype] = {
    np.dtype("c8"): np.dtype("f4"),
    np.dtype("c16"): np.dtype("f8"),
}


def part_dtype(dtype: np.dtype) -> np.dtype:
    """Of what the parts of complex numbers are, of any dtype."""
    return PART_DTYPES.get(dtype) or np.empty(0, dtype).real.dtype


_PYTHON_TYPES = {"b": bool, "i": int, "f": float, "c": complex}


@frozen
class ArrayType:
    """An ``np.ndarray``: dtype, shape (dims), strides in bytes, whether it may be written, and
    whether its elements, or the fields of its elements, lie at multiples of their alignment.
    """

    dtype: np.dtype
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    writeable: bool = True
    aligned: bool = True

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def weak(self) -> bool:
        """No array yields in promotion."""
        return False

    @property
    def in_loops(self) -> np.dtype | type:
        """What ``np.ufunc.resolve_dtypes`` takes for it."""
        return self.dtype

    @property
    def size(self) -> Dim:
        """The number of elements."""
        return product(self.shape)

    def new(
        self, shape: Sequence[Dim] | None = None, dtype: np.dtype | str | type | None = None
    ) -> ArrayType:
        """A new array, without gaps: of this shape and order of axes, or of another in C order.

        >>> x = array_type(np.dtype("f4"), (4, 3))
        >>> print(x.new(), x.new((2,)), x.new(dtype=bool))
        f32[4, 3] f32[2] bool[4, 3]
        """
        kind = self.dtype if dtype is None else np.dtype(dtype)
        if shape is not None:
            return array_type(kind, shape)
        return ArrayType(
            kind, self.shape, ordered_strides(self.shape, stride_order(self), kind.itemsize)
        )

    def scalar(self, dtype: np.dtype | str | type | None = None) -> ScalarType:
        """A scalar of NumPy's: what a reduction of the array gives."""
        return ScalarType(self.dtype if dtype is None else np.dtype(dtype))

    def __str__(self) -> str:
        text = f"{dtype_name(self.dtype)}[{', '.join(map(str, self.shape))}]"
        if self.strides != c_strides(self.shape, self.dtype.itemsize):
            text += f"{{{', '.join(map(str, self.strides))}}}"
        return text + " ro" * (not self.writeable) + " unaligned" * (not self.aligned)


@frozen
class ScalarType:
    """A scalar: NumPy's (``np.float64``), or Python's own, which is ``weak`` in promotion."""

    dtype: np.dtype
    weak: bool = False

    @property
    def shape(self) -> tuple[Dim, ...]:
        return ()

    @property
    def rank(self) -> int:
        return 0

    def new(
        self, shape: Sequence[Dim] | None = None, dtype: np.dtype | str | type | None = None
    ) -> Type:
        """A scalar of NumPy's, or an array of this shape in C order."""
        kind = self.scalar(dtype)
        return kind if shape is None else array_type(kind.dtype, shape)

    def scalar(self, dtype: np.dtype | str | type | None = None) -> ScalarType:
        """A scalar of NumPy's."""
        return ScalarType(self.dtype if dtype is None else np.dtype(dtype))

    @property
    def python_type(self) -> type:
        """``bool``, ``int``, ``float`` or ``complex`` for a weak scalar."""
        return _PYTHON_TYPES[self.dtype.kind]

    @property
    def in_loops(self) -> np.dtype | type:
        """What ``np.ufunc.resolve_dtypes`` takes for it: the type of a number, or a dtype."""
        return self.python_type if self.weak and self.dtype.kind != "b" else self.dtype

    @property
    def zero(self) -> Any:
        """A number of this type."""
        return self.python_type(0) if self.weak else filled((), self.dtype, 0)[()]

    @property
    def one(self) -> Any:
        """Another one."""
        return self.python_type(1) if self.weak else filled((), self.dtype, 1)[()]

    def __str__(self) -> str:
        return f"py.{self.python_type.__name__}" if self.weak else dtype_name(self.dtype)


Type = ArrayType | ScalarType


def filled(shape: tuple[int, ...], dtype: np.dtype, number: int) -> np.ndarray:
    """An array of one number; of dates without a unit, which have none, of NaT."""
    is_unset = dtype.kind == "M" and is_without_unit(dtype)
    if dtype.kind == "m":  # NumPy 2.5 warns where one of Python's becomes a duration without a unit
        return np.full(shape, number, np.int64).astype(dtype)
    return np.full(shape, "NaT" if is_unset else number, dtype)


PY_BOOL = ScalarType(np.dtype(bool), weak=True)
PY_INT = ScalarType(np.dtype(np.int64), weak=True)
PY_FLOAT = ScalarType(np.dtype(float), weak=True)


def array_type(
    dtype: np.dtype, shape: Sequence[Dim], strides: Sequence[Dim] | None = None
) -> ArrayType:
    """An array type with normalised strides; C order where none are given."""
    shape = tuple(shape)
    if strides is None:
        return ArrayType(dtype, shape, c_strides(shape, dtype.itemsize))
    return ArrayType(dtype, shape, normal_strides(shape, strides, dtype.itemsize))


def scalar_type_of(value: object) -> ScalarType:
    """The type of a Python or NumPy scalar.

    Raises ``TypeError`` for anything else.
    """
    if isinstance(value, np.generic):
        return ScalarType(value.dtype)
    for kind, dtype in PYTHON_KINDS.items():
        if type(value) is kind:
            return ScalarType(dtype, weak=True)
    raise TypeError(f"{type(value).__name__} is not a scalar fxc knows")


def c_strides(shape: Sequence[Dim], itemsize: int) -> tuple[Dim, ...]:
    """Strides of a fresh array in C order, normalised: those of 0- and 1-sized dims count too."""
    strides: list[Dim] = []
    step: Dim = itemsize
    for dim in reversed(shape):
        strides.append(step)
        step = step * dim if dim != 0 else step
    return tuple(reversed(strides))


def normal_strides(shape: Sequence[Dim], strides: Sequence[Dim], itemsize: int) -> tuple[Dim, ...]:
    """Strides in which those without meaning (dims of size 0 and 1) are as in C order.

    Two arrays whose elements lie alike then have equal strides.
    """
    if any(dim == 0 for dim in shape):
        return c_strides(shape, itemsize)
    result: list[Dim] = list(strides)
    step: Dim = itemsize
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] == 1:
            result[axis] = step
        step = result[axis] * shape[axis]
    return tuple(result)


def is_c_contiguous(kind: ArrayType) -> bool:
    """Whether the elements lie in C order without gaps (NumPy's ``flags.c_contiguous``)."""
    return kind.strides == c_strides(kind.shape, kind.dtype.itemsize)


def stride_order(kind: ArrayType) -> tuple[int, ...]:
    """The axes from the outermost to the innermost in memory: NumPy's K order.

    Axes whose strides agree stay in C order, and so do those of size 1 as far as the others let
    them: ``.strides`` of a new array shows where they stand. Guards compare symbolic strides.
    """
    if is_c_contiguous(kind):
        return tuple(range(kind.rank))
    inner_first: list[int] = []
    for axis in reversed(range(kind.rank)):
        place = len(inner_first)
        if kind.shape[axis] != 1:
            for at in reversed(range(len(inner_first))):
                inner = inner_first[at]
                if kind.shape[inner] == 1:
                    continue
                if _is_outer(kind, axis, inner):
                    break
                place = at
        inner_first.insert(place, axis)
    return tuple(reversed(inner_first))


def _is_outer(kind: ArrayType, left: int, right: int) -> bool:
    """Whether axis ``left`` lies outside of axis ``right`` in memory, or nothing tells."""
    a, b = kind.strides[left], kind.strides[right]
    return a == b or guard(_magnitude(a), ">=", _magnitude(b))


def layout_model(dtype: np.dtype, order: Sequence[int]) -> np.ndarray:
    """An array for ``np.empty_like(model, shape=…)``, which makes one whose axes lie in memory as
    ``order`` says. Its elements say nothing.

    >>> np.empty_like(layout_model(np.dtype("f8"), (1, 2, 0)), shape=(2, 3, 4)).strides
    (8, 64, 16)
    """
    rank = len(order)
    if rank < 2:
        return np.empty((1,) * rank, dtype)
    strides = [0] * rank
    for place, axis in enumerate(order):  # with gaps: NumPy looks at the strides then
        strides[axis] = (rank + 1 - place) * dtype.itemsize
    return as_strided(np.zeros(rank + 2, dtype), (2,) + (1,) * (rank - 1), strides)


def strided_empty(dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """A new array with these strides, gaps and all; its elements are not set."""
    reaches = [step * (size - 1) for step, size in zip(strides, shape, strict=True)]
    before = -sum(reach for reach in reaches if reach < 0)
    memory = np.empty(sum(map(abs, reaches)) + dtype.itemsize, np.uint8)
    return np.ndarray(shape, dtype, memory, before, strides)


def _magnitude(stride: Dim) -> Dim:
    return -stride if guard(stride, "<", 0) else stride


def ordered_strides(shape: Sequence[Dim], order: Sequence[int], itemsize: int) -> tuple[Dim, ...]:
    """Strides of a fresh array whose axes lie in memory as ``order`` says, outermost first."""
    strides: list[Dim] = [itemsize] * len(shape)
    step: Dim = itemsize
    for axis in reversed(order):
        strides[axis] = step
        step = step * shape[axis] if shape[axis] != 0 else step
    return normal_strides(shape, strides, itemsize)
