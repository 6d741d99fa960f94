"""``fxc.export``: a function as a program of its own, that can be called, printed and saved."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from types import MethodType
from typing import Any, NoReturn

import numpy as np

from fxc.capture.capture import Terms, capture
from fxc.capture.captured import Captured
from fxc.capture.guard_facts import apart, overlaps_itself, same_value
from fxc.ir.errors import CaptureError, Interrupted, WouldRaise
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph, Value
from fxc.ir.signature import Signature
from fxc.ir.size_functions import evaluate, substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in, plain_symbol, symbol, symbols_of
from fxc.ir.tree import LEAF, NONE, TreeSpec, flatten, registration, unflatten
from fxc.ir.types import ArrayType, ScalarType, normal_strides
from fxc.ops.kernels import kernel_of
from fxc.runtime.plan import Plan

from .program_file import (
    NAMED,
    ArgumentLeaf,
    Fixed,
    GivenInput,
    SavedProgram,
    Unread,
    read_program,
    write_program,
)

# Note [Arguments of an exported program]
# The arguments of a call are one pytree, ``(args, kwargs)``, whose leaves are numbered. A leaf is
# given to an input of the graph (two leaves to the same input: they must be one object), or it is
# a part of the program (a flag, a name, 0 or 1), or nobody reads it. What fxc.compile checks with
# guards and answers with another compilation, a program checks against the types of its graph and
# answers with an exception, because there is no function left to go back to.

_INT64 = range(-(2**63), 2**63)


def export(
    fn: Callable[..., Any], /, *args: object, dynamic: bool = False, **kwargs: object
) -> ExportedProgram:
    """The call ``fn(*args, **kwargs)`` as a program for all arguments of these types.

    Nothing is run and no argument is changed. Arrays, floats and ints are inputs of the program.
    What decided how the function ran is part of it: flags, strings, the ints 0 and 1, numbers that
    an ``if`` asked for, and the values of globals that are numbers. ``dynamic`` makes the sizes of
    arrays symbols; otherwise they are part of the program, too.

    Raises ``CaptureError`` if the function cannot be captured as a whole, or reads arrays that are
    no arguments.

    >>> import numpy as np
    >>> def smooth(u, weight):
    ...     u[1:-1] += weight * (u[:-2] - 2 * u[1:-1] + u[2:])
    >>> program = export(smooth, np.zeros(4), 0.5, dynamic=True)
    >>> u = np.array([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])
    >>> program(u, 0.25)
    >>> u
    array([0., 2., 4., 2., 0., 0.])
    """
    fn = _original(fn)
    leaves, in_spec = flatten((args, kwargs))
    own_args, own_kwargs = unflatten(in_spec, _own_views(leaves))
    captured = capture(fn, own_args, own_kwargs, Terms(dynamic, effects=False))
    if captured.overlaps.inputs:
        texts = (captured.inputs[place].text for place in captured.overlaps.inputs.values())
        raise CaptureError(
            f"{' and '.join(texts)} share memory and one of them is written, which cannot be "
            "exported; pass arrays that do not overlap"
        )
    parameters = _parameters(fn, len(args))
    names = leaf_names(in_spec, parameters)
    places = _places(captured, in_spec, leaves)
    kept = tuple(
        _argument_leaf(leaf, place, name)
        for leaf, place, name in zip(leaves, places, names, strict=True)
    )
    graph = _functional(captured)
    return ExportedProgram(SavedProgram(graph, in_spec, captured.out_spec, parameters, kept))


def load(path: str | os.PathLike[str]) -> ExportedProgram:
    """The program that was saved in a file.

    The function it was made from is not needed. The modules that define the named tuples and
    dataclasses among its arguments and results are imported; nothing else is executed.

    Raises ``ParseError``, which names the file, if it does not hold a program that this version of
    fxc can read.

    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(np.hypot, np.ones(2), np.ones(2)).save(f"{folder}/hypot.fxc")
    ...     program = load(f"{folder}/hypot.fxc")
    >>> program(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
    array([ 5., 13.])
    """
    return ExportedProgram(read_program(path))


class ExportedProgram:
    """A captured function without the function: a graph that can be called; see ``fxc.export``.

    A call does what the function did: arrays that it writes are changed, views and arguments that
    it returns are views of the caller's arrays and the caller's own objects. Native code is made
    at the first call. A call with arguments that the program is not for raises ``TypeError``
    (their kind, dtype or structure) or ``ValueError`` (their values and sizes), which name the
    argument, before anything is changed.

    >>> import numpy as np
    >>> program = export(lambda x, k: x * k, np.ones(3), 2.0)
    >>> print(program)
    functional function(%x: f64[3], %k: py.float)
      %0: f64[3] = multiply(%x, %k)...
      return %0
      signature
        output 0 = result 0: f64[3]
    """

    def __init__(self, program: SavedProgram) -> None:
        self._program = program

    @property
    def graph(self) -> Graph:
        """The functional graph: pure operators alone."""
        return self._program.graph

    @property
    def signature(self) -> Signature:
        """Which inputs are updated with what, and what the caller's result is made of."""
        assert self.graph.signature is not None
        return self.graph.signature

    @property
    def in_spec(self) -> TreeSpec:
        """The pytree of the arguments, ``(args, kwargs)``."""
        return self._program.in_spec

    @property
    def out_spec(self) -> TreeSpec:
        """The pytree of the result."""
        return self._program.out_spec

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

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the program."""
        leaves = self._run(self._inputs(args, kwargs))
        return leaves[0] if self.out_spec is LEAF else unflatten(self.out_spec, leaves)

    # -- from arguments to inputs

    @cached_property
    def _leaf_names(self) -> list[str]:
        return leaf_names(self.in_spec, self._program.parameters)

    @cached_property
    def _input_names(self) -> dict[int, str]:
        """The argument that each input of the graph is first given by."""
        found: dict[int, str] = {}
        for leaf, name in zip(self._program.leaves, self._leaf_names, strict=True):
            if isinstance(leaf, GivenInput):
                found.setdefault(leaf.input, name)
        return found

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
                    _check_fixed(value, known, name)
                case GivenInput(place) if place in inputs:
                    if inputs[place] is not value:
                        first = self._input_names[place]
                        raise ValueError(f"{name} must be the same array as {first}, it is another")
                case GivenInput(place, at_least):
                    _check_kind(value, self.graph.inputs[place], at_least, name)
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
            raise TypeError(f"{name}() takes {wanted}, {len(args)} were given")
        rest = dict(kwargs)
        keywords = self.in_spec.children[1].keys
        missing = [p for p in parameters[len(args) :] if p not in rest]
        positional = list(args)
        positional += [rest.pop(p) for p in parameters[len(args) :] if p in rest]
        missing += [str(key) for key in keywords if key not in rest]
        if missing:
            raise TypeError(f"{name}() is called without {', '.join(missing)}")
        extra = [key for key in rest if key not in keywords]
        if extra:
            raise TypeError(
                f"{name}() was exported without {', '.join(extra)}, and takes no such argument"
            )
        return tuple(positional), {str(key): rest[str(key)] for key in keywords}

    def _refuse_structure(self, spec: TreeSpec) -> NoReturn:
        positional, keywords = self.in_spec.children
        wanted = (*positional.children, *keywords.children)
        found = (*spec.children[0].children, *spec.children[1].children)
        names = (*self._program.parameters, *map(str, keywords.keys))
        for left, right, name in zip(wanted, found, names, strict=True):
            for place, expected, given in _differences(left, right, name):
                raise TypeError(f"{place} must be {expected}, it is {given}")
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
                raise ValueError(
                    f"{name} must have the shape {self._shown(kind.shape)}, it has {array.shape}"
                )
        for guard in self.graph.guards:
            if counted_in(guard.left - guard.right):
                continue  # the graph looks at it itself, see Note [Counted sizes]
            if not guard.holds(known):
                raise ValueError(f"{self.graph.name}() {self._guard_text(guard, known)}")
        for kind, array, name in arrays:
            strides = tuple(evaluate(dim, known) for dim in kind.strides)
            if normal_strides(array.shape, array.strides, array.itemsize) != strides:
                raise ValueError(
                    f"{name} must lie in memory with the strides {strides}, it has {array.strides};"
                    " export with an array of this layout, or pass a copy"
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
            for dim, size, text in _dims(kind, given):
                name = plain_symbol(dim)
                if name is None or name in known:
                    continue
                known[name] = size
                lower = symbols_of(dim)[name].lower
                if lower is not None and size < lower:
                    what = f"{self._input_names[place]}.{text}"
                    raise ValueError(f"{what} must be {lower} or more, it is {size}")
        return known

    @cached_property
    def _symbol_texts(self) -> dict[str, Dim]:
        """How people call the symbols: ``x.shape[0]``."""
        texts: dict[str, Dim] = {}
        for place, value in enumerate(self.graph.inputs):
            name = self._input_names[place]
            if isinstance(value.type, ScalarType):
                texts.setdefault(value.name, symbol(name))
                continue
            for dim, _, text in _dims(value.type, None):
                plain = plain_symbol(dim)
                if plain is not None:
                    texts.setdefault(plain, symbol(f"{name}.{text}"))
        return texts

    def _shown(self, shape: tuple[Dim, ...]) -> str:
        dims = [str(substitute(dim, self._symbol_texts)) for dim in shape]
        return f"({', '.join(dims)}{',' * (len(dims) == 1)})"

    def _guard_text(self, guard: Guard, known: Mapping[str, int]) -> str:
        texts = self._symbol_texts
        sides = (substitute(guard.left, texts), substitute(guard.right, texts))
        names = {**symbols_of(guard.left), **symbols_of(guard.right)}
        given = ", ".join(f"{texts[name]} = {known[name]}" for name in names)
        return f"is for calls with {sides[0]} {guard.relation} {sides[1]}, this has {given}"

    # -- running

    @cached_property
    def _code(self) -> tuple[Plan, tuple[Guard, ...]]:
        """The call plan of the native code, and what it relies on beyond the graph's guards."""
        from .stages import native

        made = native(self.graph)
        return made.assembled.plan, made.guards

    def _run(self, inputs: list[Any]) -> list[Any]:
        plan, guards = self._code
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
                raise ValueError(
                    f"several elements of {names[place]} lie at one place in memory, and "
                    f"{name}() writes it; pass a copy"
                )
        for pair in self._pairs:
            left, right = (inputs[place] for place in pair)
            if np.may_share_memory(left, right) and not apart(left, right):
                raise ValueError(
                    f"{names[pair[0]]} and {names[pair[1]]} share memory and one of them is "
                    f"written; {name}() is for arrays that do not overlap"
                )

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The inputs of which one is written, and which therefore have to be apart."""
        written = self.signature.mutated_inputs
        arrays = [p for p, x in enumerate(self.graph.inputs) if isinstance(x.type, ArrayType)]
        return [pair for pair in combinations(arrays, 2) if not written.isdisjoint(pair)]


# ------------------------------------------------------------------ exporting


def _original(fn: object) -> Any:
    """The function behind what ``fxc.compile`` made."""
    if isinstance(fn, MethodType) and hasattr(fn.__func__, "__fxc_original__"):
        return MethodType(fn.__func__.__fxc_original__, fn.__self__)
    return getattr(fn, "__fxc_original__", fn)


def _own_views(leaves: Sequence[Any]) -> list[Any]:
    """The leaves with a new array object for each array.

    An array that the function reads from outside is thereby not taken for an argument, although
    it was passed as one in this call.
    """
    views: dict[int, np.ndarray] = {}
    return [
        views.setdefault(id(leaf), leaf.view()) if type(leaf) is np.ndarray else leaf
        for leaf in leaves
    ]


def _parameters(fn: Any, count: int) -> tuple[str, ...]:
    """The names of the first positional parameters."""
    try:
        declared = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # many builtins have none
        declared = []
    names = [p.name for p in declared if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in declared if p.kind is p.VAR_POSITIONAL), "args")
    names = names[:count]
    return (*names, *(f"{rest}[{place}]" for place in range(count - len(names))))


def leaf_names(in_spec: TreeSpec, parameters: Sequence[str]) -> list[str]:
    """What messages call the leaves of ``(args, kwargs)``: ``x``, ``pair[0]``, ``opts['tol']``."""
    positional, keywords = in_spec.children
    names: list[str] = []
    for spec, name in zip(positional.children, parameters, strict=True):
        names += _names_below(spec, name)
    for spec, key in zip(keywords.children, keywords.keys, strict=True):
        names += _names_below(spec, str(key))
    return names


def _names_below(spec: TreeSpec, name: str) -> Iterator[str]:
    if spec == LEAF:
        yield name
    for place, child in enumerate(spec.children):
        yield from _names_below(child, _part(spec, place, name))


def _part(spec: TreeSpec, place: int, name: str) -> str:
    if len(spec.keys) != len(spec.children) or registration(spec.container) is not None:
        return f"{name}[{place}]"
    key = spec.keys[place]
    return f"{name}[{key!r}]" if spec.container is dict else f"{name}.{key}"


def _places(captured: Captured, in_spec: TreeSpec, leaves: Sequence[Any]) -> list[int | None]:
    """For each leaf the input that it is given to, if there is one."""
    marks = [object() for _ in range(in_spec.leaf_count)]
    number = {id(mark): place for place, mark in enumerate(marks)}
    args, kwargs = unflatten(in_spec, marks)
    found: list[int | None] = [None] * len(marks)
    for place, mark in enumerate(captured.guards.fetched(args, kwargs)):
        if id(mark) not in number:
            what = captured.inputs[place].text
            raise CaptureError(
                f"{captured.graph.name} reads {what} from outside, which cannot be exported; "
                "pass it as an argument"
            )
        found[number[id(mark)]] = place
    first = {
        id(leaf): place for leaf, place in zip(leaves, found, strict=True) if place is not None
    }
    return [
        first.get(id(leaf), place) if type(leaf) is np.ndarray else place
        for leaf, place in zip(leaves, found, strict=True)
    ]


_BY_VALUE = (bool, int, float, complex, str, bytes, range, slice, type(...), np.generic, np.dtype)


def _argument_leaf(value: object, place: int | None, name: str) -> ArgumentLeaf:
    if place is not None:
        return GivenInput(place, 2 if type(value) is int and value >= 2 else None)
    if isinstance(value, np.ndarray):
        return Unread()
    if isinstance(value, (*NAMED, *_BY_VALUE)):
        return Fixed(value)
    kind = type(value).__name__
    raise CaptureError(
        f"{name} is a {kind}, which cannot be exported; pass the arrays and numbers it holds"
    )


def _functional(captured: Captured) -> Graph:
    from .stages import functional_graph

    return functional_graph(captured)


# ------------------------------------------------------------------ checks at a call


def _check_fixed(value: object, known: object, name: str) -> None:
    if value is known or (isinstance(known, _BY_VALUE) and same_value(value, known)):
        return
    same_kind = type(value) is type(known)
    text = f"{name} is {_brief(known)} in this program, and cannot be {_brief(value)}"
    raise ValueError(text) if same_kind else TypeError(text)


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_kind(given: object, value: Value, at_least: int | None, name: str) -> None:
    """Compare what was given for an input with the input's type, except for sizes."""
    kind = value.type
    if isinstance(kind, ArrayType):
        _check_array(given, kind, name)
    elif not kind.weak:
        if not isinstance(given, np.generic) or given.dtype != kind.dtype:
            expected = f"a NumPy scalar of dtype {kind.dtype}"
            raise TypeError(f"{name} must be {expected}, it is {_kind_of(given)}")
    elif type(given) is not kind.python_type:
        raise TypeError(
            f"{name} must be of type {kind.python_type.__name__}, it is {_kind_of(given)}"
        )
    elif isinstance(given, int) and given not in _INT64:
        raise ValueError(f"{name} must fit in 64 bits, it is {given}")
    elif isinstance(given, int) and at_least is not None and given < at_least:
        raise ValueError(f"{name} must be {at_least} or more in this program, it is {given}")


def _check_array(given: object, kind: ArrayType, name: str) -> None:
    if type(given) is not np.ndarray:
        raise TypeError(f"{name} must be an array, it is {_kind_of(given)}")
    if given.dtype != kind.dtype:
        raise TypeError(f"{name} must have the dtype {kind.dtype}, it has {given.dtype}")
    if given.ndim != kind.rank:
        raise ValueError(f"{name} must have {kind.rank} dimensions, it has {given.ndim}")
    if not given.flags.aligned:
        raise ValueError(f"{name} must be aligned in memory, it is not; pass a copy")
    if given.flags.writeable != kind.writeable:
        words = ("read-only", "writeable")
        wanted, found = words[kind.writeable], words[given.flags.writeable]
        raise ValueError(f"{name} must be {wanted}, as when it was exported; it is {found}")


def _kind_of(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "an array" if type(value) is np.ndarray else f"a {type(value).__name__}"
    if isinstance(value, np.generic):
        return f"a NumPy scalar of dtype {value.dtype}"
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _dims(kind: ArrayType, array: np.ndarray | None) -> Iterator[tuple[Dim, int, str]]:
    """Each dim and stride of a type, its value in an array, and how people write it."""
    sizes = (0,) * kind.rank if array is None else array.shape
    steps = sizes
    if array is not None:
        steps = tuple(
            evaluate(step, {}) for step in normal_strides(sizes, array.strides, array.itemsize)
        )
    for word, dims, values in (("shape", kind.shape, sizes), ("strides", kind.strides, steps)):
        for axis, (dim, size) in enumerate(zip(dims, values, strict=True)):
            yield dim, size, f"{word}[{axis}]"


def _differences(wanted: TreeSpec, found: TreeSpec, name: str) -> Iterator[tuple[str, str, str]]:
    """Where two pytrees differ: the place, what is expected, what is given."""
    if wanted == found:
        return
    same = wanted.container is found.container and wanted.keys == found.keys
    if not same or len(wanted.children) != len(found.children):
        yield name, _describe(wanted), _describe(found)
    else:
        pairs = zip(wanted.children, found.children, strict=True)
        for place, (left, right) in enumerate(pairs):
            yield from _differences(left, right, _part(wanted, place, name))


def _describe(spec: TreeSpec) -> str:
    if spec == LEAF:
        return "an array or a number"
    if spec == NONE:
        return "None"
    assert spec.container is not None
    kind = spec.container.__name__
    if spec.container is dict:
        return f"a dict with the keys {list(spec.keys)}"
    return f"a {kind}" if spec.keys else f"a {kind} of {len(spec.children)}"
