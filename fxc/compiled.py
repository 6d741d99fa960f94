"""``fxc.compile`` and the object it gives."""

from __future__ import annotations

import operator
import sys
import types
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, overload

from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import UsageTypeError, a_kind
from fxc.ir.forking import compiling
from fxc.ir.settings import Math, check_settings

from .cache.by_name import imported, loaded
from .calling.running import P, R
from .calling.serving import Serving
from .compilations.state import Options
from .ir.tracebacks import folded

if TYPE_CHECKING:
    from fxc.dispatch.backend import BackendIndex

    from .dispatch.extensions import Backend, Pass
    from .pipeline.report import CacheInfo, SplitStages, Stages
    from .split.splits import Split


def _of_function(name: str) -> Any:
    """An attribute of the function, for those who look into one; missing if it has none."""
    return property(operator.attrgetter(f"__fxc_original__.{name}"))


Q = ParamSpec("Q")
T = TypeVar("T")


class Compiled(Serving[P, R]):
    """A function that is captured and compiled when it is called; see ``fxc.compile``.

    >>> import numpy as np
    >>> @compile
    ... def area(width, height):
    ...     return width * height
    >>> area(np.array([1.0, 2.0]), 3.0)
    array([3., 6.])
    >>> print(area.inspect(np.array([1.0, 2.0]), 3.0).functional.nodes[0].op)
    multiply
    """

    __slots__ = ()
    __code__, __globals__, __closure__ = map(
        _of_function, ("__code__", "__globals__", "__closure__")
    )
    __defaults__, __kwdefaults__ = map(_of_function, ("__defaults__", "__kwdefaults__"))

    def _new_split(self, function: types.FunctionType) -> Split | None:
        from .calling.called_functions import (
            split_of,  # with what rewrites functions: few are split
        )

        return split_of(function, self._options, self)

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Compiled[Concatenate[T, Q], R], owner: T, kind: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, owner: object, kind: type | None = None) -> Any:
        """A method, where the function itself would be one."""
        fn = self.__fxc_original__
        get = getattr(type(fn), "__get__", None)
        if owner is None or get is None:
            return self
        is_plain = isinstance(fn, types.FunctionType)
        return (
            self if not is_plain and get(fn, owner, kind) is fn else types.MethodType(self, owner)
        )

    def __set_name__(self, owner: type, name: str) -> None:
        """A class method, where Python makes one of a function of this name by itself."""
        if name in ("__init_subclass__", "__class_getitem__") and self._is_method:
            bound: Any = self
            setattr(owner, name, classmethod(bound))

    @property
    def _is_method(self) -> bool:  # type: ignore[override]
        """Whether ``__get__`` gives a bound method of this object."""
        return isinstance(self.__fxc_original__, types.FunctionType)

    def __repr__(self) -> str:
        return f"<fxc.Compiled {getattr(self, '__qualname__', self.__fxc_original__)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Found again by its name, like a function, or made again from a function that is; with
        its compilations, so that another process need not compile. See Note [Stored compilations].
        """
        name = str(getattr(self, "__qualname__", ""))
        stored, is_found = self._stored() or None, loaded(self.__module__, name) is self
        if is_found and not (self.__module__ == "__main__" and _is_by_value()):
            return imported, (self.__module__, name), stored
        return Compiled, (self.__fxc_original__, self._options), stored

    def __setstate__(self, stored: bytes) -> None:
        """Take over compilations of another process."""
        self._take_over(stored)

    def _stored(self) -> bytes:
        """The compilations, for other processes; see Note [Stored compilations]."""
        if not self._state.variants:
            return b""
        from .cache.stored import store

        return store(list(self._state.variants), self.__fxc_original__, self._options)

    def _take_over(self, stored: bytes) -> None:
        """Add the compilations of another process, those that are not there yet."""
        from .cache.stored import restore

        state = self._state
        with state.guard(), compiling():
            known = {variant.stored for variant in state.variants}
            found = restore(stored, self.__fxc_original__, self._options, known)
            for variant in found[: self._most_variants - len(state.variants)]:
                self._add(variant)

    def __copy__(self) -> Compiled[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Compiled[P, R]:
        return self

    @folded
    def inspect(self, *args: P.args, **kwargs: P.kwargs) -> Stages | SplitStages:
        """All stages of the compilation for these arguments; nothing is run or changed. Of a
        function that is split, those of its parts that have been called.

        Raises ``CaptureError`` if the call cannot be captured.
        """
        from .pipeline.report import SplitStages, stages_of  # for who asks

        state = self._state
        variant = self._find(args, kwargs)
        if variant is None and state.split is not None:
            state.split.without_given_up()
            return SplitStages(
                state.split.driver.text,
                tuple(
                    stages_of(variant.compilation)
                    for part in state.split.compiled
                    for variant in part._state.variants
                ),
            )
        return stages_of((variant or self._compile(args, kwargs)).compilation)

    def cache_info(self) -> CacheInfo:
        """Counts of compilations and calls."""
        from .pipeline.report import CacheInfo  # for who asks

        state, parts = self._state, list[Any]()
        if state.split is not None:
            from .calling.called_functions import parts_of  # whose classes are made from this one

            parts = parts_of(state.split)
        fallbacks: Counter[str] = Counter()
        variants = [each for made in (self, *parts) for each in made._state.variants]
        for variant in variants:
            for name in variant.compilation.fallbacks:
                fallbacks[name] += variant.all_calls
        used = {name: count for name, count in fallbacks.items() if count}
        calls = sum(variant.all_calls for variant in state.variants)
        part_calls = sum(variant.all_calls for variant in variants) - calls
        eager = state.all_eager_calls
        return CacheInfo(len(variants), calls, eager, used, len(parts), part_calls)


def _is_by_value() -> bool:
    """Whether it is cloudpickle that asks how to pickle something: the functions of a program's
    ``__main__`` are not there by name in a worker, so it writes them as they are.
    """
    asking = sys._getframe(2).f_globals.get("__name__", "")
    return bool(asking.partition(".")[0] == "cloudpickle")


@overload
def compile(fn: Callable[P, R], /) -> Compiled[P, R]: ...
@overload
def compile(
    fn: None = None,
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend | BackendIndex[Any] = "llvm",
    dynamic: bool | None = None,
    math: Math = "default",
    passes: Sequence[Pass | str] = (),
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
@overload
def compile(
    fn: Callable[P, R],
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend | BackendIndex[Any] = "llvm",
    dynamic: bool | None = None,
    math: Math = "default",
    passes: Sequence[Pass | str] = (),
) -> Compiled[P, R]: ...
@folded
def compile(
    fn: Callable[P, R] | None = None,
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend | BackendIndex[Any] = "llvm",
    dynamic: bool | None = None,
    math: Math = "default",
    passes: Sequence[Pass | str] = (),
) -> Any:
    """Compile a NumPy function: same results, same writes, same aliases, same exceptions.

    The function is captured at its first call for each combination of argument types, turned into
    one pure graph, and compiled to native code. What cannot be captured runs as plain NumPy, with
    one ``CaptureWarning``.

    ``fullgraph``: raise ``CaptureError`` instead of running as plain NumPy.
    ``backend``: "llvm" (native code), "numpy" (the graph, operator by operator), or a callable
    that is given the functional graph, a BackendIndex and the types of the inputs, and returns a
    function from the inputs to the graph's results; a ``BackendIndex``; or the name of one that is
    registered (``fxc.register_backend``) or that an installed package offers.
    ``dynamic``: make the sizes of arrays symbols, so that one compilation serves all sizes: True
    for all arrays at once, False for none; by default an array's when they have changed.
    ``math``: "exact" gives NumPy's own bits for all functions, "fast" may round ``a * b + c`` once
    and add in any order. By default functions like ``exp`` keep to bounds of about an ulp, and all
    else has NumPy's bits.
    ``passes``: functions from Graph to Graph, or names of what packages offer, through which the
    functional graph goes; see docs/extending.md.

    >>> import numpy as np
    >>> @compile
    ... def relax(u):
    ...     u[1:-1] = 0.5 * (u[:-2] + u[2:])
    ...     return u.max()
    >>> u = np.array([0.0, 8.0, 4.0, 0.0])
    >>> relax(u), u
    (np.float64(4.0), array([0., 2., 4., 0.]))
    >>> relax.cache_info().eager_calls
    0
    """
    check_settings()
    options = _shared(Options(fullgraph, backend, dynamic, math, _listed(passes)))
    if fn is None:
        return lambda function: Compiled(function, options)
    for kind in (staticmethod, classmethod):
        if isinstance(fn, kind):
            raise UsageTypeError(ARGUMENT, f"put @{kind.__name__} above @fxc.compile, not below it")
    if not callable(fn):
        raise UsageTypeError(ARGUMENT, f"fxc.compile takes a function, not {a_kind(fn)}")
    return Compiled(fn, options)


_USUAL = Options()


def _shared(options: Options) -> Options:
    """One object for the usual ones: thousands of functions may live at once."""
    return _USUAL if options == _USUAL else options


def _listed(passes: object) -> tuple[Pass | str, ...]:
    if not isinstance(passes, list | tuple):
        raise UsageTypeError(ARGUMENT, f"passes must be a list of passes, not {passes!r}")
    return tuple(passes)
