"""Functions that are called where others are split, and what to call instead of them.

See Note [Splitting].
"""

from __future__ import annotations

import functools
import types
import weakref
from typing import TYPE_CHECKING, Any

from fxc.capture.session.locations import is_of_program
from fxc.capture.staging.staging import fingerprint, source_of
from fxc.compilations import trials
from fxc.compilations.decisions import Captures
from fxc.compilations.state import Options
from fxc.ir.errors import CaptureError
from fxc.ir.records import replace
from fxc.ir.tracebacks import unseen
from fxc.split.part_source import PartSource
from fxc.split.program_calls import TAKING_CALLBACKS
from fxc.split.splits import Helper, Split, helpers
from fxc.split.statement_syntax import weight_of

from .parts import Part, PartOnTrial
from .serving import Serving

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal


def split_of(
    function: types.FunctionType, options: Options, whole: Serving[..., Any] | None = None
) -> Split | None:
    """The splitting of a function, with no cut yet; None if there is no source. ``whole`` is what
    is called for it, if that is not its driver.
    """

    options = replace(options, fullgraph=False)

    def part(split: Split, source: PartSource) -> Part:
        kind = PartOnTrial if trials.are_held() else Part
        return kind(split, source, options)

    def helper(refusal: Refusal) -> Helper | None:
        called = refusal.places[0].function
        if called.__code__ is function.__code__:  # it calls itself
            if whole is not None and whole.__fxc_original__ is called:
                helpers.setdefault(function, whole)
            return "is silent"
        return _is_split(refusal, options)

    def called_instead(called: object) -> Any:
        return helper_of(called, options, calls)

    calls: set[types.FunctionType] = set()
    try:
        return Split(function, part, helper, called_instead, calls, whole is None)
    except CaptureError:
        return None


class Called(Serving[..., Any]):
    """A function that is called where another one was split, and is compiled or split itself."""

    __slots__ = ()

    def _new_split(self, function: types.FunctionType) -> Split | None:
        return split_of(function, self._options, self)

    def _captures(self, key: object, given: object = ()) -> Captures:
        """What is known of captures of calls of one kind. The first call is what a caller was
        refused for, if it was.
        """
        state = self._state
        found = super()._captures(key, given)
        if state.seconds_refused:
            found.refused_before(state.seconds_refused)
            state.seconds_refused = 0.0
        return found


# Functions of which nothing is compiled that are called where others are.
_small: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_small_inner: set[object] = set()  # and the keys of those that others define
_LARGE = 4  # operations of a function from which on it may pay
# Functions that others define are made anew in each call: they are known by their code. What they
# see of the functions around them are arguments of their parts.
_inner: dict[object, Split] = {}


def parts_of(split: Split, found: dict[Any, Serving[..., Any]] | None = None) -> list[Any]:
    """The parts that have been compiled, and the functions it calls that are compiled or split."""
    found = {} if found is None else found
    found.update((part, part) for part in split.compiled)
    for function in split.calls:
        helper = helpers.get(function)
        if helper is not None and function not in found and helper._state.split is not split:
            found[function] = helper
            if helper._state.split is not None:
                parts_of(helper._state.split, found)
    return [each for each in found.values() if each._state.variants]


def _is_split(refusal: Refusal, options: Options) -> Helper | None:
    """Let a function that another one calls, and that was refused, be split itself; None if that
    leaves nothing to compile.
    """
    function = refusal.places[0].function
    code = function.__code__
    if code in _being_split:  # it calls itself, or what calls it
        return "is silent"
    _being_split.add(code)
    try:
        return _leaves_parts(function, refusal, options)
    finally:
        _being_split.discard(code)


_being_split: set[types.CodeType] = set()


def _leaves_parts(
    function: types.FunctionType, refusal: Refusal, options: Options
) -> Helper | None:
    if _is_inner(function):
        key = _key_of(function)
        found = _inner.get(key) or split_of(function, options)
        if found is None or not found.leaves_parts(refusal):
            return None
        _inner[key] = found
        return "is silent"
    if function not in helpers:
        made = Called(function, options)
        if not made.leaves_parts(refusal):
            _small.add(function)
            return None
        helpers[function] = made
        if trials.are_held() and function in refusal.alone:  # the caller warns of it
            made._state.seconds_refused = refusal.seconds
            return "is silent"
    return "warns"


def _is_inner(function: types.FunctionType) -> bool:
    return function.__closure__ is not None or "<locals>" in function.__code__.co_qualname


def _key_of(function: types.FunctionType) -> object:
    """What functions of one definition have in common."""
    code = function.__code__
    known = _keys.get(code)
    if known is None or known[0] != code.co_filename:  # equal codes may differ
        place = (code.co_firstlineno, code.co_name, code.co_freevars)
        known = _keys[code] = (code.co_filename, (place, repr(fingerprint(code))))
    return known


_keys: weakref.WeakKeyDictionary[types.CodeType, tuple[str, object]] = weakref.WeakKeyDictionary()


def _split_inner(function: types.FunctionType) -> types.FunctionType:
    """A driver in place of a function that another one defines; itself if it is not split."""
    split = _inner.get(_key_of(function))
    if split is None or not split.is_driven:
        return function
    driver: types.FunctionType = split.driver.function
    given = zip(driver.__code__.co_freevars, driver.__closure__ or (), strict=True)
    own = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    cells = {**dict(given), **dict(own)}
    closure = tuple(cells[name] for name in driver.__code__.co_freevars)
    made = types.FunctionType(
        driver.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def helper_of(function: Any, options: Options, calls: set[types.FunctionType]) -> Any:
    """What to call instead of a function that may be split, of its method, of a class with such a
    constructor, or of an object that is called by it. ``calls`` gets what is compiled for it.
    """
    kind = type(function)
    called = function.__func__ if kind is types.MethodType else function
    if kind is types.BuiltinFunctionType or isinstance(called, Serving):
        return function
    if kind is types.FunctionType:
        found = helpers.get(function)
        if found is not None:
            calls.add(function)
            return found
        if str(function.__module__).startswith(TAKING_CALLBACKS):
            return functools.partial(_handing_on, function, options, calls)
        if _is_inner(function):
            return _split_inner(function)
        return _compiled(function, options, calls)
    if kind is types.MethodType:
        made = _instead_of(function.__func__, options, calls)
        return function if made is None else types.MethodType(made, function.__self__)
    if isinstance(function, type):
        made = _instead_of(_method_of(function, "__init__"), options, calls)
        is_usual = kind.__call__ is type.__call__
        return function if made is None or not is_usual else functools.partial(_new, function)
    made = _instead_of(_method_of(kind, "__call__"), options, calls)
    return function if made is None else types.MethodType(made, function)


def _method_of(kind: Any, name: str) -> Any:
    """What the class of an object has for a special method."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)


def _instead_of(function: object, options: Options, calls: set[types.FunctionType]) -> Any:
    """What to call instead of a Python function; None if that is the function itself."""
    if type(function) is not types.FunctionType:
        return None
    made = helper_of(function, options, calls)
    return None if made is function else made


def _compiled(
    function: types.FunctionType, options: Options, calls: set[types.FunctionType]
) -> Any:
    """A function that is called where another one was split, if it is of the program and large
    enough to pay.
    """
    if function in _small or not _is_large(function):
        _small.add(function)
        return function
    calls.add(function)
    return helpers.setdefault(function, Called(function, options))


@unseen
def _handing_on(
    function: Any,
    options: Options,
    calls: set[types.FunctionType],
    /,
    *args: object,
    **kwargs: object,
) -> Any:
    """Call a function of a library; those of the program among its arguments are compiled."""
    given = (_callback(each, options, calls) for each in args)
    named = {name: _callback(each, options, calls) for name, each in kwargs.items()}
    return function(*given, **named)


def _callback(value: object, options: Options, calls: set[types.FunctionType]) -> Any:
    """A function of the program as one that is compiled; another value itself."""
    if type(value) is types.MethodType:
        made = _callback(value.__func__, options, calls)
        return value if made is value.__func__ else types.MethodType(made, value.__self__)
    if type(value) is not types.FunctionType:
        return value
    if value in helpers:
        return helpers[value]
    if not _is_inner(value):
        return _compiled(value, options, calls)
    key = _key_of(value)
    if key not in _inner and key not in _small_inner:
        found = split_of(value, options) if _is_large(value) else None
        if found is None:
            _small_inner.add(key)
        else:
            _inner[key] = found
    return _split_inner(value)


def _is_large(function: types.FunctionType) -> bool:
    node = source_of(function) if is_of_program(function) else None
    return node is not None and weight_of(node) >= _LARGE


@unseen
def _new(kind: Any, /, *args: object, **kwargs: object) -> Any:
    """Make an object as ``type.__call__`` does, by a constructor that is split."""
    made = kind.__new__(kind, *args, **kwargs)
    if kind in type(made).__mro__:
        init = type(made).__init__
        result = helpers.get(init, init)(made, *args, **kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
    return made
