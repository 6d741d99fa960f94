"""``python -m fxc export``: a function of a file for another runtime.

Its arguments are those of an example, in its docstring or on the command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fxc.exported.exporting import export
from fxc.exported.program import ExportedProgram
from fxc.ir.errors import CaptureError, ExportError, InternalError

from .given_function import EXAMPLES, NotThere, add_call, call_of, raised

_HELP = f"""\
Export a function of a file: as NumPy source, a saved program, or for another runtime.

The function is exported for the types of example arguments.

{EXAMPLES}

    python -m fxc export heat.py:step --numpy step_numpy.py
    python -m fxc export heat.py:step --args "f64[n], 0.1" --save step.fxc

The status is 0 if all was written, 1 if the function raises, or it or a target refuses, 2 if what
was asked for is not there, or the arguments are not those of the function.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc export``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    add_call(parser)
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
            raise NotThere("say what to write: " + ", ".join(f"--{name}" for name in _TARGETS))
        for name, path in wanted.items():
            if path == "-" and name not in _TEXTS:
                raise NotThere(f"--{name} takes the name of a file or folder, not -")
        sizes = _sizes(options.size)
        if sizes and "stablehlo" not in wanted:
            raise NotThere("--size is for --stablehlo, which is not asked for")
        call = call_of(options)
    except NotThere as error:
        print(f"fxc export: {error}", file=sys.stderr)
        return 2
    try:
        program = export(call.function, *call.args, dynamic=call.is_open, **call.kwargs)
    except InternalError:
        raise  # a bug in fxc, to be reported with its traceback
    except CaptureError as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        print(f"fxc export: {options.function} cannot be exported: {text}", file=sys.stderr)
        return 1
    except Exception as error:
        print(f"fxc export: {raised(options.function, error)}", file=sys.stderr)
        return 1
    return max(_write(program, name, path, sizes) for name, path in wanted.items())


def _sizes(given: Sequence[str]) -> dict[str, int]:
    """The sizes of ``NAME=NUMBER``."""
    found = {}
    for each in given:
        name, equals, number = each.partition("=")
        if not name or not equals or not number.isdecimal():
            raise NotThere(f"--size: {each!r} is not NAME=NUMBER, as in u.0=100")
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
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _write_text(text: str, path: str) -> None:
    if path == "-":
        print(text, end="")
    else:
        Path(path).write_text(text, encoding="utf-8")


_TARGETS: dict[str, tuple[str, Callable[..., object]]] = {
    "numpy": (
        "a module of Python that needs NumPy alone; - for the screen",
        lambda program, path: _write_text(program.to_numpy_source(), path),
    ),
    "save": ("a file for fxc.load", lambda program, path: program.save(path)),
    "onnx": ("an ONNX model", lambda program, path: program.to_onnx(path)),
    "stablehlo": (
        "MLIR text in StableHLO; - for the screen",
        lambda program, path, sizes: _write_text(program.to_stablehlo(sizes=sizes), path),
    ),
    "object": (
        "a folder with object code, a C header and a loader",
        lambda program, path: program.to_object(path),
    ),
}
_TEXTS = frozenset({"numpy", "stablehlo"})  # which can be shown on the screen
