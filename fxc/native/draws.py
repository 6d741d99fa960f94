"""Adapters through which native code draws numbers, each made and tried when it is first needed.

See Note [Native draws].
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.objects import objects_are_as_known
from fxc.lowering.emission.draw_code import BRING_BACK, ENTRY, KEEP, Layout, adapter, states
from fxc.lowering.emission.draws import MANY, ROOM
from fxc.lowering.emission.quick_draws import ZIGGURATS, Ziggurat, quick_draws
from fxc.ops.draws import FORMS, Form, Real
from fxc.runtime.engine import Engine, llvm_lock
from fxc.runtime.generators import checkpoint, plain_kinds

from .ziggurats import of_function


def draw_function(key: str) -> int:
    """The address of the adapter of a form, or for many numbers; 0 if the method has to draw."""
    with llvm_lock:  # of two threads each would make one, and only one of them stays
        engine = _made(FORMS[key.removesuffix(MANY)], key.endswith(MANY))
    return 0 if engine is None else engine.address(ENTRY)


@cache
def _made(form: Form, many: bool) -> Engine | None:
    """The adapter, which stays; None if it does not do what the method does."""
    if not objects_are_as_known():
        return None
    layout = _layout(form.source)
    if layout is None:
        return None
    function = None
    if not form.function.startswith("legacy_"):
        function = _exported((many and form.fill) or form.function)
        if function is None:
            return None
    elif layout.legacy is None:
        return None
    is_same = _fills_as_the_method if many else _draws_as_the_method
    for quick in (_quick(form, layout, many=many), ""):
        engine = Engine(adapter(form, layout, function, quick, many=many), b"", ())
        if is_same(form, engine.address(ENTRY)):
            return engine
    return None


def _quick(form: Form, layout: Layout, *, many: bool) -> str:
    """The text of the quick way to draw a form's numbers, if there is one."""
    name = form.standard
    function = _exported(name) if name else None
    if function is None:
        return ""
    ziggurat = _ziggurat(name, function) if name in ZIGGURATS else None
    if ziggurat is None and name in ZIGGURATS:
        return ""
    return quick_draws(form.function, layout.next_word, function, ziggurat, many=many)


@cache
def _ziggurat(name: str, function: int) -> Ziggurat | None:
    return of_function(function, ZIGGURATS[name])


def _exported(name: str) -> int | None:
    """The address of a function that NumPy's library of generators exports."""
    file = importlib.import_module("numpy.random._generator").__file__
    try:
        return ctypes.cast(getattr(ctypes.CDLL(file), name), ctypes.c_void_p).value
    except (OSError, AttributeError, TypeError):
        return None


@cache
def state_functions() -> tuple[int, int]:
    """The addresses of what keeps a generator's state for a call, and of what brings it back."""
    layouts = [each for each in map(_layout, ("Generator", "RandomState")) if each is not None]
    has_legacy = any(each.legacy is not None for each in layouts)
    kinds = plain_kinds() if len(layouts) == 2 and has_legacy and objects_are_as_known() else ()
    plain = {id(kind): kind.__basicsize__ for kind in kinds if kind.__basicsize__ < ROOM - 100}
    engine = Engine(states(layouts, plain, id(checkpoint)), b"", ())
    _engines.append(engine)
    return engine.address(KEEP), engine.address(BRING_BACK)


_engines: list[Engine] = []  # of functions that stay


# -- where things are


def _fresh(source: str, seed: int) -> Any:
    kind = np.random.default_rng if source == "Generator" else np.random.RandomState
    return kind(seed)


@cache
def _layout(source: str) -> Layout | None:
    """Where things are in a generator: found by their values; two generators must agree."""
    first, second = (_found(_fresh(source, seed)) for seed in (1, 2))
    return first if first == second else None


def _found(generator: Any) -> Layout | None:
    bits = getattr(generator, "bit_generator", None) or generator._bit_generator
    memory = ctypes.string_at(id(generator), type(generator).__basicsize__)
    interface = ctypes.string_at(_address(bits.ctypes.bit_generator), 40)
    lock, state = memory.find(_word(id(bits.lock))), memory.find(interface)
    inner = memory.find(_word(id(bits)))
    held = _held(bits.lock)
    if min(inner, lock, state) < 0 or held is None:
        return None
    found = memory.find(_word(id(generator) + state))
    legacy = found if found >= 0 else None
    next_word = int.from_bytes(interface[8:16], "little")
    kinds = id(type(generator)), id(type(bits.lock))
    return Layout(*kinds, inner, lock, held, state, legacy, next_word)


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _word(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _held(lock: Any) -> int | None:
    """The byte of a lock that counts how often it is held."""

    def memory() -> bytes:
        return ctypes.string_at(id(lock), type(lock).__basicsize__)

    seen, count = [memory()], 0
    while count < 3 and lock.acquire(blocking=False):
        count += 1
        seen.append(memory())
    for _ in range(count):
        lock.release()
        seen.append(memory())
    known = bytes([*range(count + 1), *range(count)[::-1]])
    found = [place for place, each in enumerate(zip(*seen, strict=True)) if bytes(each) == known]
    return found[-1] if count and found else None


# -- whether it does what the method does

# Of each way that functions take by their arguments, and where a way begins.
_NUMBERS = (0.3, 1.0, 2.5, 30.0)
_SHARES = (0.2, 0.6, 0.9, 1.0)
_INTS = (-3, 8, 1000, 2**40)


def _draws_as_the_method(form: Form, address: int) -> bool:
    """Whether numbers and states are the same for some arguments."""
    function = _callable(form, address)
    number = (ctypes.c_double if form.result == "f8" else ctypes.c_int64)()
    one, other = _fresh(form.source, 5), _fresh(form.source, 5)
    method = getattr(other, form.method)
    options = {"endpoint": True} if form.options else {}
    for given in _samples(form):
        for _ in range(16):
            if not function(one, *given, ctypes.addressof(number)):
                return False
            if number.value != method(*given, **options):
                return False
        if _state(one) != _state(other):
            return False
    return True


def _fills_as_the_method(form: Form, address: int) -> bool:
    """The same of arrays."""
    function = _callable(form, address, ctypes.c_int64)
    one, other = _fresh(form.source, 5), _fresh(form.source, 5)
    method = getattr(other, form.method)
    options = {"endpoint": True} if form.options else {}
    for given in _samples(form):
        found = np.zeros(16, form.result)
        if not function(one, *given, found.size, found.ctypes.data):
            return False
        expected = method(*given, size=found.size, **options)
        if expected.dtype != found.dtype or expected.tobytes() != found.tobytes():
            return False
        if _state(one) != _state(other):
            return False
    return True


def _callable(form: Form, address: int, *more: Any) -> Any:
    kinds = [
        ctypes.c_double if isinstance(each, Real) else ctypes.c_int64 for each in form.arguments
    ]
    given = ctypes.py_object, *kinds, *more, ctypes.c_void_p
    return ctypes.PYFUNCTYPE(ctypes.c_int, *given)(address)


def _samples(form: Form) -> Iterator[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for each in form.arguments:
        if isinstance(each, Real):
            first = (0.0,) if each.least == 0.0 else ()
            rows.append((*first, *(_SHARES if each.most == 1.0 else _NUMBERS)))
        else:
            first = (each.least,) if each.least > -(2**63) else ()
            rows.append((*first, *(x for x in _INTS if x > each.least)))
    for given in itertools.product(*rows):
        if len(given) < 2 or form.arguments[0].name != "low" or given[0] < given[1]:
            yield given


def _state(generator: Any) -> tuple[str, bytes]:
    """What a generator says of its state, with the key of MT19937 apart: as text that is long."""
    known = getattr(generator, "get_state", None)
    state = generator.bit_generator.state if known is None else known(legacy=False)
    key = state["state"].pop("key", b"")
    return repr(state), bytes(key)
