"""``python -m fxc dump``: the stages of a compilation as text."""

from __future__ import annotations

import argparse
import sys

from fxc.ir.errors import CaptureError, InternalError
from fxc.pipeline.report import STAGES

from .explain import compiled_of
from .given_function import EXAMPLES, NotThere, add_call, call_of, raised

_HELP = f"""\
Print the stages of a function's compilation: {", ".join(STAGES)}.

{EXAMPLES}

    python -m fxc dump heat.py:step --stage loops
    python -m fxc dump heat.py:step --diff captured functional

The status is 0, 1 if the function raises or cannot be captured, 2 if what was asked for is not
there.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc dump``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    add_call(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--stage",
        choices=STAGES,
        metavar="NAME",
        action="append",
        help="print this one alone; may be repeated; by default all",
    )
    what.add_argument(
        "--diff", choices=STAGES, nargs=2, metavar="NAME", help="what differs between two stages"
    )


def run(options: argparse.Namespace) -> int:
    """Print as the options say; the exit status."""
    try:
        call = call_of(options)
        stages = compiled_of(call).inspect(*call.args, **call.kwargs)
    except NotThere as error:
        print(f"fxc dump: {error}", file=sys.stderr)
        return 2
    except InternalError:
        raise  # a bug in fxc, to be reported with its traceback
    except CaptureError as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        print(f"fxc dump: {options.function} is not captured as a whole: {text}", file=sys.stderr)
        print("python -m fxc explain says what runs in Python then", file=sys.stderr)
        return 1
    except Exception as error:
        print(f"fxc dump: {raised(options.function, error)}", file=sys.stderr)
        return 1
    if options.diff:
        print(stages.diff(*options.diff))
    elif options.stage:
        print(*map(stages.text, options.stage), sep="\n\n")
    else:
        print(stages)
    return 0
