"""``python -m tests.modules`` writes ``docs/modules.md``: each module, and the Notes in it."""

import ast
import inspect
import re
from pathlib import Path

from .sources import ROOT, SOURCE_FOLDERS, notes_in, python_files

PAGE = ROOT / "docs" / "modules.md"

# From what a user calls down to what all else rests on; subfolders follow the folder they are in.
FOLDERS = (
    "fxc", "fxc/calling", "fxc/cache", "fxc/compilations", "fxc/exported", "fxc/pipeline",
    "fxc/native", "fxc/split", "fxc/capture", "passes", "lowering", "runtime",
    "fxc/dispatch", "fxc/ops", "fxc/ir",
)  # fmt: skip

_HEAD = """\
# Modules and Notes

<!-- Written by `make modules` from the docstrings and the Notes; do not edit. -->

Each module with the first sentence of its docstring, and with the titles of its Notes in brackets.
[architecture.md](architecture.md) says how the folders work together.
"""


def page() -> str:
    """The whole page."""
    modules: dict[str, list[Path]] = {}
    for path in python_files(SOURCE_FOLDERS):
        modules.setdefault(path.parent.relative_to(ROOT).as_posix(), []).append(path)
    return "\n".join(
        [_HEAD, *(_section(name, modules[name]) for name in sorted(modules, key=_place))]
    )


_PLAIN_DOCSTRING = re.compile(r'"""([^\\]*?)"""$', re.MULTILINE)  # nothing in it is escaped


def first_sentence(path: Path) -> str:
    """What the docstring of a module begins with, up to the end of its first sentence."""
    source = path.read_text(encoding="utf-8")
    plain = _PLAIN_DOCSTRING.match(source)
    docstring = inspect.cleandoc(plain[1]) if plain else ast.get_docstring(ast.parse(source))
    if docstring is None:
        raise ValueError(f"{path.relative_to(ROOT)} has no docstring")
    paragraph = " ".join(docstring.split("\n\n")[0].split()).removesuffix(" ::")
    return re.split(r"(?<=\.)\s(?=[A-Z`])", paragraph)[0].replace("``", "`")


def _place(folder: str) -> tuple[int, str]:
    """Where a folder stands on the page: by its room, inside of it by name."""
    rooms = (room for room in FOLDERS if f"{folder}/".startswith(f"{room}/"))
    return FOLDERS.index(max(rooms, key=len)), folder


def _section(folder: str, paths: list[Path]) -> str:
    about = {path.stem: path for path in paths}
    head = f"## {folder}/\n\n{first_sentence(about.pop('__init__'))}\n"
    rows = "\n".join(_row(name, path) for name, path in about.items())
    return f"{head}\n{rows}\n"


def _row(name: str, path: Path) -> str:
    titles = notes_in(path.read_text(encoding="utf-8"))[0]
    notes = "".join(f"\n  - [{title}]" for title in titles)
    return f"- `{name}`: {first_sentence(path)}{notes}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
