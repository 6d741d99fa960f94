"""Programs that ``fxc.export`` made: they can be called, printed, saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fxc.capture.guards.facts import apart, overlaps_itself
from fxc.ir.error_kinds import PROGRAM_ARGUMENT
from fxc.ir.errors import Interrupted, UsageError, UsageTypeError, WouldRaise
from fxc.ir.evaluate import call
from fxc.ir.records import computed_once
from fxc.ir.size_functions import evaluate, substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in, plain_symbol, symbol, symbols_of
from fxc.ir.tracebacks import folded
from fxc.ir.tree import LEAF, TreeSpec, flatten, unflatten
from fxc.ir.types import ArrayType, ScalarType, normal_strides
from fxc.ops.custom import current_epoch
from fxc.ops.epochs import Epoch
from fxc.ops.kernels import kernel_of
from fxc.runtime.plan import Plan

from .arguments import (
    check_fixed,
    check_kind,
    differences,
    dims_with_names,
)
from .file import Fixed, GivenInput, SavedProgram, read_program, write_program
from .targets import Exports

if TYPE_CHECKING:
    from .ahead_of_time import Texts

# Note [Arguments of an exported program]
# The arguments of a call are one pytree, ``(args, kwargs)``, whose leaves are numbered. A leaf is
# given to an input of the graph (two leaves to the same input: they must be one object), or it is
# a part of the program (a flag, a name, 0 or 1), or nobody reads it. What fxc.compile checks with
# guards and answers with another compilation, a program checks against the types of its graph and
# answers with an exception, because there is no function left to go back to.


@folded
def load(path: str | os.PathLike[str]) -> ExportedProgram:
    """The program that was saved in a file.

    The function it was made from is not needed. Nothing of the file is executed, and nothing is
    imported for it: modules that define the named tuples and dataclasses among its arguments and
    results have to be imported before.

    Raises ``ParseError``, which names the file, if it does not hold a program that this version of
    fxc can read.

    >>> import tempfile, numpy as np, fxc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fxc.export(np.hypot, np.ones(2), np.ones(2)).save(f"{folder}/hypot.fxc")
    ...     program = load(f"{folder}/hypot.fxc")
    >>> program(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
    array([ 5., 13.])
    """
    return ExportedProgram(read_program(path))


class ExportedProgram(Exports):
    """A captured function without the function: a graph that can be called; see ``fxc.export``.

    A call does what the function did: arrays that it writes are changed, views and arguments that
    it returns are views of the caller's arrays and the caller's own objects. Native code is made
    at the first call. A call with arguments that the program is not for raises ``TypeError``
    (their kind, dtype or structure) or ``ValueError`` (their values and sizes), which name the
    argument, before anything is changed.

    >>> import numpy as np, fxc
    >>> program = fxc.export(lambda x, k: x * k, np.ones(3), 2.0)
    >>> print(program)
    functional function(%x: f64[3], %k: py.float)
      %0: f64[3] = multiply(%x, %k)...
      return %0
      signature
        output 0 = result 0: f64[3]
    """

    def __init__(self, program: SavedProgram) -> None:
        super().__init__(program)
        self._made: tuple[Epoch, tuple[Plan, tuple[Guard, ...]]] | None = None

    @folded
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a text file, for ``fxc.load``.

        The file is replaced as a whole: after an error it is what it was before. Raises
        ``ValueError`` for a program that depends on objects which have no name to find them by.
        """
        write_program(self._program, path)

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        return f"<fxc.ExportedProgram {self.graph.name}({', '.join(self._leaf_names)})>"

    @folded
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the program."""
        leaves = self._run(self._inputs(args, kwargs))
        return leaves[0] if self.out_spec is LEAF else unflatten(self.out_spec, leaves)

    # -- from arguments to inputs

    def _inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The inputs of the graph. Raises for arguments that the program is not for."""
        arranged = self._arranged(args, kwargs)
        given, spec = flatten(arranged)
        if spec != self.in_spec:
            self._refuse_structure(spec)
        inputs: dict[int, Any] = {}
        for leaf, value, name in zip(self._program.leaves, given, self._leaf_names, strict=True):
            match leaf:
                case Fixed(known):
                    check_fixed(value, known, name)
                case GivenInput(place) if place in inputs:
                    if inputs[place] is not value:
                        first = self._input_names[place]
                        raise UsageError(
                            PROGRAM_ARGUMENT,
                            f"{name} must be the same array as {first}, it is another",
                        )
                case GivenInput(place, at_least):
                    check_kind(value, self.graph.inputs[place], at_least, name)
                    inputs[place] = value
        found = [inputs[place] for place in range(len(self.graph.inputs))]
        self._check_sizes(found)
        return found

    def _arranged(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments as they were when exporting."""
        name, parameters = self.graph.name, self._program.parameters
        if len(args) > len(parameters):
            wanted = f"{len(parameters)} positional argument{'s' * (len(parameters) != 1)}"
            raise UsageTypeError(
                PROGRAM_ARGUMENT, f"{name}() takes {wanted}, {len(args)} were given"
            )
        rest = dict(kwargs)
        keywords = self.in_spec.children[1].keys
        missing = [p for p in parameters[len(args) :] if p not in rest]
        positional = list(args)
        positional += [rest.pop(p) for p in parameters[len(args) :] if p in rest]
        missing += [str(key) for key in keywords if key not in rest]
        if missing:
            raise UsageTypeError(
                PROGRAM_ARGUMENT, f"{name}() is called without {', '.join(missing)}"
            )
        extra = [key for key in rest if key not in keywords]
        if extra:
            raise UsageTypeError(
                PROGRAM_ARGUMENT,
                f"{name}() was exported without {', '.join(extra)}, and takes no such argument",
            )
        return tuple(positional), {str(key): rest[str(key)] for key in keywords}

    def _refuse_structure(self, spec: TreeSpec) -> NoReturn:
        positional, keywords = self.in_spec.children
        wanted = (*positional.children, *keywords.children)
        found = (*spec.children[0].children, *spec.children[1].children)
        names = (*self._program.parameters, *map(str, keywords.keys))
        for left, right, name in zip(wanted, found, names, strict=True):
            for place, expected, given in differences(left, right, name):
                raise UsageTypeError(PROGRAM_ARGUMENT, f"{place} must be {expected}, it is {given}")
        raise AssertionError("the structures do not differ")

    # -- sizes

    def _check_sizes(self, inputs: Sequence[Any]) -> None:
        """Compare shapes, layouts and guards with the types of the graph's inputs."""
        known = self._symbols(inputs)
        arrays = [
            (value.type, array, self._input_names[place])
            for place, (value, array) in enumerate(zip(self.graph.inputs, inputs, strict=True))
            if isinstance(value.type, ArrayType)
        ]
        for kind, array, name in arrays:
            shape = tuple(evaluate(dim, known) for dim in kind.shape)
            if array.shape != shape:
                raise UsageError(
                    PROGRAM_ARGUMENT,
                    f"{name} must have the shape {self._shown(kind.shape)}, it has {array.shape}",
                )
        for guard in self.graph.guards:
            if counted_in(guard.left - guard.right):
                continue  # the graph looks at it itself, see Note [Counted sizes]
            if not guard.holds(known):
                raise UsageError(
                    PROGRAM_ARGUMENT, f"{self.graph.name}() {self._guard_text(guard, known)}"
                )
        for kind, array, name in arrays:
            strides = tuple(evaluate(dim, known) for dim in kind.strides)
            if normal_strides(array.shape, array.strides, array.itemsize) != strides:
                raise UsageError(
                    PROGRAM_ARGUMENT,
                    f"{name} must lie in memory with the strides {strides}, it has {array.strides};"
                    " export with an array of this layout, or pass a copy",
                )

    def _symbols(self, inputs: Sequence[Any]) -> dict[str, int]:
        """The value of every symbol in this call."""
        known: dict[str, int] = {}
        for place, (value, given) in enumerate(zip(self.graph.inputs, inputs, strict=True)):
            kind = value.type
            if isinstance(kind, ScalarType):
                if kind.weak and kind.dtype.kind == "i":
                    known[value.name] = given
                continue
            for dim, size, text in dims_with_names(kind, given):
                name = plain_symbol(dim)
                if name is None or name in known:
                    continue
                known[name] = size
                lower = symbols_of(dim)[name].lower
                if lower is not None and size < lower:
                    what = f"{self._input_names[place]}.{text}"
                    raise UsageError(
                        PROGRAM_ARGUMENT, f"{what} must be {lower} or more, it is {size}"
                    )
        return known

    @computed_once
    def _symbol_texts(self) -> dict[str, Dim]:
        """How people call the symbols: ``x.shape[0]``."""
        texts: dict[str, Dim] = {}
        for place, value in enumerate(self.graph.inputs):
            name = self._input_names[place]
            if isinstance(value.type, ScalarType):
                texts.setdefault(value.name, symbol(name))
                continue
            for dim, _, text in dims_with_names(value.type, None):
                plain = plain_symbol(dim)
                if plain is not None:
                    texts.setdefault(plain, symbol(f"{name}.{text}"))
        return texts

    def _texts(self) -> Texts:
        from .ahead_of_time import Texts

        return Texts(self._shown, self._guard_texts)

    def _shown(self, shape: tuple[Dim, ...]) -> str:
        dims = [str(substitute(dim, self._symbol_texts)) for dim in shape]
        return f"({', '.join(dims)}{',' * (len(dims) == 1)})"

    def _guard_text(self, guard: Guard, known: Mapping[str, int]) -> str:
        text, names = self._guard_texts(guard)
        given = ", ".join(f"{shown} = {known[name]}" for name, shown in names.items())
        return f"is for calls with {text}, this has {given}"

    def _guard_texts(self, guard: Guard) -> tuple[str, dict[str, str]]:
        """A guard, and the symbols in it, as people write them."""
        texts = self._symbol_texts
        left, right = substitute(guard.left, texts), substitute(guard.right, texts)
        names = {**symbols_of(guard.left), **symbols_of(guard.right)}
        return f"{left} {guard.relation} {right}", {name: str(texts[name]) for name in names}

    # -- running

    def _code(self) -> tuple[Plan, tuple[Guard, ...]]:
        """The call plan of the native code, and what it relies on beyond the graph's guards; made
        anew when operators of the user's have changed.
        """
        from fxc.pipeline.stages import native

        if self._made is None or not self._made[0].holds:
            epoch, made = current_epoch(), native(self.graph)
            self._made = epoch, (made.assembled.plan, made.guards)
        return self._made[1]

    def _run(self, inputs: list[Any]) -> list[Any]:
        plan, guards = self._code()
        self._refuse_overlap(inputs)
        known = self._symbols(inputs) if guards else {}
        if all(guard.holds(known) for guard in guards):
            try:
                return plan.run(*inputs)
            except WouldRaise:
                pass  # NumPy raises it below
            except Interrupted as interrupt:
                raise interrupt.__cause__ or interrupt from None
        return call(self.graph, inputs, kernel_of)

    def _refuse_overlap(self, inputs: list[Any]) -> None:
        """Raise if a written input has an element in common with another, or with itself."""
        name, names = self.graph.name, self._input_names
        written = sorted(self.signature.mutated_inputs)
        for place in written:
            if overlaps_itself(inputs[place]):
                raise UsageError(
                    PROGRAM_ARGUMENT,
                    f"several elements of {names[place]} lie at one place in memory, and "
                    f"{name}() writes it; pass a copy",
                )
        for pair in self._pairs:
            left, right = (inputs[place] for place in pair)
            if np.may_share_memory(left, right) and not apart(left, right):
                raise UsageError(
                    PROGRAM_ARGUMENT,
                    f"{names[pair[0]]} and {names[pair[1]]} share memory and one of them is "
                    f"written; {name}() is for arrays that do not overlap",
                )

    @computed_once
    def _pairs(self) -> list[tuple[int, int]]:
        """The inputs of which one is written, and which therefore have to be apart."""
        written = self.signature.mutated_inputs
        arrays = [p for p, x in enumerate(self.graph.inputs) if isinstance(x.type, ArrayType)]
        return [pair for pair in combinations(arrays, 2) if not written.isdisjoint(pair)]
