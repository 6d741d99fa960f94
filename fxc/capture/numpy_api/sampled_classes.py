"""Of which class NumPy makes what a function gives of memmaps: it is asked on small samples.

See Note [Classes of arrays].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered

from ..arrays.memory import view
from ..numbers.traced_int import TracedInt
from ..session.classes import (
    ArrayClass,
    NewOfSubclass,
    OfSubclass,
    PartOfFile,
    Unclear,
    class_by_ufunc,
    is_of_subclass,
    kept,
    numpys_class,
    refused,
)
from ..session.session import Session, current
from ..values.objects import Args, Kwargs, class_attribute
from ..values.operands import TracedValue

_MAKING = "__array_finalize__"
_MOST = 3  # elements along an axis of a sample


@cache
def _subclass(priority: float) -> type[np.ndarray]:
    """A class in the place of the user's: ``like`` is which array an array is made as."""

    def made(self: Any, other: object) -> None:
        self.like = getattr(other, "like", None)

    return type("Subclass", (np.ndarray,), {"__array_priority__": priority, _MAKING: made})


class _Unknown(Exception):
    """There is no sample of an argument."""


def with_class(
    function: Callable[..., object], args: Args, kwargs: Kwargs, found: object
) -> object:
    """What a function of NumPy's has given, with the classes that NumPy makes it of."""
    session = current()
    given = {x._value for x in _arrays_in((args, kwargs))}
    if given.isdisjoint(session.classes):
        return found
    sampled, samples = _sampled(session, function, args, kwargs)
    return _Call(session, given, samples).settled(found, sampled)


def of_ufunc(inputs: object, options: Kwargs, found: object) -> object:
    """The same of a ufunc's: an ``ndarray``, but for what is given as ``out=``."""
    classes = current().classes
    given = [x._value for x in _arrays_in(inputs)]
    kinds = [classes[each] for each in given if each in classes]
    is_plain = not kinds or options.get("subok") is False
    kind = None if is_plain else class_by_ufunc(kinds, len(given))
    outs = {x._value for x in _arrays_in(options)}
    for x in _arrays_in(found):
        if x._value in outs:
            continue
        if kind is None:
            classes.pop(x._value, None)
        else:
            classes[x._value] = kind
    return found


def _arrays_in(x: object) -> Iterator[TracedValue]:
    if isinstance(x, TracedValue):
        if isinstance(x._value.type, ArrayType):
            yield x
    elif isinstance(x, tuple | list | dict):
        for each in x.values() if isinstance(x, dict) else x:
            yield from _arrays_in(each)


@frozen
class _Call:
    """A call of a function: the arrays among its arguments, and small ones in their place."""

    session: Session
    given: set[Value]
    samples: dict[Value, Any]

    @property
    def _unclear(self) -> Unclear:
        """The class of what nobody knows more of."""
        kinds = map(self.session.classes.get, self.given)
        return Unclear.SUBCLASS if any(map(is_of_subclass, kinds)) else Unclear.CLASS

    def settled(self, found: object, sampled: object, is_alone: bool = True) -> Any:
        """What was found, where it is an array with its class, by what NumPy gave of samples."""
        if isinstance(found, tuple | list):
            return self._parts(found, sampled)
        is_number = isinstance(found, TracedValue) and isinstance(found._value.type, ScalarType)
        if is_number and self._unclear is Unclear.SUBCLASS and not isinstance(sampled, np.generic):
            raise refused("a number of an array")
        for x in _arrays_in(found):
            if x is not found:
                self.session.classes[x._value] = self._unclear
            elif x._value not in self.given:
                self._note(x._value, sampled, is_alone)
            elif type(sampled) is np.ndarray and sampled is not self.samples.get(x._value):
                return view(x._value, np.ndarray)  # ``np.asarray`` of a memmap
        return found

    def _parts(self, found: Any, sampled: object) -> Any:
        parts = sampled if isinstance(sampled, tuple | list) else ()
        parts = parts if len(parts) == len(found) else [None] * len(found)
        settled = [self.settled(x, y, False) for x, y in zip(found, parts, strict=True)]
        if type(found) in (tuple, list):
            return type(found)(settled)
        same = all(x is y for x, y in zip(found, settled, strict=True))
        return found if same else tuple.__new__(type(found), settled)

    def _note(self, value: Value, sampled: object, is_alone: bool) -> None:
        """Note the class of what a function has made, or of a view of what was given."""
        session, root = self.session, self.session.aliases.root(value)
        kind: ArrayClass | None = self._unclear
        if any(session.aliases.root(each) is root for each in self.given):
            is_mapped = type(sampled) is np.memmap and vars(sampled)["_mmap"] is not None
            is_mapped |= sampled is None  # small arrays have no such shape
            kind = session.classes.get(value, kind) if is_mapped else kind
        elif sampled is not None and not any(map(partial(_share, sampled), self.samples.values())):
            kind = _class_of_new(sampled, value is not root, is_alone, self._unclear)
        if kind is None:
            session.classes.pop(value, None)
        else:
            session.classes[value] = kind


def _class_of_new(
    sampled: Any, is_view: bool, is_alone: bool, unclear: ArrayClass
) -> ArrayClass | None:
    """The class of an array that a function has made, by one that it has made of samples."""
    owns = sampled.base is None
    if not is_view and (like := _class_like(sampled)) is not None:
        return like
    if type(sampled) is np.ndarray:
        return None if owns or is_view else Unclear.WRAPPED
    if type(sampled) is np.memmap and owns:
        return Unclear.MADE
    wraps = type(sampled.base) is np.memmap and sampled.base.base is None
    is_part = type(sampled) is np.memmap and wraps and is_alone
    return Unclear.PART_OF_MADE if is_part else unclear


def _class_like(sampled: object) -> ArrayClass | None:
    """The class of a new array that has the attributes of one of a subclass; None if it has not."""
    like = getattr(sampled, "like", None)
    if like is None or not isinstance(sampled, np.ndarray):
        return None
    if sampled.base is None:
        return NewOfSubclass(like)
    base, shown = sampled.base, (sampled.shape, sampled.strides)
    is_wrapped = type(base) is np.ndarray and base.base is None
    is_whole = is_wrapped and shown == (base.shape, base.strides)
    return like if is_whole else None


def _share(sampled: object, sample: np.ndarray) -> bool:
    return not isinstance(sampled, np.ndarray) or np.may_share_memory(sampled, sample)


# ------------------------------------------------------------------ samples


def _sampled(
    session: Session, function: Callable[..., object], args: Args, kwargs: Kwargs
) -> tuple[object, dict[Value, Any]]:
    """What NumPy gives of small arrays, and these; None if nobody knows."""
    samples: dict[Value, Any] = {}
    try:
        given = [_sample(session, x, samples) for x in args]
        options = {name: _sample(session, x, samples) for name, x in kwargs.items()}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*given, **options), samples
    except Exception:  # samples are too small for the function, say, or singular
        return None, samples


def _sample(session: Session, x: object, samples: dict[Value, Any]) -> Any:
    """Something of NumPy's in the place of an argument."""
    if isinstance(x, TracedValue):
        return _sample_of_value(session, x._value, samples)
    if type(x) is TracedInt:
        return 1
    if type(x) is tuple or type(x) is list:
        return type(x)(_sample(session, each, samples) for each in x)
    if isinstance(x, np.ndarray):
        return x.copy()  # the function may write to it
    if x is None or isinstance(x, _PLAIN) or x in (np.ndarray, np.memmap):
        return x
    if isinstance(x, type) and issubclass(x, _PLAIN):
        return x
    raise _Unknown  # a function of the program's would run


_PLAIN = (bool, int, float, complex, str, np.generic, np.dtype, type(Ellipsis), slice)


def _sample_of_value(session: Session, value: Value, samples: dict[Value, Any]) -> object:
    if value in samples:
        return samples[value]
    kind = value.type
    if not isinstance(kind, ArrayType):
        one = np.ones((), kind.dtype)[()]
        return one.item() if kind.weak else one
    made = _small_array(kind)
    if is_of_subclass(session.classes.get(value)):
        samples[value] = like = made.view(_subclass(_priority(session)))
        like.like = kept(session.classes[value])  # type: ignore[attr-defined]
        return like
    known = numpys_class(session, value) if value in session.classes else np.ndarray
    if known is None:
        raise _Unknown
    if known is np.memmap:
        made = made.view(np.memmap)
        is_mapped = type(session.classes[value]) is PartOfFile
        vars(made)["_mmap"] = made.base if is_mapped else None
    samples[value] = made
    return made


def _priority(session: Session) -> float:
    """The priority of the arrays of subclasses, by which NumPy chooses a class."""
    kinds = {each.kind for each in session.classes.values() if type(each) is OfSubclass}
    given = [class_attribute(kind, "__array_priority__") for kind in kinds]
    found = {float(each) if isinstance(each, float | int) else 0.0 for each in given}
    if len(found) > 1:
        raise _Unknown
    return found.pop()


def _small_array(kind: ArrayType) -> np.ndarray:
    """An array in this order; its matrices have an inverse, and its integers are places in it."""
    shape = tuple(min(hint(dim), _MOST) for dim in kind.shape)
    if is_c_ordered(kind) or is_f_ordered(kind):
        made = np.zeros(shape, kind.dtype, order="C" if is_c_ordered(kind) else "F")
    else:
        made = np.zeros((*shape[:-1], 2 * shape[-1]), kind.dtype)[..., ::2]
    for place in range(min(shape, default=0)):
        made[(..., place, place) if len(shape) > 1 else place] = 1
    return made
