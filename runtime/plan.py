"""The call plan: from the flat inputs of one call to the leaves of its result.

A plan is a Python function made once for each compiled graph, as source text: it allocates results
and temporaries, calls the native entries and NumPy in order, and gives the caller's objects. Its
text is kept, see ``Plan.source``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any

from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.made_functions import code_of, function_of
from fxc.ir.records import frozen

if TYPE_CHECKING:
    from .recipe import Recipe

call_numpy = import_later("fxc.runtime.numpy_steps", "call_numpy")  # many plans have no such step


@frozen
class Plan:
    """``run(*inputs)`` gives the leaves of the result.

    It raises ``WouldRaise`` before any effect that the caller sees, ``Interrupted`` behind some.
    ``sites`` are the operators that NumPy is called for, by the lines of the source.
    """

    run: Callable[..., list[Any]]
    source: str
    sites: Mapping[int, Site]
    code: CodeType
    constants: Mapping[str, Any]

    @classmethod
    def of_code(
        cls, code: CodeType, source: str, constants: Mapping[str, Any], sites: Mapping[int, Site]
    ) -> Plan:
        """The plan whose source is compiled already."""
        ready = {name: _ready(value) for name, value in constants.items()}
        return cls(function_of(code, ready), source, sites, code, constants)

    def raised_at(self, error: BaseException) -> Site | None:
        """The operator that NumPy was called for when it raised an exception."""
        found, at = None, error.__traceback__
        while at is not None:
            if at.tb_frame.f_code is self.run.__code__:
                found = self.sites.get(at.tb_lineno)
            at = at.tb_next
        return found


def _ready(value: Any) -> Any:
    """A constant, or the native code that does the same."""
    native = getattr(type(value), "__fxc_native__", None)
    return value if native is None else native(value)


def make_plan(recipe: Recipe) -> Plan:
    """The plan for a recipe."""
    from .plan_writer import PlanWriter  # not for a plan that is restored

    writer = PlanWriter(recipe, call_numpy)
    source = writer.write()
    code = code_of(source, "<fxc plan>", writer.constants)
    return Plan.of_code(code, source, writer.constants, writer.sites)
