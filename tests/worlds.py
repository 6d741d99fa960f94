"""A program and everything it can see, twice: once run by Python, once compiled, and compared.

A *world* is made by a function: it gives the function to call, the calls, and what else to look at
afterwards. Made twice, the worlds share nothing, so that each call can be compared by all that can
be seen of it: the result or exception, the arguments, and the objects that the program changes,
with every container, type, bit, and identity.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import fxc
from fxc.capture.values.objects import slots_of

Call = tuple[Any, ...]


@dataclasses.dataclass
class World:
    """``calls`` are tuples of arguments, a dict at the end for keywords (``{}`` may be left out),
    or functions that change something between calls. ``watched()`` gives what is compared, too.
    """

    function: Callable[..., Any]
    calls: Iterable[Call | Callable[[], Any]]
    watched: Callable[[], Any] = lambda: None


def compare(make: Callable[[], World], **options: Any) -> Any:
    """Run a world by Python and compiled; give what ``cache_info`` says then.

    ``eager``: how many calls run as plain NumPy; if 0, with ``fullgraph=True``.
    """
    eager = options.pop("eager", 0)
    plain, other = make(), make()
    options.setdefault("fullgraph", eager == 0)
    compiled = fxc.compile(**options)(other.function)
    pairs = zip(plain.calls, other.calls, strict=True)
    for number, (left, right) in enumerate(pairs):
        if callable(left) and callable(right):
            left(), right()
            continue
        expected = _outcome(plain.function, left, plain.watched)
        found = _outcome(compiled, right, other.watched)
        assert found == expected, f"call {number}:\n{found}\nshould be\n{expected}"
    info = compiled.cache_info()
    assert info.eager_calls == eager, info
    return info


def _outcome(function: Any, call: Any, watched: Callable[[], Any]) -> str:
    args, kwargs = (call[:-1], call[-1]) if call and type(call[-1]) is dict else (call, {})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".*please report", fxc.CaptureWarning)
        try:
            result: Any = ("result", function(*args, **kwargs))
        except Exception as error:
            if isinstance(error, fxc.FxcError | fxc.CaptureWarning):
                raise
            result = ("raised", type(error).__name__, error.args, repr(error.__cause__))
    return seen((result, args, kwargs, watched()))


def seen(x: Any) -> str:
    """All that can be seen of a nest of objects, as text."""
    known: dict[int, tuple[int, Any]] = {}
    text = _seen(x, known)
    arrays = [each for each in known.values() if isinstance(each[1], np.ndarray)]
    pairs = [
        f"#{i} and #{j} share memory"
        for (i, a), (j, b) in itertools.combinations(arrays, 2)
        if np.shares_memory(a, b)
    ]
    return " ".join([text, *pairs])


def _seen(x: Any, known: dict[int, tuple[int, Any]]) -> str:
    kind = type(x)
    if kind in (int, float, complex, str, bytes, bool, type(None), type(Ellipsis)):
        return f"{kind.__name__} {x!r}"
    if isinstance(x, np.generic):
        return f"{x.dtype} {x!r}"
    if id(x) in known:
        return f"#{known[id(x)][0]}"
    known[id(x)] = (len(known), x)
    if isinstance(x, np.ndarray):
        flags = "" if x.flags.writeable else " read-only"
        return f"{x.dtype}{x.shape}{x.strides}{flags} {x.tolist()}"
    if isinstance(x, dict):
        items = [f"{_seen(k, known)}: {_seen(v, known)}" for k, v in x.items()]
        return f"{kind.__name__}{{{', '.join(items)}}}"
    if isinstance(x, list | tuple | collections.deque):
        return f"{kind.__name__}[{', '.join(_seen(item, known) for item in x)}]"
    if isinstance(x, set | frozenset):
        return f"{kind.__name__}{sorted(map(repr, x))}"
    if isinstance(x, type | types.GeneratorType | types.CoroutineType) or callable(x):
        return getattr(x, "__qualname__", kind.__name__)  # not the code, which a driver has anew
    held = {**getattr(x, "__dict__", {}), **slots_of(x)}
    return f"{kind.__name__} {_seen(held, known)}"
