"""``python -m fxc export``: a function of a file for another runtime.

Its arguments are those of an example, in its docstring or on the command line.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.exported import ExportedProgram
from fxc.exporting import export
from fxc.ir.errors import CaptureError, ExportError, InternalError
from fxc.ir.types import DTYPES_BY_NAME

_HELP = """\
Export a function of a file: as NumPy source, a saved program, or for another runtime.

The function is exported for the types of example arguments. They come from its docstring, from the
first example that calls it (the examples before that one are run):

    def step(u, rate):
        '''One step of the heat equation.

        >>> step(np.zeros(64), 0.1)
        '''

or from --args: arrays as in "f64[64], 0.1", numbers, strings, None as in Python. A name for a
size, as in "f32[n, 3]", leaves all sizes of arrays open, as --dynamic does: also those that are
numbers. FILE is run as by import; the function is not.

    python -m fxc export heat.py:step --numpy step_numpy.py
    python -m fxc export heat.py:step --args "f64[n], 0.1" --save step.fxc

The status is 0 if all was written, 1 if the function raises, or it or a target refuses, 2 if what
was asked for is not there, or the arguments are not those of the function.
"""
_OPEN_SIZE = 8  # of an example array where a name stands for the size


class _NotThere(Exception):
    """What was asked for is not there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc export``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("function", metavar="FILE:FUNCTION", help="as in heat.py:step")
    parser.add_argument(
        "--args", metavar="SPEC", help='example arguments, as in "f64[100, n], 0.5"'
    )
    parser.add_argument("--dynamic", action="store_true", help="leave the sizes of arrays open")
    for name, (what, _) in _TARGETS.items():
        metavar = "FOLDER" if name == "object" else "OUT"
        parser.add_argument(f"--{name}", metavar=metavar, help=what)
    parser.add_argument(
        "--size",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help="for --stablehlo: a number for an open size, as in u.0=100; may be repeated",
    )


def run(options: argparse.Namespace) -> int:
    """Export as the options say; the exit status."""
    wanted = {name: getattr(options, name) for name in _TARGETS if getattr(options, name)}
    try:
        if not wanted:
            raise _NotThere("say what to write: " + ", ".join(f"--{name}" for name in _TARGETS))
        sizes = _sizes(options.size)
        if sizes and "stablehlo" not in wanted:
            raise _NotThere("--size is for --stablehlo, which is not asked for")
        function = _function(options.function)
        given = options.args
        args, kwargs = _from_docstring(function) if given is None else _from_spec(given)
        _check_signature(options.function, function, args, kwargs)
    except _NotThere as error:
        print(f"fxc export: {error}", file=sys.stderr)
        return 2
    is_open = options.dynamic or re.search(r"\[[^\]]*[^\W\d]", given or "") is not None
    try:
        program = export(function, *args, dynamic=is_open, **kwargs)
    except InternalError:
        raise  # a bug in fxc, to be reported with its traceback
    except CaptureError as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        print(f"fxc export: {options.function} cannot be exported: {text}", file=sys.stderr)
        return 1
    except Exception as error:
        print(f"fxc export: {_raised(options.function, error)}", file=sys.stderr)
        return 1
    return max(_write(program, name, path, sizes) for name, path in wanted.items())


def _raised(named: str, error: Exception) -> str:
    """What the function raised, with the last line of its file that was on the way."""
    file = named.rpartition(":")[0]
    there = Path(file).resolve()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [each.lineno for each in frames if Path(each.filename).resolve() == there]
    place = f"{file}:{lines[-1]}" if lines else named
    return f"{place}: {type(error).__name__}: {error}".rstrip(": ")


def _sizes(given: Sequence[str]) -> dict[str, int]:
    """The sizes of ``NAME=NUMBER``."""
    found = {}
    for each in given:
        name, equals, number = each.partition("=")
        if not name or not equals or not number.isdecimal():
            raise _NotThere(f"--size: {each!r} is not NAME=NUMBER, as in u.0=100")
        found[name] = int(number)
    return found


# ---------------------------------------------------------------- targets


def _write(program: ExportedProgram, name: str, path: str, sizes: dict[str, int]) -> int:
    given = {"sizes": sizes} if name == "stablehlo" else {}
    try:
        _TARGETS[name][1](program, path, **given)
    except (ExportError, ImportError, ValueError) as error:
        print(f"fxc export: --{name}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        reason = error.strerror or error
        print(f"fxc export: --{name}: {path} cannot be written: {reason}", file=sys.stderr)
        return 2
    if path != "-":
        print(f"wrote {path}")
    return 0


def _write_text(text: str, path: str) -> None:
    if path == "-":
        print(text, end="")
    else:
        Path(path).write_text(text, encoding="utf-8")


def _method(program: ExportedProgram, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(program, name, None)
    if found is None:
        raise ExportError(f"this fxc has no {name}")
    return found


_TARGETS: dict[str, tuple[str, Callable[..., object]]] = {
    "numpy": (
        "a module of Python that needs NumPy alone; - for the screen",
        lambda program, path: _write_text(program.to_numpy_source(), path),
    ),
    "save": ("a file for fxc.load", lambda program, path: program.save(path)),
    "onnx": ("an ONNX model", lambda program, path: _method(program, "to_onnx")(path)),
    "stablehlo": (
        "MLIR text in StableHLO; - for the screen",
        lambda program, path, sizes: _write_text(
            _method(program, "to_stablehlo")(sizes=sizes), path
        ),
    ),
    "object": (
        "a folder with object code, a C header and a loader",
        lambda program, path: _method(program, "to_object")(path),
    ),
}


# ---------------------------------------------------------------- the function


def _function(named: str) -> Any:
    """The function of ``FILE:FUNCTION``."""
    file, colon, name = named.rpartition(":")
    if not colon or not file or not name:
        raise _NotThere(f"{named} is not FILE:FUNCTION, as in heat.py:step")
    path = Path(file)
    if not path.is_file():
        raise _NotThere(f"there is no file {file}")
    module = _loaded(path)
    found: Any = module
    holder: Any = None
    for part in name.split("."):
        holder, found = found, getattr(found, part, None)
    if isinstance(found, type):
        raise _NotThere(f"{named} is a class; give a function, which may make an object of it")
    if isinstance(holder, type) and isinstance(vars(holder).get(part), FunctionType):
        raise _NotThere(f"{named} is a method; give a function that calls it")
    if not callable(found):
        functions = [key for key, value in vars(module).items() if _is_of(value, module)]
        there = f"; it has {', '.join(functions)}" if functions else ""
        raise _NotThere(f"{file} has no function {name}{there}")
    return found


def _is_of(value: object, module: ModuleType) -> bool:
    """Whether a value is a function that the module defines."""
    is_function = callable(value) and not isinstance(value, type)
    return is_function and getattr(value, "__module__", None) == module.__name__


def _check_signature(
    named: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise ``_NotThere`` for arguments that are not those of the function."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many builtins have none
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = named.rpartition(":")[2]
        raise _NotThere(f"{named}: {error}; its parameters are {name}{signature}") from None


def _loaded(path: Path) -> ModuleType:
    """The module of a file, run as by import, its folder first where it imports from."""
    name = path.stem if path.stem.isidentifier() else "exported"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _NotThere(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        raise _NotThere(f"{path} cannot be imported:\n{traceback.format_exc(limit=-1)}") from None
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
            raise _NotThere(f"the example {source!r} of {name} fails: {error!r}") from None
    raise _NotThere(
        f'{name} has no example in its docstring, such as ">>> {name}(np.zeros(4), 0.5)"; '
        'give --args, such as --args "f64[4], 0.5"'
    )


def _from_spec(spec: str) -> _Arguments:
    """The arguments that ``f64[100, n], 0.5`` stands for."""
    sizes: dict[str, int] = {}
    items = [item.strip() for item in re.split(r",(?![^\[(]*[\])])", spec)]
    return tuple(_from_item(item, sizes) for item in items if item), {}


def _from_item(item: str, sizes: dict[str, int]) -> Any:
    array = re.fullmatch(r"(\w+)\s*\[([^\]]*)\]", item)
    if array is None:
        try:
            return ast.literal_eval(item)
        except (ValueError, SyntaxError):
            raise _NotThere(
                f"--args: {item!r} is neither an array, as in f64[100, n], nor a number, a string "
                "or None"
            ) from None
    dtype = DTYPES_BY_NAME.get(array[1])
    if dtype is None:
        raise _NotThere(f"--args: there is no dtype {array[1]}; {', '.join(DTYPES_BY_NAME)}")
    shape = []
    for dim in array[2].split(",") if array[2].strip() else []:
        name = dim.strip()
        if not name.isdecimal() and not name.isidentifier():
            raise _NotThere(f"--args: {dim.strip()!r} in {item!r} is no size and no name of one")
        size = int(name) if name.isdecimal() else sizes.setdefault(name, _OPEN_SIZE + len(sizes))
        shape.append(size)
    return np.ones(shape, dtype)
