"""What one thread does with warnings, apart from the others.

``warnings.catch_warnings`` is for the whole process: it changes the filters of all threads, and
lets Python forget which warnings it has shown. A thread that compiles beside a program must not.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def warnings_apart() -> Iterator[None]:
    """In the block, what this thread warns of is not shown, and filters that it sets are not."""
    own, caught = threading.get_ident(), list[list[Any]]()
    catching: Any = warnings.catch_warnings

    class Apart(catching):  # type: ignore[misc]
        def __enter__(self) -> Any:
            if threading.get_ident() != own:
                return super().__enter__()
            caught.append([])
            return caught[-1] if self._record else None

        def __exit__(self, *error: object) -> None:
            if threading.get_ident() != own:
                super().__exit__(*error)
            else:
                caught.pop()

    def others(function: Callable[..., Any]) -> Callable[..., Any]:
        def only_others(*args: object, **kwargs: object) -> Any:
            return None if threading.get_ident() == own else function(*args, **kwargs)

        return only_others

    module: Any = warnings
    show = module._showwarnmsg

    def kept(message: Any) -> None:
        if threading.get_ident() != own:
            show(message)
        elif caught:
            caught[-1].append(message)

    before = {name: getattr(module, name) for name in ("simplefilter", "filterwarnings")}
    try:
        module.catch_warnings, module._showwarnmsg = Apart, kept
        for name, function in before.items():
            setattr(module, name, others(function))
        yield
    finally:
        module.catch_warnings, module._showwarnmsg = catching, show
        for name, function in before.items():
            setattr(module, name, function)
