"""`python -m fxc`."""

import sys

from fxc.cli.main import main


def run() -> int:
    """The exit status, without a traceback at Ctrl-C."""
    try:
        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
