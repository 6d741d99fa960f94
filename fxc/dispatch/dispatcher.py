"""The grid operator × dispatch key, and the call that finds its way through it.

::

    dispatcher.impl("add", DispatchKey.CPU, np.add)              # a cell
    dispatcher.source(DispatchKey.CPU, kernel_of)                # cells found by name when asked
    dispatcher.fallback(DispatchKey.TRACE, trace)                # a column: trace(op, args)
    dispatcher.impl_composite("mean", AliasKey.EXPLICIT, mean)   # several columns: mean(ops, *args)
    dispatcher.fallthrough(DispatchKey.FUNCTIONALIZE, is_of_numbers)  # on to the next key

Each registration gives a handle whose ``remove()`` undoes it. The order of registrations does
not matter: what a call runs is decided by precedence (Note [Which kernel runs]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.graph import Literal, Region, Value
from fxc.ir.later import import_later
from fxc.ir.records import field, mutable
from fxc.ir.schema import Param
from fxc.ir.types import Type
from fxc.ops.operators import Operator, Row
from fxc.ops.table import TABLE, Table

from .keys import (
    ALIAS_COLUMNS,
    ALL_KEYS,
    AliasKey,
    DispatchKey,
    KeySet,
    above,
    excluding,
    thread_keys,
)
from .ops_handle import Ops, type_of

# See Note [Rooms with one door].
bind = import_later("fxc.dispatch.bind", "bind")

# Note [Which kernel runs]
# A call's keys are those of its arguments and the thread's included ones, without the thread's
# excluded ones and those that the operator falls through; the highest key decides on the column. In
# the column, a direct kernel for the
# operator comes first; then a composite registered under an alias key that covers the column, in
# the order of AliasKey, as long as it does not decline (``NotImplemented``); then the column's
# fallback. A kernel that redispatches names the column to go on with. A composite runs with the
# columns above its own excluded, so that what it calls stays at or below the level that called it.
# ``tests/dispatch/test_mechanisms.py`` takes each of these away and names the program that breaks.

Kernel = Callable[..., Any]
BoxedKernel = Callable[[Operator, tuple[Any, ...]], Any]
Source = Callable[[str], Kernel]


class Registration:
    """What a registration returns; ``remove()`` undoes it."""

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def remove(self) -> None:
        """Undo the registration; a second call does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()


@mutable
class _Row:
    """An operator with the kernels found for it so far: (kernel, whether it is boxed)."""

    op: Operator
    count: int
    keys: int  # those that the operator does not fall through
    cells: dict[int, tuple[Kernel, bool] | None] = field(default_factory=dict)


# The key bits of an argument by its class. Scalars have none: a call without keys is the CPU's.
_CPU, _TRACE = KeySet.of(DispatchKey.CPU), KeySet.of(DispatchKey.TRACE)
_ASK = -1  # an instance attribute tells
_BITS_OF_CLASS: dict[type, int] = {
    np.ndarray: _CPU,
    Value: _TRACE,
    Literal: 0,
    Region: 0,
    type(None): 0,
    **dict.fromkeys((bool, int, float, complex, str), 0),
}


def _bits_of_class(arg: object) -> int:
    """The key bits of arguments of this class, remembered."""
    kind = type(arg)
    key = getattr(kind, "dispatch_key", None)
    if isinstance(key, DispatchKey):
        bits = 1 << key
    elif hasattr(arg, "dispatch_key"):
        bits = _ASK
    else:
        bits = int(_CPU) if issubclass(kind, np.ndarray) else 0
    _BITS_OF_CLASS[kind] = bits
    return bits


def _bits_of(arg: Any) -> int:
    kind = type(arg)
    if kind is tuple:
        bits = 0
        for item in arg:
            bits |= _bits_of(item)
        return bits
    found = _BITS_OF_CLASS.get(kind)
    if found is None:
        found = _bits_of_class(arg)
    return 1 << arg.dispatch_key if found == _ASK else found


class Dispatcher:
    """See the module's docstring."""

    def __init__(self, table: Table = TABLE) -> None:
        self.table = table
        self.ops = Ops(self)
        self._cells: dict[tuple[str, DispatchKey], Kernel] = {}
        self._sources: dict[DispatchKey, Source] = {}
        self._columns: dict[DispatchKey, BoxedKernel] = {}
        self._composites: dict[tuple[str, AliasKey], Kernel] = {}
        self._falls: dict[DispatchKey, Callable[[Operator], bool]] = {}
        self._rows: dict[str, _Row] = {}

    # ------------------------------------------------------------ registration

    def _register(self, place: dict[Any, Any], key: object, value: object) -> Registration:
        if key in place:
            raise ValueError(f"a kernel for {key} is registered already")

        def undo() -> None:
            del place[key]
            self._rows = {}

        place[key] = value
        self._rows = {}
        return Registration(undo)

    def impl(self, name: str, key: DispatchKey, kernel: Kernel) -> Registration:
        """Register the direct kernel of one operator in one column: ``kernel(*args)``."""
        return self._register(self._cells, (name, key), kernel)

    def source(self, key: DispatchKey, source: Source) -> Registration:
        """Direct kernels of a column, found by operator name; ``KeyError`` means none."""
        return self._register(self._sources, key, source)

    def fallback(self, key: DispatchKey, kernel: BoxedKernel) -> Registration:
        """One kernel for every operator of a column that has no other: ``kernel(op, args)``."""
        return self._register(self._columns, key, kernel)

    def impl_composite(self, name: str, alias: AliasKey, function: Kernel) -> Registration:
        """Register a decomposition: ``function(ops, *args)``, see ``Ops``."""
        return self._register(self._composites, (name, alias), function)

    def fallthrough(self, key: DispatchKey, falls: Callable[[Operator], bool]) -> Registration:
        """A column that is passed by for some operators: the next lower key of a call decides."""
        return self._register(self._falls, key, falls)

    @contextmanager
    def scratch_operator(
        self, row: Row, kernels: dict[tuple[str, DispatchKey], Kernel] | None = None
    ) -> Iterator[Operator]:
        """An operator, with what follows from it, that exists inside the block only."""
        op = self.table.add(row)
        registrations = [self.impl(*cell, kernel) for cell, kernel in (kernels or {}).items()]
        try:
            yield op
        finally:
            for registration in registrations:
                registration.remove()
            self.table.remove(op.name)

    # ------------------------------------------------------------ lookup

    def _row(self, name: str) -> _Row:
        op = self.table[name]
        row = self._rows.get(name)
        if row is None or row.op is not op:
            fallen = KeySet.of(*(key for key, falls in self._falls.items() if falls(op)))
            row = self._rows[name] = _Row(op, len(op.schema.params), ALL_KEYS & ~fallen)
        return row

    def _find(self, row: _Row, key: DispatchKey) -> tuple[Kernel, bool] | None:
        """The kernel of a cell, by Note [Which kernel runs]; remembered in the row."""
        found = row.cells[key] = self._resolve(row.op, key)
        return found

    def _resolve(self, op: Operator, key: DispatchKey) -> tuple[Kernel, bool] | None:
        direct = self._cells.get((op.name, key))
        if direct is None and key in self._sources:
            try:
                direct = self._sources[key](op.name)
            except KeyError:
                direct = None
        if direct is not None:
            return direct, False
        functions = tuple(function for _, function in self.composites_of(op.name, key))
        column = self._columns.get(key)
        if functions:
            return self._composite_kernel(functions, column, key), True
        return None if column is None else (column, True)

    def _composite_kernel(
        self, functions: tuple[Kernel, ...], column: BoxedKernel | None, key: DispatchKey
    ) -> BoxedKernel:
        """The first composite that does not decline, else the column's fallback."""
        higher = above(key)

        def kernel(op: Operator, args: tuple[Any, ...]) -> Any:
            with excluding(higher):
                for function in functions:
                    result = function(self.ops, *args)
                    if result is not NotImplemented:
                        return result
            if column is None:
                raise _no_kernel(op.name, key)
            return column(op, args)

        return kernel

    def composites_of(self, name: str, key: DispatchKey) -> Iterator[tuple[AliasKey, Kernel]]:
        """The decompositions that serve column ``key``, in order: ``function(ops, *args)``."""
        for alias in AliasKey:
            function = self._composites.get((name, alias))
            if function is not None and key in ALIAS_COLUMNS[alias]:
                yield alias, function

    def column(self, key: DispatchKey) -> Callable[[str], Kernel]:
        """A function from an operator's name to what a call of it in this column runs."""

        def kernel_of(name: str) -> Kernel:
            row = self._row(name)
            cell = row.cells[key] if key in row.cells else self._find(row, key)
            if cell is None:
                raise _no_kernel(name, key)
            kernel, boxed = cell
            return (lambda *args: kernel(row.op, args)) if boxed else kernel

        return kernel_of

    def composites(self) -> Iterator[tuple[str, AliasKey, Kernel]]:
        """All registered decompositions."""
        for (name, alias), function in tuple(self._composites.items()):
            yield name, alias, function

    # ------------------------------------------------------------ calls

    def call(self, name: str, *args: object, **kwargs: object) -> Any:
        """Call an operator: canonicalise, find the highest key, run its kernel.

        A call that gives every parameter by position is taken to be canonical already.
        """
        row = self._row(name)
        if kwargs or len(args) != row.count:
            args = bind(row.op, args, kwargs)
        bits = thread_keys.include
        classes = _BITS_OF_CLASS
        for arg in args:
            found = classes.get(type(arg))
            bits |= _bits_of(arg) if found is None or found == _ASK else found
        bits &= row.keys & ~thread_keys.exclude
        key = bits.bit_length() - 1 if bits else 0
        try:
            cell = row.cells[key]
        except KeyError:
            cell = self._find(row, DispatchKey(key))
        if cell is None:
            raise _no_kernel(name, DispatchKey(key))
        kernel, boxed = cell
        return kernel(row.op, args) if boxed else kernel(*args)

    def redispatch(self, key: DispatchKey, name: str, args: tuple[Any, ...]) -> Any:
        """Run the kernel of column ``key`` on canonical arguments, whatever keys these have."""
        row = self._row(name)
        try:
            cell = row.cells[key]
        except KeyError:
            cell = self._find(row, key)
        if cell is None:
            raise _no_kernel(name, key)
        kernel, boxed = cell
        return kernel(row.op, args) if boxed else kernel(*args)

    def meta(self, name: str, *args: object, **kwargs: object) -> Any:
        """The type (or tuple of types) that the operator returns for these operands."""
        row = self._row(name)
        bound = bind(row.op, args, kwargs)
        types = tuple(map(_as_type, row.op.schema.params, bound))
        return self.redispatch(DispatchKey.META, name, types)


def _as_type(param: Param, arg: Any) -> Any:
    """What a meta function is given for an argument."""
    if not param.is_value or arg is None:
        return arg
    return tuple(map(_operand_type, arg)) if param.is_list else _operand_type(arg)


def _operand_type(x: object) -> Type | Literal:
    if isinstance(x, np.generic | bool | int | float | complex):
        return Literal(x)
    return x if isinstance(x, Literal) else type_of(x)


def _no_kernel(name: str, key: DispatchKey) -> InternalError:
    return InternalError(f"operator {name!r} has no kernel for {key.name}")
