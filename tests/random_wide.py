"""Wide random programs: more of NumPy and Python, and numbers at the ends of their range.

Those of ``tests/random_programs.py`` have small and finite numbers, and statements that are captured
in one graph. These have nan, infinities, zeros of both signs, the largest integers, dates, sizes that
depend on data, loops and handlers of Python and its containers; what is refused runs in parts.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from tests.program_writer import Statement, Writer, fits
from tests.random_programs import CHOICES
from tests.wide_templates import TEMPLATES
from tests.written_programs import Program

_LARGEST = 1e5
_SHARE = 4.0  # of the templates, to one of the other statements


class _WideWriter(Writer):
    """A writer whose arguments hold any numbers; ``dated`` are the variables that are dates."""

    def new_array(self) -> str:
        rng = self.rng
        made = super().new_array()
        kind = rng.random()
        if kind < 0.5:
            return re.sub(r"\barray\(([^()]*\([^()]*\), \d+)(, 3)?\)", r"extreme(\1)", made)
        if kind < 0.56 and self.arrays():
            return f"dates({rng.randint(2, 9)}, {rng.randint(0, 9)})"
        return made

    def arrays(self) -> list[str]:
        """Those of numbers; the templates of dates ask for the others."""
        return [name for name in super().arrays() if self.space[name].dtype.kind not in "mMOU"]

    def dates(self) -> list[str]:
        return [name for name in super().arrays() if self.space[name].dtype.kind == "M"]

    def scalars(self) -> list[str]:
        numbers = bool | int | float | complex | np.number
        return [name for name in self.variables if isinstance(self.space[name], numbers)]

    def results(self) -> tuple[tuple[str, ...], str]:
        """Most variables, of any kind: what nobody reads is not computed."""
        count = min(len(self.variables), self.rng.choice((1, 3, 6, 9)))
        return tuple(self.rng.sample(self.variables, count)), "tuple"

    def is_tame(self, x: Any) -> bool:
        """Whether there are few numbers, and those that are finite are small."""
        try:
            x = np.asarray(x)
        except ValueError:
            return isinstance(x, list | tuple) and all(map(self.is_tame, x))
        if x.size > 500 or x.ndim > 5:
            return False
        return x.dtype.kind not in "fc" or bool((np.abs(x[np.isfinite(x)]) < _LARGEST).all())


def _gaps(writer: Writer, name: str) -> dict[str, str]:
    """What fills the gaps of templates about this array."""
    rng, x = writer.rng, writer.space[name]
    alike = [each for each in writer.arrays() if writer.space[each].shape == x.shape]
    scalars = writer.scalars()
    masks = [each for each in alike if writer.space[each].dtype.kind == "b"]
    mask = f"({rng.choice(alike)} {rng.choice(('>', '<=', '!='))} {writer.literal(x.dtype)})"
    return {
        "x": name,
        "X": rng.choice(alike),
        "v": writer.view(),
        "y": writer.operand(x.shape, x.dtype, 1),
        "m": rng.choice(masks) if masks and rng.random() < 0.4 else mask,
        "s": rng.choice(scalars) if scalars and rng.random() < 0.7 else writer.literal(x.dtype),
        "a": str(rng.randrange(x.ndim)) if x.ndim else "None",
        "p": str(rng.randrange(len(x))) if x.ndim and len(x) else "0",
        "d": repr(rng.choice(writer.dtypes)),
    }


def from_template(templates: tuple[str, ...], writer: Writer) -> str:
    """One of the templates, filled."""
    assert isinstance(writer, _WideWriter)
    rng = writer.rng
    dated = writer.dates()
    names = writer.arrays()
    if not names:
        return ""
    name = writer.some_array()
    if rng.random() < 0.3:  # rather an array with room for what loops do
        name = max(names, key=lambda each: min(writer.space[each].size, 40))
    gaps = _gaps(writer, name)
    made = {"n": "", "N": ""}

    def fill(found: re.Match[str]) -> str:
        gap = found[1]
        if gap == "k":
            return writer.literal(writer.space[name].dtype)
        if gap in made:
            made[gap] = made[gap] or writer.new()
            return made[gap]
        if gap == "t":
            return gaps.setdefault("t", rng.choice(dated))
        return gaps[gap]

    template = rng.choice(templates)
    if "{t}" in template and not dated:
        return ""
    if "{d}" in template and not fits(writer.space[name], np.dtype(gaps["d"].strip("'"))):
        return ""  # what the cast gives is up to the machine
    return re.sub(r"\{(\w)\}", fill, template).replace("{{", "{").replace("}}", "}")


_WIDE: tuple[tuple[Statement, float], ...] = tuple(
    (partial(from_template, texts), _SHARE * weight) for texts, weight in TEMPLATES
)
_KINDS = tuple(kind for kind, _ in (*CHOICES, *_WIDE))
_WEIGHTS = tuple(weight for _, weight in (*CHOICES, *_WIDE))


def random_wide(seed: int) -> Program:
    """The wide program of this seed."""
    return _WideWriter(seed, overlap=True).program(_KINDS, _WEIGHTS)
