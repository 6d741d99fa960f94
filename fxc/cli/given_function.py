"""The call of a function of a file that a command is about: ``FILE:FUNCTION`` and ``--args``."""

from __future__ import annotations

import argparse
import ast
import doctest
import importlib.util
import inspect
import re
import sys
import traceback
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.errors import UsageError
from fxc.ir.records import frozen
from fxc.ir.settings import check_settings
from fxc.ir.types import DTYPES_BY_NAME

EXAMPLES = """\
Example arguments come from its docstring, from the first example that calls it (the examples before
that one are run):

    def step(u, rate):
        '''One step of the heat equation.

        >>> step(np.zeros(64), 0.1)
        '''

or from --args: arrays as in "f64[64], 0.1", numbers, strings, None, tuples as in Python, also by
name, as in "f64[64], rate=0.1". A name for a size, as in "f32[n, 3]", leaves all sizes of arrays
open, as --dynamic does: also those that are numbers. FILE is run as by import; the function is
not."""
"""What the help of such a command says of arguments."""
_NUMPYS_NAMES = {dtype.name: dtype for dtype in DTYPES_BY_NAME.values()}  # float64
_OPEN_SIZE = 8  # of an example array where a name stands for the size
_NO_SIZES = re.compile(r"""('[^']*'|"[^"]*")|(\w)\[\s*\]""")  # f64[], but not in a string


class NotThere(Exception):
    """What was asked for is not there."""


@frozen
class GivenFunction:
    """A function of a file, and example arguments; ``is_open``: sizes of arrays are symbols."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_open: bool


def add_call(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say which call it is."""
    parser.add_argument("function", metavar="FILE:FUNCTION", help="as in heat.py:step")
    parser.add_argument(
        "--args", metavar="SPEC", help='example arguments, as in "f64[100, n], 0.5"'
    )
    parser.add_argument("--dynamic", action="store_true", help="leave the sizes of arrays open")


def call_of(options: argparse.Namespace) -> GivenFunction:
    """The call that the options say. Raises ``NotThere``, which says what is missing."""
    try:
        check_settings()
    except UsageError as error:
        raise NotThere(str(error)) from None
    function = _function(options.function)
    sizes: dict[str, int] = {}
    if options.args is None:
        args, kwargs = _from_docstring(function)
    else:
        args, kwargs = _from_spec(options.args, sizes)
    _check_signature(options.function, function, args, kwargs)
    return GivenFunction(function, args, kwargs, options.dynamic or bool(sizes))


def raised(named: str, error: Exception) -> str:
    """What the function raised, with the last line of its file that was on the way."""
    file = named.rpartition(":")[0]
    there = Path(file).resolve()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [each.lineno for each in frames if Path(each.filename).resolve() == there]
    place = f"{file}:{lines[-1]}" if lines else named
    return f"{place}: {type(error).__name__}: {error}".rstrip(": ")


# ---------------------------------------------------------------- the function


def _function(named: str) -> Any:
    """The function of ``FILE:FUNCTION``."""
    file, colon, name = named.rpartition(":")
    if not colon or not file or not name:
        raise NotThere(f"{named} is not FILE:FUNCTION, as in heat.py:step")
    path = Path(file)
    if not path.is_file():
        raise NotThere(f"there is no file {file}")
    module = _loaded(path)
    found: Any = module
    holder: Any = None
    for part in name.split("."):
        holder, found = found, getattr(found, part, None)
    if isinstance(found, type):
        raise NotThere(f"{named} is a class; give a function, which may make an object of it")
    held = vars(holder).get(part) if isinstance(holder, type) else None
    if isinstance(getattr(held, "__fxc_original__", held), FunctionType):
        raise NotThere(
            f"{named} is a method; give a function that calls it, or ask in a program, where there "
            f"is an object: fxc.explain({name})(obj, …), fxc.export(obj.{part}, …)"
        )
    if not callable(found):
        functions = [key for key, value in vars(module).items() if _is_of(value, module)]
        there = f"; it has {', '.join(functions)}" if functions else ""
        raise NotThere(f"{file} has no function {name}{there}")
    return found


def _is_of(value: object, module: ModuleType) -> bool:
    """Whether a value is a function that the module defines."""
    is_function = callable(value) and not isinstance(value, type)
    return is_function and getattr(value, "__module__", None) == module.__name__


def _check_signature(
    named: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise ``NotThere`` for arguments that are not those of the function."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many builtins have none
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = named.rpartition(":")[2]
        raise NotThere(f"{named}: {error}; its parameters are {name}{signature}") from None


def _loaded(path: Path) -> ModuleType:
    """The module of a file, run as by import, its folder first where it imports from."""
    name = path.stem if path.stem.isidentifier() else "exported"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NotThere(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        raise NotThere(f"{path} cannot be imported:\n{traceback.format_exc(limit=-1)}") from None
    return module


# ---------------------------------------------------------------- example arguments

_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def _from_docstring(function: Any) -> _Arguments:
    """The arguments of the first call of the function among the examples of its docstring."""
    name = function.__name__
    names = {"np": np, **getattr(function, "__globals__", {})}
    for example in doctest.DocTestParser().get_examples(function.__doc__ or ""):
        try:
            tree = ast.parse(example.source)
            call = next(
                (
                    node
                    for node in ast.walk(tree)
                    if isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id == name
                ),
                None,
            )
            if call is None:
                exec(compile(tree, "<docstring>", "exec"), names)
                continue
            given = ast.Call(ast.Name("__arguments__", ast.Load()), call.args, call.keywords)
            names["__arguments__"] = lambda *args, **kwargs: (args, kwargs)
            made = ast.fix_missing_locations(ast.Expression(given))
            found: _Arguments = eval(compile(made, "<docstring>", "eval"), names)
            return found
        except Exception as error:
            source = example.source.strip()
            raise NotThere(f"the example {source!r} of {name} fails: {error!r}") from None
    raise NotThere(
        f'{name} has no example in its docstring, such as ">>> {name}(np.zeros(4), 0.5)"; '
        'give --args, such as --args "f64[4], 0.5"'
    )


def _from_spec(spec: str, sizes: dict[str, int]) -> _Arguments:
    """The arguments that ``f64[100, n], 0.5`` stands for; ``sizes`` gets the names of sizes."""
    text = _NO_SIZES.sub(lambda found: found[1] or f"{found[2]}[()]", spec)
    try:
        call = ast.parse(f"_({text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        raise _is_nothing(spec) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _is_nothing(spec)
    kwargs: dict[str, Any] = {}
    for each in call.keywords:
        if each.arg is None:
            raise _is_nothing(spec)
        kwargs[each.arg] = _from_item(each.value, sizes)
    return tuple(_from_item(each, sizes) for each in call.args), kwargs


def _is_nothing(item: str) -> NotThere:
    return NotThere(
        f"--args: {item!r} is neither an array, as in f64[100, n], nor a number, a string or None"
    )


def _from_item(item: ast.expr, sizes: dict[str, int]) -> Any:
    match item:
        case ast.Subscript(ast.Name(name), ast.Tuple(dims)):
            return _array(name, [_size(each, sizes) for each in dims])
        case ast.Subscript(ast.Name(name), dim):
            return _array(name, [_size(dim, sizes)])
    try:
        return ast.literal_eval(item)
    except (ValueError, TypeError):
        raise _is_nothing(ast.unparse(item)) from None


def _size(dim: ast.expr, sizes: dict[str, int]) -> int:
    match dim:
        case ast.Constant(int(size)) if not isinstance(size, bool):
            return size
        case ast.Name(name):
            return sizes.setdefault(name, _OPEN_SIZE + len(sizes))
    raise NotThere(f"--args: {ast.unparse(dim)!r} is no size and no name of one")


def _array(name: str, shape: list[int]) -> np.ndarray[Any, Any]:
    dtype = DTYPES_BY_NAME.get(name) or _NUMPYS_NAMES.get(name)
    if dtype is None:
        raise NotThere(f"--args: there is no dtype {name}; {', '.join(DTYPES_BY_NAME)}")
    try:
        return np.ones(shape, dtype)
    except (MemoryError, ValueError, OverflowError) as error:
        raise NotThere(f"--args: {name}{shape}: {error}") from None
