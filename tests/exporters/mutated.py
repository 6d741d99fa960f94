"""Damaged packages: each has one clear error, before anything of it is mapped or run.

``python -m tests.exporters.mutated 10000`` tries so many.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fxc.package import elf, load
from fxc.package.files import BadPackage
from fxc.package.mapping import MemoryLayout, library
from tests.damages import damaged

from .corpus import EXAMPLES, exported


def write(folder: Path) -> None:
    example = next(x for x in EXAMPLES if x.name == "astronomy.lomb_scargle")
    exported(example).to_object(folder)


def damaged_packages(count: int, seed: int) -> Iterator[str]:
    """Packages that are loaded although a file is not what was written, and other exceptions."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "package"
        write(folder)
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        names = sorted(files)
        for number in range(count):
            name = r.choice(names)
            others = [files[each] for each in names]
            found = damaged(files[name], others, r) if r.randrange(9) else None
            if found == files[name]:
                continue
            if found is None:
                (folder / name).unlink()
            else:
                (folder / name).write_bytes(found)
            problem = _problem(folder)
            if problem:
                yield f"{number}: {name}{problem}"
            (folder / name).write_bytes(files[name])
        load(folder)
        shutil.rmtree(folder)


def _problem(folder: Path) -> str:
    """What a damaged package does in place of its one clear error."""
    try:
        load(folder)
    except BadPackage as error:
        return "" if str(error).startswith(f"{folder} cannot be loaded: ") else f": {error}"
    except BaseException as error:
        return f": {error!r}"
    return " was loaded"


def damaged_objects(count: int, seed: int) -> Iterator[str]:
    """Object files, without checksums, that lead to another exception than they should."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "package"
        write(folder)
        objects = [path.read_bytes() for path in sorted(folder.glob("*.o"))]
    for number in range(count):
        data = damaged(r.choice(objects), objects, r)
        try:
            MemoryLayout(elf.read(data), library).content(0x7F0000000000)
        except elf.BadObject:
            pass
        except BaseException as error:
            yield f"{number}: {error!r}"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(np.random.SeedSequence().entropy) % 2**32  # type: ignore[arg-type]
    print(f"{count} packages and {count} object files, seed {seed}")
    wrong = [*damaged_packages(count, seed), *damaged_objects(count, seed)]
    print("\n".join(wrong) or "each has its one error")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
