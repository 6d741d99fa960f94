"""Of which class an array would be in NumPy where an argument is of a subclass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARGUMENT_KIND
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Region, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.operators import CONTROL, Operator, Tag
from fxc.ops.table import TABLE

from ..guards.program import Source
from .recorder import Recorder
from .refusing import refuse

# Note [Classes of arrays]
# All arrays of a graph are plain. An ``np.memmap`` from outside comes in as an ``ndarray`` over the
# same memory, which the guard program makes. Of which class an array would be in NumPy matters
# where the program can see it: where the array leaves the function, and where the program asks for
# its class or for an attribute. So each array that is not certainly an ``ndarray`` made as always
# has a class in ``Session.classes``, from when it is recorded. The epilogue gives what leaves its
# class back: a part of the file is a memmap with the attributes of the one it is a part of.
# These rules follow ``np.memmap``, in the order in which they are tried:
# 1. A basic index, a transpose or another shape of what is mapped is mapped, unless it is empty.
# 2. What a ufunc gives is an ``ndarray``: ``__array_wrap__`` shows the result through a view.
# 3. Of other functions of NumPy's, NumPy says it on small samples (numpy_api/sampled_classes.py).
# 4. What else is recorded of such arrays is ``Unclear.CLASS``: it may be used inside of the graph.
# Whatever cannot be told is refused where it was made, so that Python runs that statement.
# A subclass of the user's that computes as arrays do (numpy_api/subclasses.py) comes in likewise.
# Parts of one of its arrays, and what ufuncs make of these and of plain ones, have that one's
# attributes if its class just copies them: of the first, if there are several of one class. So have
# copies and what else samples show to have them. Parts of what is made stay inside, for their base
# would be another. What else follows is ``Unclear.SUBCLASS``: only its elements leave, and what is
# written to arrays, for nobody knows its attributes. A number that is no element is an array of
# rank 0 of that class, with which nothing is computed here.


@frozen(eq=False)
class PartOfFile:
    """A memmap with a part of the file of that of ``source``; the very same if it is an input."""

    source: Source


@frozen(eq=False)
class OfNoFile:
    """The memmap that ``source`` gives, whose memory is no file's: ``np.zeros_like(m)``, say."""

    source: Source


@frozen(eq=False)
class OfSubclass:
    """The array of a subclass of the user's that ``source`` gives; if it ``keeps`` its attributes,
    what ufuncs make of it, too.
    """

    source: Source
    kind: type[np.ndarray[Any, Any]]
    keeps: bool


@frozen(eq=False)
class NewOfSubclass:
    """One of that class, with the attributes, that owns its memory: ``x.copy()``."""

    of: OfSubclass


@frozen(eq=False)
class Unwrapped:
    """``x.view(np.ndarray)`` of an array that has a class."""

    of: Value


class Unclear(Enum):
    """What is no memmap of a file."""

    WRAPPED = "an ndarray that is a view of one which nobody has"
    MADE = "a new memmap, of no file"
    PART_OF_MADE = "a view of one that nobody has"
    CLASS = "a memmap or not"
    SUBCLASS = "an array of a subclass of the user's, or not"


ArrayClass = PartOfFile | OfNoFile | OfSubclass | NewOfSubclass | Unwrapped | Unclear
# Views that are no method or index of the array: the functions give plain arrays.
_PLAIN_VIEWS = frozenset({"as_strided", "broadcast", "broadcast_to"})


def class_of_memmap(source: Source, is_mapped: bool) -> ArrayClass:
    """The class of a memmap from outside."""
    return PartOfFile(source) if is_mapped else OfNoFile(source)


def unwrap(session: Recorder, made: Value, of: Value, is_whole: bool = True) -> None:
    """Note that an array is ``x.view(np.ndarray)`` of another one, or of a view of that."""
    session.classes[made] = Unwrapped(of) if is_whole else Unclear.CLASS


def is_of_subclass(kind: ArrayClass | None) -> bool:
    """Whether an array may be of a subclass of the user's."""
    return kind is Unclear.SUBCLASS or type(kind) in (OfSubclass, NewOfSubclass)


def kept(kind: ArrayClass | None) -> OfSubclass | None:
    """The array of a subclass whose attributes are also those of what is made of it."""
    found = kind.of if type(kind) is NewOfSubclass else kind
    return found if type(found) is OfSubclass and found.keeps else None


def as_picked(session: Recorder, whole: Value | None, found: object) -> object:
    """What ``x[key]`` of a ``whole`` gives if that is no view: an ``ndarray``, of a memmap, too."""
    made, classes = getattr(found, "_value", None), session.classes
    if made is None:
        return found
    if whole in classes and is_of_subclass(classes[whole]):
        classes[made] = kept(classes[whole]) or Unclear.SUBCLASS
    elif whole in classes and not _is_ndarray(classes[whole]):
        classes[made] = Unclear.WRAPPED
    else:
        classes.pop(made, None)
    return found


def note_classes(session: Recorder, name: str, args: Sequence[object], result: object) -> None:
    """Note the class of what an operator gives if one of its operands has a class."""
    op, found = TABLE[name], list(_values_in((result,)))
    classes = session.classes
    arrays = [each for each in _values_in(args) if type(each.type) is ArrayType]
    given = [classes[each] for each in arrays if each in classes]
    if any(map(is_of_subclass, given)):
        _check_element(session, op, arrays, found)
    for place, each in enumerate(found):
        if op.tag in CONTROL:
            regions = [arg for arg in args if isinstance(arg, Region)]
            kind = _class_behind(session, regions, place, len(found), given)
        else:
            kind = _class_of(op, given, len(arrays)) if given else None
        if kind is Unclear.SUBCLASS and op.tag in CONTROL:
            raise refused("what a branch or a loop replaces by an array")
        if kind is not None and type(each.type) is ArrayType:
            classes[each] = kind


def note_class_of_either(session: Recorder, made: Value, left: Value, right: Value) -> None:
    """Note the class of what is one array or another. See Note [Conditional aliases]."""
    classes = session.classes
    kinds = [classes.get(each) for each in (left, right)]
    if kinds[0] is not kinds[1]:
        is_any = any(map(is_of_subclass, kinds))
        classes[made] = Unclear.SUBCLASS if is_any else Unclear.CLASS
    elif kinds[0] is not None:
        classes[made] = kinds[0]


def _check_element(
    session: Recorder, op: Operator, arrays: list[Value], found: list[Value]
) -> None:
    """Refuse a number that is no element of an array of a subclass, or what comes of one."""
    if op.tag in CONTROL:
        raise refused("what a loop carries, an array")
    made = session.made.get(arrays[0])
    is_element = op.name == "item" and made is not None and TABLE[made.name].schema.is_view
    if is_element or op.tag in (Tag.WRITE, Tag.INDEX_PUT):
        return
    for each in found:
        is_number = type(each.type) is ScalarType and not each.type.weak
        is_computed = type(each.type) is ArrayType and not each.type.rank
        if is_number or (is_computed and not op.schema.is_view):
            raise refused("a number of an array")
    if any(not each.type.rank for each in arrays):
        raise refused("an array of rank 0")


def refused(what: str) -> CaptureError:
    """The refusal of what is, or may be, of a subclass of the user's."""
    return refuse(ARGUMENT_KIND, f"{what} of a subclass of arrays")


def _class_of(op: Operator, given: list[ArrayClass], count: int) -> ArrayClass | None:
    """The class of what an operator gives of so many arrays, some with these classes."""
    first = given[0]
    is_ufunc = isinstance(op.numpy, np.ufunc)
    if any(map(is_of_subclass, given)) and not is_ufunc:
        is_view = op.schema.is_view and op.name not in _PLAIN_VIEWS
        return class_by_ufunc(given, count) if is_view else Unclear.SUBCLASS
    if op.schema.is_view:
        if type(first) is PartOfFile and op.name not in _PLAIN_VIEWS:
            return first
        return None if _is_ndarray(first) else Unclear.CLASS
    if is_ufunc:
        return class_by_ufunc(given, count)
    return None if all(map(_is_ndarray, given)) else Unclear.CLASS


def class_by_ufunc(given: Sequence[ArrayClass], count: int) -> ArrayClass | None:
    """The class of what a ufunc gives of so many arrays, some with these classes: an ``ndarray``
    among them comes before a memmap.
    """
    if any(map(is_of_subclass, given)):
        arrays = list(map(kept, given))
        kinds = {None if each is None else each.kind for each in arrays}
        return arrays[0] if len(kinds) == 1 and arrays[0] else Unclear.SUBCLASS
    has_ndarray = len(given) < count or any(map(_is_ndarray, given))
    return None if has_ndarray else Unclear.WRAPPED


def _class_behind(
    session: Recorder, regions: Sequence[Region], place: int, count: int, given: list[ArrayClass]
) -> ArrayClass | None:
    """The class of a result of a branch or a loop; what a loop begins with has those ``given``."""
    classes = session.classes
    if given or any(len(each.results) != count for each in regions):
        inside = [classes[x] for each in regions for x in _values_in(each.results) if x in classes]
    else:
        ends = [each.results[place] for each in regions]
        if (made := _made_in_each(session, ends)) is not None:
            return made
        inside = [classes[x] for x in ends if type(x) is Value and x in classes]
    if not given and not inside:
        return None
    if any(map(is_of_subclass, (*given, *inside))):
        return Unclear.SUBCLASS
    return Unclear.WRAPPED if all(map(_is_ndarray, (*given, *inside))) else Unclear.CLASS


def _made_in_each(session: Any, ends: Sequence[object]) -> OfSubclass | None:
    """The class of what all arms of a branch have made by ufuncs with the same attributes."""
    found: OfSubclass | None = None
    for each in ends:
        kind = session.classes.get(each) if type(each) is Value else None
        if type(kind) is not OfSubclass or kept(kind) is None or found not in (None, kind):
            return None
        if session.aliases.root(each) is not each or each in session.aliases.input_arrays:
            return None
        found = kind
    return found


def _is_ndarray(kind: ArrayClass) -> bool:
    return kind is Unclear.WRAPPED or type(kind) is Unwrapped


def _values_in(args: Iterable[object]) -> Iterator[Value]:
    """The values among arguments."""
    for arg in args:
        if type(arg) is Value:
            yield arg
        elif isinstance(arg, tuple | list):
            yield from _values_in(arg)


def numpys_class(session: Recorder, value: Value) -> type[np.ndarray[Any, Any]] | None:
    """The class that an array has in NumPy; None if it is not known."""
    kind = session.classes.get(value)
    if type(kind) is NewOfSubclass:
        return kind.of.kind
    if type(kind) is OfSubclass:
        return kind.kind
    is_parameter = session.region and kind is None  # of the region, perhaps
    if is_parameter or kind in (Unclear.CLASS, Unclear.SUBCLASS):
        return None
    is_memmap = type(kind) in (PartOfFile, OfNoFile) or kind in (Unclear.MADE, Unclear.PART_OF_MADE)
    return np.memmap if is_memmap else np.ndarray
