"""Machine code that an earlier run of the tests has made is taken from a folder, ``.machine_code``.

LLVM takes a third of the time of all tests, nearly always for text of which it has made machine code
before. What is made depends on the text and the way it is optimised, which the key says, and on
the module ``engine``, llvmlite and the processor, after which the inner folder is named: change any
of these, and all is made anew. ``make fuzz`` keeps nothing, as its programs do not come again, and
processes that tests start make their own.
"""

from __future__ import annotations

import contextlib
import os
import time
from hashlib import sha256
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from fxc.runtime import engine
from fxc.runtime.kept_codes import KeptCode

FOLDER = Path(__file__).resolve().parent.parent / ".machine_code"
_DAYS = 7  # what was made earlier is made again: most of it is of texts that nobody has any more


class Kept(KeptCode):
    """As the engine keeps code, and in files: workers of one run have it from each other, too."""

    def __init__(self, folder: Path) -> None:
        super().__init__(64 << 20)
        self._folder = folder
        self.asked = 0  # times
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: bytes) -> bytes | None:
        self.asked += 1
        code = super().get(key)
        if code is None:
            try:
                code = (self._folder / key.hex()).read_bytes()
            except FileNotFoundError:
                return None
            super().keep(key, code)
        return code

    def keep(self, key: bytes, code: bytes, lasts: bool = True) -> None:
        super().keep(key, code, lasts)
        made = self._folder / f"{key.hex()}.{os.getpid()}"
        made.write_bytes(code)
        made.replace(self._folder / key.hex())


def take_from_files() -> None:
    """Let the engine of this process take machine code from the folder, and put it there."""
    engine.codes = Kept(FOLDER / _made_by())


def asked() -> int:
    """How many times machine code has been asked for in this process, here or in files."""
    return engine.codes.asked if isinstance(engine.codes, Kept) else 0


def forget_old() -> None:
    """Remove what was made more than a week ago."""
    since = time.time() - _DAYS * 86400
    for folder in FOLDER.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another run does so, too
            old = [each for each in os.scandir(folder) if each.stat().st_mtime < since]
            for each in old:
                os.unlink(each)
            if folder.stat().st_mtime < since:
                folder.rmdir()


def _made_by() -> str:
    """A digest of all but the text that machine code depends on."""
    parts = (
        Path(engine.__file__).read_text(encoding="utf-8"),
        llvmlite.__version__,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        os.environ.get("FXC_CPU_FEATURES", ""),
    )
    return sha256("\n".join(parts).encode()).hexdigest()[:16]
