"""What becomes of the corpus in each target; ``python -m tests.exporters.refused`` writes the table
of it into ``docs/export.md``.

The tests of each target hold it to this: what is named here is refused with that operator or dtype,
all else is equal.
"""

from pathlib import Path

from tests.sources import ROOT

from .corpus import EXAMPLES

_PAGE = ROOT / "docs" / "export.md"
_BEGIN, _END = "<!-- table of programs: begin -->\n", "<!-- table of programs: end -->\n"

_OF_SCIPY = {
    "columns.book_risk": "call_cdf",
    "finance.greeks": "call_cdf",
    "physics.heat_implicit": "call_solve_banded",
}
NUMPY_SOURCE = _OF_SCIPY
ONNX = {**_OF_SCIPY, "oceans.tidal_basis": "complex128", "mandelbrot_with_masks": "complex128"}
STABLEHLO = {
    **_OF_SCIPY,
    "particles.lbm_cavity": "concatenate",
    "walsh_hadamard_with_reshapes": "reshape_copy",
}
OBJECTS = {**_OF_SCIPY, "particles.lbm_cavity": "sizes that depend on data"}

TARGETS = {
    "NumPy source": NUMPY_SOURCE,
    "ONNX": ONNX,
    "StableHLO": STABLEHLO,
    "object code": OBJECTS,
}


def table() -> str:
    """The table: a row for each program, and how many are equal."""
    lines = [f"| program | {' | '.join(TARGETS)} |", f"|---|{'---|' * len(TARGETS)}"]
    for example in EXAMPLES:
        cells = [
            f"no: {refused[example.name]}" if example.name in refused else "equal"
            for refused in TARGETS.values()
        ]
        lines.append(f"| {example.name} | {' | '.join(cells)} |")
    counts = [str(len(EXAMPLES) - len(refused)) for refused in TARGETS.values()]
    lines.append(f"| **equal of {len(EXAMPLES)}** | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(_BEGIN)
    return f"{before}{_BEGIN}{table()}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    Path(_PAGE).write_text(with_table(_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print("wrote docs/export.md")
