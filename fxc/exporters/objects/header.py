"""The C header of a package: the entry of its object files, and a function with typed arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.signature import ResultLeaf, ViewLeaf
from fxc.ir.symbols import Dim, SymExpr, SymFunc
from fxc.ir.types import DTYPE_NAMES
from fxc.runtime.recipe import Recipe

from .manifest import Code, Exported
from .needs import FOR_NOTHING, checks_of, comment_of, functions_for
from .numpy_table import show_table

_TYPES = {
    "bool": "uint8_t",
    **{
        f"{kind}{bits}": f"{c}int{bits}_t"
        for kind, c in (("i", ""), ("u", "u"))
        for bits in (8, 16, 32, 64)
    },
    "f16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "c64": "float",
    "c128": "double",
}
_KEYWORDS = (  # of C and of C++, and names that the function has
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while class delete new this template typename namespace operator "
    "private public protected try catch throw using virtual friend bool true false and or not xor "
    "arrays sizes numbers table arena fxc_wide fxc_floordiv fxc_mod fxc_min fxc_max"
)
_HEAD = """\
/* {name}, compiled ahead of time by fxc. Link it with one of the object files beside this header
   (the level that all processors in question have) and with the mathematical library: -lm.
{needs}
   {entry}_run gives 0 when all is done; more where NumPy would raise an exception, and then no
   array has changed:
{sites}
   -1 if it was stopped; {other} for sizes and numbers that it is not for, and then nothing has been
   read or written. Nobody is told of what NumPy warns of. Arrays may not overlap, and have the
   strides that are given. */
#ifndef FXC_{upper}_H
#define FXC_{upper}_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif
{functions}
/* The entry itself: data of arrays, symbols, numbers of 8 bytes, pairs of pointers. It does not
   check sizes and numbers: {entry}_run does. */
int32_t {entry}(void *const *arrays, const int64_t *sizes, const void *numbers,
                const void *const *table);
{arena}
{parameters}
static inline int32_t {entry}_run({signature}) {{
{body}
}}
#ifdef __cplusplus
}}
#endif
#endif
"""


@frozen
class Parameter:
    """An argument of the typed function, as it is declared, and what is said of it."""

    name: str
    declared: str
    text: str


def headers(graph: Graph, exported: Exported, codes: Sequence[Code]) -> dict[str, bytes]:
    """The header by its file name: one for all levels, or one for each if they are not called in
    the same way.
    """
    found = {code.level.name: _Header(graph, exported, code).text().encode() for code in codes}
    if len({*found.values()}) == 1:
        return {f"{exported.entry}.h": next(iter(found.values()))}
    return {f"{exported.entry}-{name}.h": text for name, text in found.items()}


def names_of_results(recipe: Recipe) -> dict[str, str]:
    """What slots with results are called: by the place of the first leaf of the caller's result
    that is in them, else of one that shows a part of them.
    """
    leaves, found = recipe.signature.outputs, dict[str, str]()
    for place, leaf in sorted(enumerate(leaves), key=lambda each: isinstance(each[1], ViewLeaf)):
        name = "result" if len(leaves) == 1 else f"result_{place}"
        while isinstance(leaf, ViewLeaf):
            leaf, name = leaf.base, f"{name}_base"
        if isinstance(leaf, ResultLeaf):
            found.setdefault(recipe.results[leaf.result], name)
    return found


class _Header:
    def __init__(self, graph: Graph, exported: Exported, code: Code) -> None:
        self.graph, self.entry, self.code = graph, exported.entry, code
        self.wanted, self.results = exported.needs, names_of_results(code.recipe)
        self.taken = {*_KEYWORDS.split()}
        params = self.code.module.given.packed
        self.numbers_of = {param.name: self.new(param.name) for param in params}
        self.symbols = {name: self.new(name) for name in self.code.module.given.symbols}
        self.shown = {name: shown for need in self.wanted for name, shown in need.names.items()}
        self.checks = [*checks_of(self.wanted, self.numbers_of | self.symbols)]
        self.table = show_table(self.code.module)
        self.needs = any("ask" not in each for each in self.table)

    def new(self, name: str) -> str:
        """A name of its own for C."""
        found = re.sub(r"\W", "_", name, flags=re.ASCII)
        found = found if re.match("[A-Za-z]", found) else f"x{found}"
        while found in self.taken:
            found += "_"
        self.taken.add(found)
        return found

    def text(self) -> str:
        arrays, numbers = [*self.arrays()], [*self.numbers()]
        sizes = [
            Parameter(name, f"int64_t {name}", self.place_of(symbol))
            for symbol, name in self.symbols.items()
        ]
        given = [*arrays, *sizes, *numbers]
        has_arena = self.code.recipe.arena != 0
        if has_arena:
            text = f"memory of {self.entry}_arena_size(…) bytes"
            given.append(Parameter("arena", "void *arena", text))
        if self.needs:
            given.append(Parameter("table", "const void *const *table", self.table_text()))
        lines = [f"   {each.name}: {each.text}" for each in given]
        return _HEAD.format(
            name=self.graph.name,
            entry=self.entry,
            upper=self.entry.upper(),
            needs=comment_of(self.wanted),
            sites="\n".join(self.sites()),
            other=FOR_NOTHING,
            functions=functions_for(self.checks),
            arena=self.arena() if has_arena else "",
            parameters="/*\n" + "\n".join(lines) + " */",
            signature=", ".join(each.declared for each in given) or "void",
            body="\n".join(self.body(arrays, numbers, has_arena)),
        )

    def sites(self) -> Iterator[str]:
        for number, site in enumerate(self.code.module.sites, 1):
            place = "" if site.loc is None else f" ({site.loc})"
            yield f"   {number}: {site.op}{place}"
        yield f"   {len(self.code.module.sites) + 1}: anything else"

    def arrays(self) -> Iterator[Parameter]:
        written = self.graph.signature.mutated_inputs if self.graph.signature else frozenset()
        for slot in self.code.recipe.slots:
            kind = _TYPES[DTYPE_NAMES[slot.dtype]]
            const = "" if slot.input is None or slot.input in written else "const "
            plain = slot.name if slot.input is not None else f"out_{slot.name}"
            name = self.new(self.results.get(slot.name, plain))
            dims = slot.shape if slot.room is None else (slot.room,)
            shape = ", ".join(self.dim(dim) for dim in dims)
            text = f"{DTYPE_NAMES[slot.dtype]}[{shape}]"
            if slot.input is not None:
                text = str(self.graph.inputs[slot.input].type)
            if slot.room is not None:
                text = f"room for {text}; what is filled is {self.dims(slot.shape)}"
            if slot.input is None and slot.order != tuple(range(len(slot.shape))):
                text += f", axes in memory: {slot.order}"
            yield Parameter(name, f"{const}{kind} *{name}", text)

    def numbers(self) -> Iterator[Parameter]:
        for param in self.code.module.given.packed:
            name, kind = self.numbers_of[param.name], _wide(param.dtype)
            yield Parameter(name, f"{kind} {name}", DTYPE_NAMES[param.dtype])

    def place_of(self, symbol: str) -> str:
        """What a symbol is."""
        axis = symbol.rpartition(".")[2]
        text = f"{'the stride' if axis[:1] == 's' else 'the size'} {symbol} of an array"
        return f"{text}, {self.shown[symbol]}" if symbol in self.shown else text

    def table_text(self) -> str:
        texts = []
        for each in self.table:
            if "loop" in each:
                texts.append(f"NumPy's inner loop {each['loop']} {each['types']} and its data")
            elif "sorts" in each:
                texts.append(f"NumPy's {each['sorts']} of {each['dtype']}, and NULL")
            elif "call" in each:
                texts.append(f"int32_t (*)(void *, int64_t *) that calls {each['call']}")
            elif each["ask"]:
                texts.append("NULL, NULL")
            else:
                texts.append("int32_t (*)(void *) that is asked whether to stop, its argument")
        return "pairs of pointers:\n" + "\n".join(f"     {text}" for text in texts)

    def body(
        self, arrays: Iterable[Parameter], numbers: Sequence[Parameter], has_arena: bool
    ) -> Iterator[str]:
        yield from self.checks
        data = [f"(void *){each.name}" for each in arrays] + ["arena" if has_arena else "NULL"]
        yield f"    void *arrays[] = {{{', '.join(data)}}};"
        yield f"    int64_t sizes[] = {{{', '.join([*self.symbols.values(), '0'])}}};"
        kinds = [_wide(param.dtype) for param in self.code.module.given.packed]
        if numbers:
            fields = " ".join(f"{kind} x{n};" for n, kind in enumerate(kinds))
            values = ", ".join(each.name for each in numbers)
            yield f"    struct {{ {fields} }} numbers = {{{values}}};"
        if not self.needs:
            zeros = ", ".join(["NULL"] * (2 * len(self.table) or 1))
            yield f"    const void *table[] = {{{zeros}}};"
        given = "&numbers" if numbers else "NULL"
        yield f"    return {self.entry}(arrays, sizes, {given}, table);"

    def arena(self) -> str:
        """A function for the bytes of temporaries."""
        params = ", ".join(f"int64_t {name}" for name in self.used()) or "void"
        unused = "".join(f" (void){name};" for name in self.used())
        head = f"static inline size_t {self.entry}_arena_size({params}) {{"
        return f"{head}{unused} return (size_t){self.dim(self.code.recipe.arena)}; }}"

    def used(self) -> list[str]:
        numbers = [p.name for p in self.code.module.given.packed if p.dtype == np.int64]
        return [*self.symbols.values(), *(self.numbers_of[name] for name in numbers)]

    def dims(self, dims: Sequence[Dim]) -> str:
        return f"[{', '.join(map(str, dims))}]"

    def dim(self, dim: Dim) -> str:
        """A size as an expression in C; sizes are not negative."""
        if not isinstance(dim, SymExpr):
            return str(dim)
        terms = []
        for monomial, factor in dim.terms:
            atoms = [self.atom(atom) for atom in monomial]
            terms.append(" * ".join([*([str(factor)] if factor != 1 or not atoms else []), *atoms]))
        return f"({' + '.join(terms)})"

    def atom(self, atom: object) -> str:
        if isinstance(atom, SymFunc):
            left, right = self.dim(atom.left), self.dim(atom.right)
            signs = {"floordiv": "/", "mod": "%", "min": "<", "max": ">"}
            sign = signs[atom.name]
            if atom.name in ("min", "max"):
                return f"({left} {sign} {right} ? {left} : {right})"
            return f"({left} {sign} {right})"
        name = str(getattr(atom, "name", atom))
        return self.symbols.get(name) or self.numbers_of.get(name) or name


def _wide(dtype: np.dtype) -> str:
    """The type of a number of 8 bytes."""
    return {"f": "double", "u": "uint64_t"}.get(dtype.kind, "int64_t")
