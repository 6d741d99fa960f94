"""`python -m fxc`."""

import sys

from fxc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
