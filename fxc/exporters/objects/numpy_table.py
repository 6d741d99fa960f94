"""The table of pointers as a manifest shows it: what ``package.numpy_calls`` fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import ExportError
from fxc.ir.symbols import Dim, SymExpr
from fxc.lowering.emission.calls import CallSite
from fxc.lowering.emission.lock import ASK
from fxc.lowering.emission.native_module import CALL, Module
from fxc.lowering.nests.boxed_args import BufferArg
from fxc.lowering.nests.buffers import Buffer
from fxc.ops.foreign_calls import ForeignCall, Hole
from fxc.ops.kernels.making import function_of, writing_kernel_of
from fxc.ops.library import plain
from fxc.ops.table import TABLE
from fxc.ops.ufunc_methods import KERNELS as METHODS
from fxc.package.values import Shown

from .showing import name_of, show_value

_SORTS = ("sort", "argsort")


def show_table(module: Module) -> list[dict[str, Any]]:
    """What stands in the table. Raises ``ExportError`` for what a package cannot call."""
    return [_show(module, name, kind) for name, kind in module.inner_loops]


def _show(module: Module, name: str, kind: str) -> dict[str, Any]:
    if name == ASK:
        return {"ask": kind}
    if name == CALL:
        return show_call(module.calls[int(kind)][0])
    if name in _SORTS:
        return {"sorts": name, "dtype": np.dtype(kind).str}
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc):
        raise ExportError(f"object code has no {name}")
    code = np.dtype(kind[0] + str(int(kind[1:]) // 8)).char
    return {"loop": name, "types": f"{code * ufunc.nin}->{code * ufunc.nout}"}


def show_call(site: CallSite) -> dict[str, Any]:
    """A call of NumPy: the function, and what it is given. See Note [Plain entries]."""
    try:
        return _Call(site).show()
    except ExportError as error:
        loc = site.stmt.loc
        place = "made by fxc" if loc is None else loc
        raise ExportError(f"{site.stmt.op} ({place}): {error.text}") from None


class _Call:
    def __init__(self, site: CallSite) -> None:
        self.stmt = site.stmt
        self.buffers = {buffer.name: buffer for buffer in site.buffers}
        self.words = {buffer.name: place for place, buffer in enumerate(site.buffers)}
        self.dims = {dim: len(site.buffers) + place for place, dim in enumerate(site.dims)}

    def show(self) -> dict[str, Any]:
        name, args, options = self.called()
        outs = [self.buffers[out] for out in self.stmt.outs]
        writes = writing_kernel_of(self.stmt.op) is not None and all(out.shape for out in outs)
        return {
            "call": name,
            "writes": writes,
            "args": args,
            "options": options,
            "outs": [self.array(out) for out in outs],
        }

    def called(self) -> tuple[str, list[Any], dict[str, Any]]:
        """The function, positional arguments, named ones."""
        op = self.stmt.op
        function = TABLE[op].numpy
        given = list(self.stmt.args)
        if isinstance(function, ForeignCall):
            args = [self.filled(each, given) for each in function.args]
            options = {name: self.filled(x, given) for name, x in function.kwargs.items()}
            if function.container is not None or function.width != 1:
                raise ExportError(f"object code has no call of {function.__name__}")
            return _numpys(function.function), args, options
        if op in METHODS:
            return self.method(op.removeprefix("ufunc_"), given)
        _, names = function_of(op)
        if function is None or not _is_plain(op):
            raise ExportError(f"object code has no call of {op}")
        first = len(given) - len(names)
        args = [self.argument(each) for each in given[:first]]
        pairs = zip(names, given[first:], strict=True)
        return _numpys(function), args, {name: self.argument(x) for name, x in pairs}

    def method(self, method: str, given: list[Any]) -> tuple[str, list[Any], dict[str, Any]]:
        """A method of a ufunc."""
        params = TABLE[self.stmt.op].schema.params
        options = dict(zip([param.name for param in params], given, strict=True))
        ufunc, result = options.pop("ufunc"), options.pop("result", None)
        if result is not None or not isinstance(getattr(np, ufunc, None), np.ufunc):
            raise ExportError(f"object code has no such call of {ufunc}.{method}")
        first = [options.pop(name) for name in ("x", "indices") if name in options]
        left_out = [name for name in ("initial", "where") if options.get(name) is None]
        shown = {name: self.argument(x) for name, x in options.items() if name not in left_out}
        return f"numpy:{ufunc}.{method}", [self.argument(x) for x in first], shown

    def filled(self, shown: object, given: Sequence[Any]) -> Shown:
        """An argument of a function with operands in its holes."""
        if isinstance(shown, Hole):
            return self.argument(given[shown.operand])
        if isinstance(shown, tuple):
            return {"tuple": [self.filled(each, given) for each in shown]}
        return show_value(shown)

    def argument(self, arg: object) -> Shown:
        match arg:
            case BufferArg(name, scalar=True, weak=weak):
                return {"number": self.array(self.buffers[name]), "weak": weak}
            case BufferArg(name):
                return self.array(self.buffers[name])
            case SymExpr():
                return {"word": self.dims[arg]}
            case tuple():
                return {"tuple": [self.argument(each) for each in arg]}
        return show_value(arg)

    def array(self, buffer: Buffer) -> dict[str, Any]:
        return {
            "memory": self.words[buffer.name],
            "dtype": buffer.dtype.str,
            "shape": [self.dim(dim) for dim in buffer.shape],
            "strides": [self.dim(dim) for dim in buffer.strides],
        }

    def dim(self, dim: Dim) -> Shown:
        return dim if isinstance(dim, int) else {"word": self.dims[dim]}


def _numpys(function: object) -> str:
    """The name of a function of NumPy's."""
    name = name_of(function)
    if not name.startswith("numpy"):
        raise ExportError(f"a package has NumPy alone, and no {name.replace(':', '.')}")
    return name


def _is_plain(op: str) -> bool:
    """Whether NumPy's function is the operator: called with its arguments, it gives its result."""
    function = TABLE[op].numpy
    return function is not None and function_of(op)[0] in (function, plain(function))
