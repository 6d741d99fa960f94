"""Print what becomes of a function of NumPy's in a compiled function."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from importlib import resources

_HELP = """\
Print what becomes of a function of NumPy's in compiled functions, by the dtype of its arrays.

    python -m fxc coverage np.sort
    python -m fxc coverage svd

native: native code; composite: several operators with native code; NumPy: NumPy's own function is
called from inside the compiled code; refused: Python runs the statement; –: NumPy itself raises.
Keywords that are struck out (~~) are refused. Without a name, the numbers of each.

The status is 0 if there is such a function, else 2.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc coverage``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("name", nargs="?", help="as in np.sort, np.linalg.svd or sort")


def run(options: argparse.Namespace) -> int:
    """Print the rows of a function; the exit status."""
    text = (resources.files("fxc") / "coverage.md").read_text(encoding="utf-8")
    if options.name is None:
        print(next(line for line in text.splitlines() if re.match(r"\d+ functions:", line)))
        return 0
    module, _, name = options.name.replace("numpy", "np").rpartition(".")
    sections = {_short(each): _rows(each) for each in text.split("\n## ")[1:]}
    found = [
        f"{where}.{name}\n{sections[where][name]}"
        for where in sections
        if name in sections[where] and f".{where}".endswith(f".{module}" if module else "")
    ]
    if found:
        print("\n\n".join(found))
        return 0
    names = sorted({each for rows in sections.values() for each in rows})
    near = difflib.get_close_matches(name, names, 3)
    advice = f"did you mean {', '.join(near)}?" if near else "docs/coverage.md lists all"
    print(f"fxc coverage: there is nothing about {options.name}; {advice}", file=sys.stderr)
    return 2


def _short(section: str) -> str:
    """What users call a module: ``np.linalg``."""
    return section.split("\n", 1)[0].strip("` ").replace("numpy", "np")


def _rows(section: str) -> dict[str, str]:
    """The rows of a table, each by the name of the function, as lines for a terminal."""
    table = [line for line in section.splitlines() if line.startswith("| ")]
    heads = _cells(table[0])[1:] if table else []
    found = {}
    for line in table[1:]:
        name, *cells = _cells(line)
        pairs = zip(heads, cells, strict=False)
        width = max(map(len, heads))
        lines = [f"  {head:<{width}} {cell}" for head, cell in pairs if cell]
        found[name.strip("`")] = "\n".join(lines)
    for name, why in re.findall(r"^- `(\w+)`([^\n]*)$", section, re.MULTILINE):
        if name in found:
            found[name] += f"\n  refused{why}"
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
