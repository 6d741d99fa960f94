"""``python -m fxc explain``: what becomes of a call of a function, on one page."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import fxc
from fxc.ir.errors import InternalError

from .given_function import EXAMPLES, GivenFunction, NotThere, add_call, call_of, raised

_HELP = f"""\
Say on one page what fxc makes of a function: what is captured, what runs in Python and why, which
arguments are written, the loops with the memory that they move, what is copied, what is checked at
each call, and how long compiling takes.

{EXAMPLES}

    python -m fxc explain heat.py:step
    python -m fxc explain heat.py:step --args "f64[n], 0.1"

The status is 0, 1 if the function raises, 2 if what was asked for is not there.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc explain``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    add_call(parser)


def run(options: argparse.Namespace) -> int:
    """Explain as the options say; the exit status."""
    try:
        call = call_of(options)
        told = fxc.explain(compiled_of(call))(*call.args, **call.kwargs)
    except NotThere as error:
        print(f"fxc explain: {error}", file=sys.stderr)
        return 2
    except InternalError:
        raise  # a bug in fxc, to be reported with its traceback
    except Exception as error:
        print(f"fxc explain: {raised(options.function, error)}", file=sys.stderr)
        return 1
    print(told)
    return 0


def compiled_of(call: GivenFunction) -> Any:
    """The function as fxc compiles it: as its file says, or else by default."""
    if isinstance(call.function, fxc.Compiled):
        return call.function
    return fxc.compile(call.function, dynamic=True if call.is_open else None)
