"""Compilations as bytes that can be called without what captures and compiles.

See Note [Restored compilations].
"""

from __future__ import annotations

import io
import marshal
import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from fxc.compilations.variants import Variant
from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.native.pointer_table import TableObjects, table_of
from fxc.runtime.engine import Engine
from fxc.runtime.left import Left
from fxc.runtime.notice import Notice
from fxc.runtime.plan import Plan

from .by_reference import NotStored, ReferenceReader, ReferenceWriter
from .granted import check_granted, granted_by
from .restored import Rest, Restored, RestoredCapture, RestoredCompilation, RestoredGuards

if TYPE_CHECKING:
    from fxc.ir.graph import Graph
    from fxc.pipeline.assemble import Assembled

# For who writes. See Note [Rooms with one door].
replace = import_later("dataclasses", "replace")
walk = import_later("fxc.ir.graph", "walk")

# Note [Restored compilations]
# A compilation is stored in two parts, each a pickle as in Note [Stored compilations]. The first
# has what a call needs, and nothing that takes long to import: guards, epilogue and plan with their
# code compiled by Python, what stands in the table of pointers, the keys of the machine code. Its
# references are those of both parts, and all are compared when it is read. The second part has the
# graphs and the module of native code. It is read when somebody asks for a stage, when native code
# takes whole calls, or when code is made anew. The process that has made a compilation keeps as
# little of it when it has made some others since, and so does one that has read it: see
# ``lightened``.


def stored(variant: Variant, function: FunctionType, since: float) -> bytes:
    """A compilation of a function as bytes. Raises ``NotStored``; for ``since`` see
    ``check_lasting``.
    """
    captured: Any = variant.captured
    made = variant.compilation
    if made.assembled is None:
        raise NotStored("it has no native code")
    constants = dict(captured.guards.constants)
    if captured.epilogue is not None:
        constants |= captured.epilogue.constants
    functions = [each for each in constants.values() if isinstance(each, FunctionType)]
    _check_nodes(captured.graph)
    from .lasting import check_lasting, codes_of  # for who writes, and few who read
    from .outside import check_constants, nameless, outside

    known = function, functions
    found = nameless(captured.guards, known)
    check_constants(captured.epilogue, known, found)
    rest = (
        replace(captured, guards=None, epilogue=None),
        (made.functional, made.decomposed, made.relations),
        made.assembled.module,
        captured.guards.steps,
    )
    late, met = _pickled(rest, (*known, found), ())
    early, more = _pickled(_plan_of(variant), (*known, found), met)
    told = [function, *functions, *met, *more]
    check_lasting(told, since)
    granted = tuple(granted_by(code for each in told for code in codes_of(each)))
    first = zlib.compress(outside(captured.guards, known, found), 1) if found else b""
    return pickle.dumps((first, zlib.compress(early, 1), zlib.compress(late, 1), granted))


_MOST_DATA = 1 << 22  # bytes of constants: more are made sooner than read


def _check_nodes(graph: Graph) -> None:
    from fxc.ir.graph import ArrayConstant
    from fxc.ops.table import TABLE

    size = 0
    for node in walk(graph.body):
        if not TABLE.lists(node.op) or "::" in node.op:
            raise NotStored(f"{node.op} is an operator of this process")
        size += sum(len(arg.data) for arg in node.args if isinstance(arg, ArrayConstant))
    if size > _MOST_DATA:
        raise NotStored(f"its constants take {size} bytes")


def _pickled(
    value: object,
    known: tuple[FunctionType, list[FunctionType], Mapping[int, str]],
    more: Sequence[object],
) -> tuple[bytes, Sequence[object]]:
    """A value as bytes, and which functions and classes it mentions; with ``more`` of them."""
    file = io.BytesIO()
    writer = ReferenceWriter(file, *known)
    try:
        writer.dump((value, more))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise NotStored(str(error)) from error
    return file.getvalue(), tuple(writer.met.values())


def _plan_of(variant: Variant) -> dict[str, object]:
    """What a call needs of a compilation. Its parts are plain: classes take time to be made."""
    captured, made = variant.captured, variant.compilation.assembled
    assert made is not None
    guards, epilogue = captured.guards, captured.epilogue
    codes = {"call": guards.code("call"), "check": guards.code("check"), "plan": made.plan.code}
    if epilogue is not None and epilogue.code is not None:
        codes["finish"] = epilogue.code
    return {
        "python": marshal.dumps(codes),
        "guards": (guards.size, guards.constants, (guards.inputs, guards.objects, guards.symbols)),
        "epilogue": epilogue,
        "code": _code_of(made),
        "draws": () if made.module.keeps_states else captured.drawn,
        "traits": variant.traits,
        "is_tried": variant.is_tried,
        "need_not_raise": captured.need_not_raise,
        "drawn": captured.drawn,
        "varying": tuple(captured.varying),
    }


def _code_of(made: Assembled) -> dict[str, object]:
    """The native code of a compilation, and the plan that calls it.

    ``natives`` are the constants of the plan that are builtins, or the first argument of one, by
    number; ``codes`` the keys of its machine code.
    """
    from fxc.lowering.emission.native_module import NUMPY_FUNCTIONS
    from fxc.pipeline.assemble import entries_of
    from fxc.runtime.engine import object_codes

    module, plan = made.module, made.plan
    functions = {id(each): n for n, each in enumerate(made.engine.functions)}
    owners = {id(each.__self__): n for n, each in enumerate(made.engine.functions)}
    natives, constants = dict[str, tuple[int, bool]](), dict[str, object]()
    for name, value in plan.constants.items():
        if id(value) in functions:
            natives[name] = functions[id(value)], False
        elif id(value) in owners:
            natives[name] = owners[id(value)], True
        else:
            constants[name] = value
    return {
        "source": plan.source,
        "constants": constants,
        "natives": natives,
        "lines": plan.sites,
        "entries": tuple(segment.entry for segment in module.segments),
        "codes": tuple(object_codes(module.text, module.user_loops, module.support)),
        "table": entries_of(module),
        "calls": (tuple(NUMPY_FUNCTIONS), module.calls),
        "sites": module.sites,
        "fallbacks": made.fallbacks,
    }


def restored(
    data: bytes,
    function: FunctionType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: object,
) -> Variant | None:
    """The compilation of a function that ``stored`` gave as bytes; None if it is not for this call,
    whose arguments are of these kinds, as far as that was to be looked at.

    Raises ``NotStored`` or ``Unlinked``, or anything else where the bytes are others.
    """
    first, early, late, granted = pickle.loads(data)
    check_granted(granted)
    objects: Mapping[str, object] = {}
    if first:
        from .outside import found_outside

        bound = found_outside(zlib.decompress(first), function, args, kwargs)
        if bound is None:
            return None
        objects = bound
    found: dict[str, Any] = read(early, function, objects)
    python = dict(_codes_in(found["python"]))
    epilogue = found["epilogue"]
    if epilogue is not None:
        epilogue.code = python.pop("finish", None)

    rest = Rest(partial(read, late, function, objects))
    plan = python.pop("plan")
    known = {name: found[name] for name in ("epilogue", "need_not_raise", "drawn")}
    size, constants, names = found["guards"]
    known["guards"] = RestoredGuards(rest.steps, size, constants, names, python)
    known["varying"] = frozenset(found["varying"])
    code = _code(found["code"], plan, rest)
    run = code["plan"].run
    if found["draws"]:
        from fxc.runtime.generators import restoring

        run = restoring(run, found["draws"])
    captured, compilation = in_two_parts(known, code, run, rest)
    return Variant(captured, compilation, kinds, found["is_tried"], found["traits"])


@lru_cache(256)
def _codes_in(python: bytes) -> Mapping[str, CodeType]:
    """The code of a compilation, by name. Many others have the same."""
    found: dict[str, CodeType] = marshal.loads(python)
    return found


def in_two_parts(
    known: Mapping[str, object],
    code: Mapping[str, Any],
    run: Callable[..., Any],
    rest: Rest,
) -> tuple[Any, Any]:
    """A capture of which so much is known, and a compilation with this code, and the rest of it."""
    captured = RestoredCapture(known, rest.capture)
    made = _RestoredCode(code, rest)
    told = {"assembled": made, "fallbacks": code["fallbacks"], "run": run, "relations": ()}
    return captured, RestoredCompilation(told, partial(_Graphs, captured, rest))


class _Graphs:
    """The graphs of a compilation, when they are asked for."""

    def __init__(self, captured: Any, rest: Rest) -> None:
        self._captured, self._rest = captured, rest

    @property
    def captured(self) -> Any:
        return self._captured.graph

    @property
    def functional(self) -> Any:
        return self._rest.graphs()[0]

    @property
    def decomposed(self) -> Any:
        return self._rest.graphs()[1]


def read(data: bytes, function: FunctionType, objects: Mapping[str, object]) -> Any:
    """What is in one of the two parts."""
    return loaded(zlib.decompress(data), function, objects)


def loaded(text: bytes, function: FunctionType, objects: Mapping[str, object]) -> Any:
    """The same, of bytes that are not compressed any more."""
    return ReferenceReader(io.BytesIO(text), function, objects).load()[0]


def _code(code: Mapping[str, Any], plan: CodeType, rest: Rest) -> Mapping[str, Any]:
    """The code of a compilation, ready to be called."""
    notice, left = Notice(), Left(code["sites"])
    objects = TableObjects(notice, left, *code["calls"])
    engine = Engine.of_kept(
        code["codes"],
        rest.source,
        table_of(code["table"], objects),
        code["entries"],
        [objects],
    )
    constants = dict(code["constants"])
    for name, (number, is_owner) in code["natives"].items():
        function = engine.functions[number]
        constants[name] = function.__self__ if is_owner else function
    return {
        "engine": engine,
        "plan": Plan.of_code(plan, code["source"], constants, code["lines"]),
        "fallbacks": code["fallbacks"],
        "notice": notice,
        "left": left,
    }


class _RestoredCode(Restored):
    """Assembled code; its module is read when it is asked for."""

    __slots__ = ()

    def __init__(self, known: Mapping[str, object], rest: Rest) -> None:
        super().__init__(known, partial(_Module, rest))

    def left_at(self, error: BaseException) -> Site | None:
        """See ``Assembled``."""
        found: Site | None = self.plan.raised_at(error) or self.left.site()
        return found


class _Module:
    """The module of native code, as an attribute."""

    def __init__(self, rest: Rest) -> None:
        self.module = rest.module()
