"""What a program is for, as comparisons in C: ``NAME_run`` makes them before it calls the entry."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from fxc.ir.records import frozen
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Atom, Dim, SymExpr, SymFunc, plain_symbol

# Note [Comparisons in C]
# Sizes and ints that a caller in C gives may be anything, and the products of two of them leave 64
# bits: a comparison of what is left of them would let the call pass. They are compared in 128 bits.
# Quotients and remainders are those of Python, and 0 where Python would raise.

FOR_NOTHING = -2  # the status of a call with arguments that the program is not for

_FUNCTIONS = """\
#ifndef FXC_WIDE
#define FXC_WIDE
__extension__ typedef __int128 fxc_wide;
static inline fxc_wide fxc_floordiv(fxc_wide a, fxc_wide b) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline fxc_wide fxc_mod(fxc_wide a, fxc_wide b) {
    return b == 0 ? 0 : a - b * fxc_floordiv(a, b);
}
static inline fxc_wide fxc_min(fxc_wide a, fxc_wide b) { return a < b ? a : b; }
static inline fxc_wide fxc_max(fxc_wide a, fxc_wide b) { return a > b ? a : b; }
#endif
"""


@frozen
class Need:
    """A relation that arguments must keep, its text, and what people call the symbols in it."""

    guard: Guard
    text: str
    names: dict[str, str]


def functions_for(checks: Sequence[str]) -> str:
    """What the checks need of a header."""
    return _FUNCTIONS.rstrip() if checks else ""


def checks_of(needs: Sequence[Need], names: Mapping[str, str]) -> Iterator[str]:
    """The lines that look at the arguments, by the ``names`` that symbols have in C. What depends
    on an int that the code does not read, and the caller does not give, is not looked at.
    """
    for need in needs:
        guard = need.guard
        if names.keys() >= need.names.keys():
            left, right = _wide(guard.left, names), _wide(guard.right, names)
            yield f"    if (!({left} {guard.relation} {right})) return {FOR_NOTHING};"


def comment_of(needs: Sequence[Need]) -> str:
    """The relations as people write them, a lower bound and an upper one in one."""
    lows = {name: need.guard.right for need in needs if (name := _bounded(need, ">=")) is not None}
    highs = {name for need in needs if (name := _bounded(need, "<=")) is not None}
    shown: dict[str, None] = {}
    joined = set()
    for need in needs:
        name = _bounded(need, "<=")
        if name in lows and name not in joined:
            joined.add(name)
            shown[f"{lows[name]} <= {need.text}"] = None
        elif _bounded(need, ">=") not in highs:
            shown[need.text] = None
    if not shown:
        return ""
    whole = "; ".join(text.replace(" ", "\0") for text in shown).replace("*/", "* /")
    lines = textwrap.wrap(f"It needs {whole}.", 97, break_long_words=False, break_on_hyphens=False)
    return "\n" + "".join(f"   {line}\n" for line in lines).replace("\0", " ")


def _bounded(need: Need, relation: str) -> str | None:
    """The symbol that is bounded so: from below by a number, from above by any size."""
    guard = need.guard
    if guard.relation != relation or (relation == ">=" and not isinstance(guard.right, int)):
        return None
    return plain_symbol(guard.left)


def _wide(dim: Dim, names: Mapping[str, str]) -> str:
    """A size as an expression of 128 bits."""
    if not isinstance(dim, SymExpr):
        return f"(fxc_wide){dim}"
    terms = []
    for monomial, factor in dim.terms:
        atoms = [_atom(atom, names) for atom in monomial]
        terms.append(" * ".join([*([f"(fxc_wide){factor}"] if factor != 1 else []), *atoms]))
    return f"({' + '.join(each or '1' for each in terms)})"


def _atom(atom: Atom, names: Mapping[str, str]) -> str:
    if isinstance(atom, SymFunc):
        return f"fxc_{atom.name}({_wide(atom.left, names)}, {_wide(atom.right, names)})"
    return f"(fxc_wide){names[atom.name]}"
