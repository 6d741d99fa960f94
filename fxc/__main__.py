"""`python -m fxc`."""

import os
import sys

from fxc.cli.main import main


def run() -> int:
    """The exit status; without a traceback where nobody reads what is printed, or at Ctrl-C."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
        return 141
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(run())
