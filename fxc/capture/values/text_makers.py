"""Functions that make texts of the numbers in them, at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.made_functions import code_of, function_of


def maker_of(template: Any, hole: object) -> Callable[..., Any]:
    """The function of the numbers of a template, which has a hole for each.

    It is made of source: f-strings in loops are as many calls of it.
    """
    source = _Source(type(template), hole)
    expression = template.source(source.of)
    numbers = ", ".join(f"x{place}" for place in range(source.numbers))
    code = code_of(f"def made({numbers}): return {expression}", "<fxc text>", source.constants)
    return function_of(code, source.constants)


class _Source:
    """The source of parts of a template, one after the other."""

    def __init__(self, kind: object, hole: object) -> None:
        self._kind, self._hole = kind, hole
        self.numbers = 0
        self.constants: dict[str, object] = {}

    def of(self, x: Any) -> str:
        if x is self._hole:
            self.numbers += 1
            return f"x{self.numbers - 1}"
        if type(x) is self._kind:
            return x.source(self.of)  # type: ignore[no-any-return]
        if type(x) is tuple:
            return f"({''.join(f'{self.of(item)}, ' for item in x)})"
        if type(x) is list:
            return f"[{', '.join(map(self.of, x))}]"
        if type(x) is dict:
            items = [f"{self._constant(key)}: {self.of(item)}" for key, item in x.items()]
            return f"{{{', '.join(items)}}}"
        return self._constant(x)

    def _constant(self, x: object) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = x
        return name
