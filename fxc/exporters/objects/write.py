"""Writes a package: object files, manifest, header, and the modules that load it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from fxc.ir.error_kinds import NOT_SAVED
from fxc.ir.errors import numbered
from fxc.ir.graph import Graph
from fxc.package import elf
from fxc.package.files import MANIFEST, digest, manifest_bytes
from fxc.runtime.object_code import object_code

from .header import headers
from .manifest import Code, Exported, level_of, manifest_of
from .python_call import call_object, call_text


def write(
    graph: Graph, exported: Exported, codes: Sequence[Code], folder: str | os.PathLike[str]
) -> None:
    """Write the folder, as a whole or not at all: it takes the place of one with a package.

    Raises ``FileExistsError`` for a folder with something else.
    """
    manifest, files = manifest_of(graph, exported), _modules()
    manifest["levels"], written = [], dict[tuple[str, str], str]()
    for code in codes:
        name = f"{exported.entry}-{code.level.name}.o"
        shown = level_of(code, name)
        files[name] = _object(code, exported.entry)
        calls = call_text(graph, code, exported)
        if calls is not None:  # mostly the same for all levels of a machine
            text, shown_objects = calls
            own = f"{exported.entry}-{code.level.name}.calls.o"
            file = written.setdefault((code.level.machine, text), own)
            shown["calls"] = {"file": file, "objects": shown_objects}
            if file == own:
                files[own] = call_object(text, code)
        manifest["levels"].append(shown)
    files |= headers(graph, exported, codes)
    manifest["files"] = {name: digest(data) for name, data in files.items()}
    files[MANIFEST] = manifest_bytes(manifest)
    target = Path(os.path.realpath(folder))
    if target.exists() and any(target.iterdir()) and not (target / MANIFEST).exists():
        raise FileExistsError(numbered(NOT_SAVED, f"{folder} is there, and is no package"))
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.mkdir(parents=True)
        for name, data in files.items():
            (temporary / name).write_bytes(data)
        if target.exists():
            shutil.rmtree(target)
        temporary.rename(target)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError) and error.errno is not None:  # the path that was given
            raise OSError(error.errno, error.strerror, os.fspath(folder)) from None
        raise


def _object(code: Code, entry: str) -> bytes:
    """The object file of a level. It is read back: what the package could not map is a bug."""
    module = code.module
    made = object_code(
        module.text, module.support, (entry,), module.user_loops, code.level.processor
    )
    found = elf.read(made)
    assert entry in {each.name for each in found.symbols if each.section is not None}
    return made


def _modules() -> dict[str, bytes]:
    """The modules of a package, which are those of the folder ``package`` as they are."""
    place = Path(elf.__file__).parent
    return {path.name: path.read_bytes() for path in sorted(place.glob("*.py"))}
