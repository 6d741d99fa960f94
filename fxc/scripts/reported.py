"""What is compiled for a script, traced for a page."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxc.ir.settings import config
from fxc.reporting.writing import counted, write_page


class Reported:
    """A trace of some compilations, of which a page is made in the end."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="fxc-trace-")

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Record what is compiled in the block."""
        with config.override(trace=self.folder):
            yield

    def write(self, out: str, title: str) -> str:
        """Write the page; what is to be said of it."""
        try:
            traced = write_page(Path(self.folder), Path(out), title)
        except OSError as error:
            return f"{out} cannot be written: {error.strerror or error}"
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return f"{out}: {counted(traced)}"
