"""The states of random generators, kept for a call that may have to be made again.

See Note [Operators with effects].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from gc import get_referents
from typing import Any

from fxc.ir.handles import object_at

_HEADER = object.__basicsize__
_string_at = ctypes.string_at
_increment, _decrement = (
    ctypes.PYFUNCTYPE(None, ctypes.py_object)((name, ctypes.pythonapi))
    for name in ("Py_IncRef", "Py_DecRef")
)
Restore = Callable[[], Any]


def restoring(run: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """``run``, which draws from the generators whose handles are the inputs at these places: if it
    raises, they are as they were.
    """

    def run_or_restore(*inputs: Any) -> Any:
        kept = [checkpoint(object_at(inputs[place])) for place in places]
        try:
            return run(*inputs)
        except Exception:
            for restore in kept:
                restore()
            raise

    return run_or_restore


def checkpoint(generator: Any) -> Restore:
    """A function that brings the generator back to the state that it has now."""
    kind: Any = type(generator)
    bits: Any = generator.bit_generator if kind.__name__ == "Generator" else generator
    if kind.__name__ == "RandomState":
        bits = generator._bit_generator
    inside: Any = type(bits)
    sizes = _sizes(kind, inside)
    if sizes is None:
        return _by_state(generator)
    own, inner = sizes
    where, there, lock = id(bits) + _HEADER, id(generator) + _HEADER, bits.lock
    with lock:  # another thread may be drawing, without the GIL
        memory, beside = _string_at(where, inner), _string_at(there, own)
        owned = get_referents(bits, generator)

    def restore() -> None:
        with lock:
            left = get_referents(bits, generator)
            ctypes.memmove(where, memory, inner)
            ctypes.memmove(there, beside, own)
            _own_instead(owned, left)

    return restore


def _own_instead(owned: list[Any], left: list[Any]) -> None:
    """Count the references of bytes that were brought back, and no more those that they replace.

    ``seed`` of a ``RandomState`` drops the seed sequence that it was made with.
    """
    for x in owned:
        _increment(x)
    for x in left:
        _decrement(x)


@cache
def _sizes(kind: type, bits: type) -> tuple[int, int] | None:
    """How many bytes of a generator, and of its bit generator, are state; None if that is not so
    simple.
    """
    if not _is_plain(bits) or kind.__name__ not in ("Generator", "RandomState"):
        return None
    if kind.__name__ == "Generator":
        return 0, bits.__basicsize__ - _HEADER
    if not _is_plain(kind):
        return None
    return kind.__basicsize__ - _HEADER, bits.__basicsize__ - _HEADER


def _by_state(generator: Any) -> Restore:
    """The same by what every generator has to say of its state."""
    if hasattr(generator, "getstate"):
        state = generator.getstate()
        return lambda: generator.setstate(state)
    if hasattr(generator, "get_state"):
        known = generator.get_state(legacy=False)
        return lambda: generator.set_state(known)
    bits = generator.bit_generator
    found = bits.state

    def restore() -> None:
        bits.state = found

    return restore


def _bytes_of(part: object) -> bytes:
    """All that C code holds in an object."""
    return ctypes.string_at(id(part) + _HEADER, type(part).__basicsize__ - _HEADER)


# The classes whose objects have all of their state in memory of their own, with how to try one.
_PLAIN = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "RandomState")


@cache
def _is_plain(kind: type) -> bool:
    """Whether the bytes of an object are its state: tried on one of the class."""
    if kind.__name__ not in _PLAIN or not kind.__module__.startswith("numpy.random."):
        return False
    from numpy.random import Generator, RandomState

    part: Any = kind(7)
    made: Any = part if isinstance(part, RandomState) else Generator(part)
    parts = (part, part._bit_generator) if made is part else (part,)
    made.standard_normal(3)
    state, memory = repr(_state(part)), [_bytes_of(each) for each in parts]
    drawn = made.standard_normal(701).tobytes()
    for each, known in zip(parts, memory, strict=True):
        ctypes.memmove(id(each) + _HEADER, known, len(known))
    return repr(_state(part)) == state and made.standard_normal(701).tobytes() == drawn


def plain_kinds() -> tuple[type, ...]:
    """The classes of NumPy's bit generators whose bytes are their state."""
    import numpy.random

    found = [getattr(numpy.random, name, None) for name in _PLAIN[:-1]]
    return tuple(kind for kind in found if kind is not None and _is_plain(kind))


def _state(part: Any) -> Any:
    return part.get_state(legacy=False) if hasattr(part, "get_state") else part.state
