"""What a compiled function tells of itself: counts, and the stages of its compilations."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import UsageError
from fxc.ir.records import frozen

if TYPE_CHECKING:
    from .stages import Compilation


@frozen
class CacheInfo:
    """What has run so far: compilations; calls of compiled code; calls that Python ran, wholly or
    between compiled parts; how often which operator was left to NumPy inside compiled code; and the
    compiled parts of a function that is split, with their calls.

    >>> import numpy as np, fxc
    >>> volume = fxc.compile(lambda a: abs(np.linalg.det(a)) + 1)
    >>> volume(np.eye(2))
    np.float64(2.0)
    >>> volume.cache_info()
    CacheInfo(variants=1, native_calls=1, eager_calls=0, fallbacks={'linalg_det': 1},
              parts=0, part_calls=0)
    """

    variants: int
    native_calls: int
    eager_calls: int
    fallbacks: Mapping[str, int]
    parts: int = 0
    part_calls: int = 0


STAGES = (
    *("captured", "functional", "decomposed"),
    *("loops", "schedule", "memory", "llvm", "asm", "plan"),
)
"""The stages of a compilation, in their order."""


@frozen
class Stages:
    """Every stage of one compilation; ``str()`` of each is its text. A notebook shows them all.

    >>> import numpy as np, fxc
    >>> @fxc.compile
    ... def twice(x):
    ...     x *= 2
    >>> print(twice.inspect(np.ones(3)).diff("captured", "functional"))
    --- captured
    +++ functional
    @@ -1,3 +1,5 @@
    -captured twice(%x: f64[3])
    -  multiply_(%x, 2)  # ...
    -  return
    +functional twice(%x: f64[3])
    +  %0: f64[3] = multiply(%x, 2)  # ...
    +  return %0
    +  signature
    +    %x := result 0
    """

    captured: Any
    functional: Any
    decomposed: Any
    loops: Any
    llvm: str
    _assembled: Any

    @property
    def bytes_moved(self) -> Any:
        """Bytes that the loop nests load and store, an int or an expression in the sizes.

        Each nest counts each array that it loads or stores once.
        """
        if self._assembled is None:
            return 0
        from fxc.lowering.nests.traffic import traffic  # lowering is imported by who compiles

        return traffic(self.loops)

    @property
    def memory(self) -> str:
        """What memory a call takes: all of it, by array, and over time."""
        if self._assembled is None:
            return ""
        from fxc.lowering.emission.memory import memory_text

        return memory_text(self._assembled.module)

    @property
    def schedule(self) -> str:
        """How the loop nests run, a line for each: its loops, lanes and threads, the arrays that it
        reads and writes, and why it has no lanes, or runs on one thread.
        """
        if self._assembled is None:
            return ""
        from fxc.lowering.scheduling.explain import schedule

        return schedule(self.loops)

    @property
    def copies(self) -> tuple[str, ...]:
        """Why copies of arrays were made that the program does not ask for, one text for each."""
        return () if self._assembled is None else self.loops.copies

    @property
    def asm(self) -> str:
        """The machine code."""
        return "" if self._assembled is None else self._assembled.engine.assembly()

    @property
    def plan(self) -> str:
        """The Python source of the call plan."""
        return "" if self._assembled is None else self._assembled.plan.source

    def text(self, stage: str) -> str:
        """The text of one of the ``STAGES``. Raises ``ValueError`` for another name."""
        if stage not in STAGES:
            names = ", ".join(STAGES)
            raise UsageError(ARGUMENT, f"there is no stage {stage!r}; there are {names}")
        return str(getattr(self, stage))

    def diff(self, before: str, after: str, colours: bool | None = None) -> str:
        """What differs between two stages, as a unified diff. The values of the one before are
        called what the one after calls them.

        With ``colours`` it is for a terminal: by default where the standard output is one.
        """
        from fxc.ir.text_diff import coloured, text_diff  # with difflib: for who asks

        found = text_diff(self.text(before), self.text(after), (before, after))
        if colours is None:
            colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        return coloured(found) if colours else found

    def __str__(self) -> str:
        return "\n".join(f"== {name} ==\n\n{self.text(name)}\n" for name in STAGES)

    def _repr_html_(self) -> str:
        """The stages for a notebook, each to be opened; the first and the loops are open."""
        return "".join(
            _details(name, self.text(name), name in ("captured", "loops")) for name in STAGES
        )


@frozen
class SplitStages:
    """A function that is split: its driver as Python source, and the stages of its parts."""

    driver: str
    parts: tuple[Stages, ...]

    @property
    def bytes_moved(self) -> Any:
        """Bytes that the loop nests of all parts load and store."""
        return sum(part.bytes_moved for part in self.parts)

    def __str__(self) -> str:
        return "\n".join(["== driver ==\n", self.driver, "", *map(str, self.parts)])

    def _repr_html_(self) -> str:
        """The driver and the stages of each part for a notebook."""
        parts = (
            f"<details><summary>part {number}</summary>{part._repr_html_()}</details>"
            for number, part in enumerate(self.parts, 1)
        )
        return _details("driver", self.driver, True) + "".join(parts)


def _details(name: str, text: str, is_open: bool) -> str:
    from html import escape

    how = ' open="open"' if is_open else ""
    return f"<details{how}><summary>{name}</summary><pre>{escape(text)}</pre></details>"


def stages_of(made: Compilation) -> Stages:
    """The stages of one compilation."""
    module = made.assembled.module if made.assembled is not None else None
    return Stages(
        made.captured,
        made.functional,
        made.decomposed,
        module.program if module is not None else "",
        module.text if module is not None else "",
        made.assembled,
    )
