"""Random generators and clocks of the program: what reads them becomes nodes of the graph.

See Note [Operators with effects].
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import BuiltinFunctionType, MethodType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import RANDOM, WARNS
from fxc.ir.graph import Value
from fxc.ir.handles import HANDLE, handle_of
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType
from fxc.ops.effects import NUMBERS, fresh_source
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import broadcast_shapes

from ..guards.program import Source
from ..session.refusing import refusal, refuse
from ..values.objects import Args, Kwargs, is_of_random, source_kind
from ..values.operands import Traced, array_value, operand, record, settled, type_of, wrap
from .containers import settle_all
from .outside import Outside

check_without_gaps = import_later("fxc.capture.arrays.indexing", "check_without_gaps")

# See Note [Rooms with one door].
dim_of = import_later("fxc.capture.numbers.dims", "dim_of")
dims_of = import_later("fxc.capture.numbers.dims", "dims_of")
known_int = import_later("fxc.capture.numbers.dims", "known_int")

Shape = tuple[Dim, ...]


class TracedGenerator(Traced):
    """A random generator: ``np.random.Generator``, ``RandomState`` or ``random.Random``."""

    __slots__ = ("_handle", "_kind", "_like", "_outside", "_source")
    _written_by = "_generator"

    def __init__(self, like: object, source: Source | None, outside: Outside, made: Any = None):
        self._like = like  # the generator, or another one of its class
        self._source = source
        self._outside = outside
        self._kind = source_kind(like) or "list"
        self._handle: Value | None = made

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._like)

    def __getattr__(self, name: str) -> Any:
        if name == "_randbelow" and self._kind == "Random":
            return MethodType(_below, self)
        if name.startswith("_"):
            raise AttributeError(f"{self._kind!r} object has no attribute {name!r}")
        method = getattr(type(self._like), name)
        if self._kind == "Random" and name in _OF_SEQUENCES:
            return MethodType(method, self)  # Python code, which is staged
        if not callable(method) or name in _NO_DRAWS:
            raise refuse(RANDOM, f"{name} of a random generator")
        return MethodType(_method(name), self)

    def _state(self) -> Value:
        """The handle, which becomes an input of the graph at the first draw."""
        if self._handle is None:
            assert self._source is not None
            guards = self._outside.guards
            made = f"{guards.constant(handle_of, 'handle')}({self._source.var})"
            source = guards.fetch(made, self._source.text)
            self._handle = self._outside.add_input(HANDLE, source, "generator")
            self._outside.drawn[len(self._outside.inputs) - 1] = self
        return self._handle

    def _place(self, builder: Any) -> str:
        """The expression by which it leaves the function: one that is made here, by its handle,
        while the list that keeps it is there.
        """
        if self._source is not None:
            return str(builder.reference(self._source.var))
        keeper = builder.reference(self._outside.keeper_source.var)
        handle = wrap(self._state())
        return str(builder.once(self, lambda: f"kept_by({keeper}, {builder.leaf(handle)})"))

    @property
    def _bits(self) -> str:
        """The attribute that has the state; empty if the generator itself has it."""
        return {"Generator": ".bit_generator", "RandomState": "._bit_generator"}.get(self._kind, "")

    @property
    def _expression(self) -> str:
        """What has the state, in the guard program."""
        assert self._source is not None
        return f"{self._source.var}{self._bits}"

    def _drawn(
        self,
        call: str,
        xs: tuple[object, ...],
        size: Shape | None = None,
        shape: Shape | None = None,
    ) -> Any:
        """What a draw gives; ``call`` as in Note [Operators with effects]."""
        return record(
            "draw_", self._state(), xs, size=size, shape=shape, call=call, source=self._kind
        )


def check_apart(generators: Iterable[TracedGenerator]) -> None:
    """Refuse generators that share a state."""
    states = [
        id(getattr(each._like, each._bits[1:]) if each._bits else each._like) for each in generators
    ]
    if len(set(states)) < len(states):
        raise refuse(RANDOM, "random generators that share a bit generator")


def made_by(outside: Outside, f: object, args: Args, kwargs: Kwargs) -> object:
    """What a maker or seeder of random generators gives; NotImplemented for anything else."""
    if not is_of_random(f):
        return NotImplemented
    name = getattr(f, "__name__", "")
    if name in ("seed", "ranf", "sample") and f is getattr(np.random, name):
        name = "seed" if name == "seed" else "random_sample"
        return getattr(outside.generator(np.random.mtrand._rand), name)(*args, **kwargs)
    kind = {"default_rng": "Generator"}.get(name, name)
    if kind not in ("Generator", "RandomState", "Random") or (kind == name == "Generator"):
        return NotImplemented
    seeds = (*args, *kwargs.values())
    if len(seeds) > 1 or not kwargs.keys() <= {"seed", "x"}:
        return NotImplemented
    if seeds and isinstance(seeds[0], TracedGenerator):
        return seeds[0] if seeds[0]._kind == kind == "Generator" else NotImplemented
    where = "random" if f.__module__ == "random" else "np.random"
    xs = tuple(map(_operand, seeds)) if seeds and seeds[0] is not None else ()
    keeper = TracedGenerator([], None, outside, outside.keeper())
    call = f"kept(g, {where}.{name}({'x0' if xs else ''}))"
    made = operand(keeper._drawn(call, xs, None, HANDLE.shape))
    assert isinstance(made, Value)
    return TracedGenerator(fresh_source(kind), None, outside, made)


_NO_DRAWS = frozenset(
    (
        *("spawn", "bytes", "bit_generator", "get_state", "set_state", "getstate", "setstate"),
        *("random_integers", "randbytes", "tomaxint"),
    )
)


def _method(name: str) -> Callable[..., Any]:
    special = _SPECIAL.get(name)
    if special is not None:
        return special

    def draw(self: TracedGenerator, *args: object, **kwargs: object) -> Any:
        return drawn(self, name, args, kwargs)

    return draw


def drawn(
    generator: TracedGenerator, name: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> Any:
    """What ``generator.name(*args, **kwargs)`` gives."""
    signature = _signature(generator, name)
    settle_all((*args, *kwargs.values()))
    given = dict(signature.bind(*args, **kwargs).arguments)
    size = given.get("size")
    sizes = None if size is None else dims_of(settled(size))
    items = None if sizes == () else _of_no_numbers(name, given)
    if items is not None:
        return items[1][drawn(generator, name, (), {**given, items[0]: items[1].shape[0]})]
    given.pop("size", None)
    out = given.pop("out", None)
    parts: list[str] = []
    xs: dict[str, Any] = {}
    gap = False
    for each, parameter in signature.parameters.items():
        gap = gap or parameter.kind is parameter.KEYWORD_ONLY
        if each == "size" and sizes is not None:
            parts.append("size=size" if gap else "size")
        elif each in given:
            text = _text(each, given[each])
            if text is None:
                text = f"x{len(xs)}"
                xs[each] = _operand(given[each])
                if isinstance(given[each], list) and type_of(xs[each]).dtype.char in "gG":
                    raise refuse(RANDOM, "a draw by a list of long doubles")  # NumPy casts them
            parts.append(f"{each}={text}" if gap else text)
        else:
            gap = True
    shape = _shape(generator, name, given, xs, sizes)
    if out is not None:
        return _into(generator, name, parts, tuple(xs.values()), out, sizes)
    return generator._drawn(f"g.{name}({', '.join(parts)})", tuple(xs.values()), sizes, shape)


def _of_no_numbers(name: str, given: Mapping[str, object]) -> tuple[str, Any] | None:
    """The argument that a draw takes texts or dates from, or permutes: it draws their places."""
    parameter = _OF_ELEMENTS.get(name)
    if parameter is None or parameter not in given:
        return None
    items = _operand(given[parameter])
    kind = type_of(items)
    is_one = isinstance(kind, ArrayType) and kind.rank == 1 and kind.dtype.kind not in NUMBERS
    return (parameter, wrap(items)) if is_one else None


def _into(
    generator: TracedGenerator, name: str, parts: list[str], xs: Any, out: object, sizes: object
) -> Any:
    """A draw into an array."""
    target = settled(out)
    kind = type_of(operand(target))
    if not isinstance(kind, ArrayType) or sizes is not None or name == "permuted":
        raise refusal(
            RANDOM, f"a random {name} with out= cannot be captured here; assign what it gives"
        )
    call = f"g.{name}({', '.join([*parts, 'size=size'])})"
    target[...] = generator._drawn(call, xs, kind.shape, kind.shape)
    return out


def _signature(generator: TracedGenerator, name: str) -> inspect.Signature:
    try:
        signature = inspect.signature(getattr(generator._like, name))
    except (TypeError, ValueError):
        raise refuse(RANDOM, f"{name} of a random generator") from None
    kinds = {each.kind for each in signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        raise refuse(RANDOM, f"{name} of a random generator")
    return signature


def _text(name: str, x: Any) -> str | None:
    """An argument that is a part of the call; None for an operand."""
    if isinstance(x, Traced):
        return None
    if name == "dtype":
        return repr(np.dtype(x).name)
    return repr(x) if x is None or type(x) in (bool, str) else None


def _operand(x: object) -> Any:
    x = settled(x)
    return array_value(x) if isinstance(x, list | tuple | range) else operand(x)


def _dims(x: Any) -> Shape:
    kind = type_of(x)
    return kind.shape if isinstance(kind, ArrayType) else ()


def _shape(
    generator: TracedGenerator, name: str, given: Kwargs, xs: dict[str, Any], sizes: Shape | None
) -> Shape | None:
    """The shape of what a draw gives; None for a number."""
    if name not in _BY_SHAPE and any(type_of(x).dtype.kind == "c" for x in xs.values()):
        raise refuse(WARNS, "a draw by complex numbers, of which NumPy warns,")
    if name in _BY_SHAPE:
        first = next(iter(xs.values()), None)
        if first is None:
            raise refuse(RANDOM, f"a random {name} of what is no number")
        kind = type_of(first)
        if isinstance(kind, ArrayType) and kind.rank > 1 and not is_c_ordered(kind):
            raise refuse(RANDOM, f"a random {name} of an array in another order than C")
        axis = given.get("axis", 0)
        if name in ("choice", "permutation") and isinstance(kind, ArrayType) and kind.rank > 1:
            one = name == "choice" and sizes is None and kind.rank == 2
            if known_int(axis, "an axis") % kind.rank and not one:
                raise refusal(RANDOM, f"a random {name} along another axis than the first one")
        dims = _BY_SHAPE[name](given, xs, sizes)
        return dims if dims or sizes is not None else None
    if sizes is not None:
        return sizes
    dims = broadcast_shapes(*map(_dims, xs.values())) if xs else ()
    return dims or None


def _permuted(given: Kwargs, xs: dict[str, object], sizes: Shape | None) -> Shape:
    (x,) = list(xs.values())[:1]
    return _dims(x) or (dim_of(given["x"]),)


def _chosen(given: Kwargs, xs: dict[str, object], sizes: Shape | None) -> Shape:
    dims = _dims(xs["a"])
    axis = known_int(given.get("axis", 0), "an axis")
    place = axis % len(dims) if dims else 0
    return (*dims[:place], *(sizes or ()), *dims[place + 1 :])


def _rows(counted: str, items: str) -> Callable[..., Shape]:
    """Of draws of a row of numbers each."""

    def shape(given: object, xs: dict[str, object], sizes: Shape | None) -> Shape:
        *more, last = _dims(xs[items])
        if sizes is None:
            sizes = broadcast_shapes(_dims(xs[counted]), tuple(more)) if counted else tuple(more)
        return (*sizes, last)

    return shape


_OF_ELEMENTS = {"choice": "a", "permutation": "x"}

_BY_SHAPE: dict[str, Callable[..., Shape]] = {
    "permutation": _permuted,
    "permuted": _permuted,
    "choice": _chosen,
    "multinomial": _rows("n", "pvals"),
    "dirichlet": _rows("", "alpha"),
    "multivariate_normal": _rows("", "mean"),
    "multivariate_hypergeometric": _rows("", "colors"),
}


def _of_sizes(name: str) -> Callable[..., Any]:
    """A draw that is given its sizes one by one."""

    def draw(self: TracedGenerator, *sizes: object) -> Any:
        return drawn(self, name, (), {"size": sizes} if sizes else {})

    return draw


def _shuffle(self: TracedGenerator, x: object, axis: object = 0) -> None:
    x = settled(x)
    if not isinstance(x, Traced) or not isinstance(type_of(operand(x)), ArrayType):
        raise refuse(RANDOM, "a random shuffle of anything but an array")
    value = operand(x)
    if _of_no_numbers("permutation", {"x": x}) is not None:
        x[...] = drawn(self, "permutation", (x,), {})  # type: ignore[index]
        return
    check_without_gaps(value)
    more = "" if axis == 0 else f", {known_int(axis, 'an axis')}"
    x[...] = self._drawn(f"shuffled(g, x0{more})", (value,), None, _dims(value))  # type: ignore[index]


def _seed(self: TracedGenerator, *args: object, **named: object) -> None:
    seed, *others = (*args, *named.values()) or (None,)
    if others or not named.keys() <= {"a" if self._kind == "Random" else "seed"}:
        raise refusal(RANDOM, "a random seed with other arguments cannot be captured")
    if seed is None:
        self._drawn("seeded(g)", ())
    else:
        self._drawn("seeded(g, x0)", (_operand(seed),))


def _below(self: TracedGenerator, n: object) -> Any:
    """What Python's own code draws an index by."""
    return self._drawn("g._randbelow(x0)", (operand(n),))


_OF_SEQUENCES = frozenset({"choice", "choices", "sample", "shuffle"})

_SPECIAL: dict[str, Callable[..., Any]] = {
    "rand": _of_sizes("random_sample"),
    "randn": _of_sizes("standard_normal"),
    "shuffle": _shuffle,
    "seed": _seed,
}

# ------------------------------------------------------------------ clocks


def is_clock(f: object) -> bool:
    """Whether a function reads one of the clocks that the module ``time`` knows."""
    if type(f) is not BuiltinFunctionType or f.__module__ != "time":
        return False
    name: Any = f.__name__.removesuffix("_ns")
    try:
        time.get_clock_info(name)
    except ValueError:
        return False
    return True


def read_clock(outside: Outside, f: Any, args: object, kwargs: object) -> Any:
    """What a clock shows, in order with all else that has an effect; NotImplemented for others."""
    if args or kwargs or not is_clock(f):
        return NotImplemented
    return record("clock_", outside.keeper(), which=f.__name__)
