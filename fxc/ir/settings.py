"""What users set: ``fxc.config``, with a variable of the environment for each of its attributes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Literal

from .error_kinds import SETTING
from .errors import UsageError
from .setting import FOLDER, SWITCH, Setting, count, names

if TYPE_CHECKING:
    from typing import NoReturn

MOST_THREADS = 256
OWN_BACKENDS = ("llvm", "numpy")

Math = Literal["default", "exact", "fast"]
"""How precise native code is; see ``fxc.compile``."""

LOGS = {
    "recompiles": "why a call is compiled again: which guard failed, and what was made",
    "splits": "what Python runs of a function, and why",
    "graph": "the captured graph of each compilation",
    "passes": "what each pass changes in the graph or the loop nests, and how long it takes",
    "loops": "the loop nests, and how they are run",
    "llvm": "the text that LLVM is given",
    "perf": "copies, and operators and calls that are left to NumPy, with the reason",
}
"""What ``logs`` may name, each a logger ``fxc.NAME``."""


def _check_feature(name: str) -> None:
    if not name.startswith("-"):
        raise ValueError(f"{name!r} has no -")


def _check_log(name: str) -> None:
    if name not in LOGS and name != "help":
        raise ValueError(_suggestion(name, LOGS))


class Config:
    """The settings of the process: ``fxc.config``.

    An attribute holds the value that counts: what the program has set, or else what the variable
    of the environment says, or else the default. Setting it sets it for the whole process, all
    threads; ``override`` does so for a block. ``print(fxc.config)`` shows all, and where each
    comes from.

    >>> import fxc
    >>> with fxc.config.override(verify=True):
    ...     fxc.config.verify
    True
    >>> fxc.config.verfy = True
    Traceback (most recent call last):
    AttributeError: fxc.config has no setting 'verfy'; did you mean 'verify'?
    """

    __slots__ = ()

    num_threads = Setting(
        count(f"a number from 1 to {MOST_THREADS}", 1, MOST_THREADS),
        None,
        "how many threads compiled loops may use; None: one for each processor",
    )
    kept_memory = Setting(
        count("a number of bytes", 0, 2**62 - 1),
        None,
        "how many bytes of large arrays that are gone are kept; None: see docs/memory.md",
    )
    cpu_features = Setting(
        names("features to take from the processor, as in -avx512f", _check_feature),
        "",
        "instructions that code does without, as in -avx512f; to be set before the first call",
        once=True,
    )
    cache = Setting(SWITCH, True, "keep compiled code on disk for other processes")
    cache_dir = Setting(
        FOLDER, None, "the folder of that; None: one in the user's folder for caches"
    )
    cache_size = Setting(
        count("a number of bytes", 0, 2**62 - 1),
        None,
        "how many bytes of disk that may take; None: 1 GiB",
    )
    logs = Setting(
        names(f"some of {', '.join(LOGS)}", _check_log),
        "",
        "what is logged, names with commas between them; help lists them",
    )
    trace = Setting(FOLDER, None, "a folder to which each compilation is written; None: none is")
    full_traceback = Setting(SWITCH, False, "show the frames of fxc in tracebacks")
    verify = Setting(SWITCH, False, "run each call beside NumPy, and compare")
    verify_graphs = Setting(SWITCH, False, "check each graph after each pass, for work on fxc")

    @contextmanager
    def override(self, **values: object) -> Iterator[None]:
        """Set these for a block, in all threads; then they are again what they were.

        Nothing is set if one of them is unknown or makes no sense.
        """
        taken = {name: _found(name).taken(value) for name, value in values.items()}
        for name in taken:
            if SETTINGS[name].once:
                text = f"fxc.config.{name} is for a whole process, not for a block"
                raise UsageError(SETTING, text)
        before = {name: SETTINGS[name].chosen for name in taken}
        try:
            for name, value in taken.items():
                SETTINGS[name].put(value)
            yield
        finally:
            for name, chosen in before.items():
                SETTINGS[name].put(chosen)

    def __dir__(self) -> list[str]:
        return [*SETTINGS, "override"]

    def __repr__(self) -> str:
        """A line for each: its name, its value, where that comes from, and what it is."""
        rows = [("fxc.config", "value", "from", "")]
        rows += [(name, _shown(each), each.origin, each.summary) for name, each in SETTINGS.items()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = ("  ".join([*map(str.ljust, row, widths), row[3]]).rstrip() for row in rows)
        return "\n".join(lines)

    if not TYPE_CHECKING:  # with these, every name would be one to a type checker

        def __getattr__(self, name: str) -> NoReturn:
            _found(name)

        def __setattr__(self, name: str, value: object) -> None:
            _found(name).__set__(self, value)


SETTINGS: dict[str, Setting[object]] = {
    name: each for name, each in vars(Config).items() if isinstance(each, Setting)
}
config = Config()


def _found(name: str) -> Setting[object]:
    if name not in SETTINGS:
        hint = _suggestion(name, SETTINGS)
        raise AttributeError(f"fxc.config has no setting {name!r}" + (f"; {hint}" if hint else ""))
    return SETTINGS[name]


def _suggestion(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def _shown(setting: Setting[object]) -> str:
    try:
        return repr(setting.value)
    except ValueError as error:
        return f"({error})"


@cache
def check_settings() -> None:
    """Raise ``ValueError`` for a variable that makes no sense, before anything depends on it."""
    for each in SETTINGS.values():
        each.given()


def features_taken() -> list[str]:
    """What is taken from the processor, with all that needs it: ``-avx512f``.

    So its code is that of a lesser one. It cannot be changed any more.
    """
    taken = Config.cpu_features.fix()
    return taken.split(",") if taken else []


def cache_folder() -> str | None:
    """The folder of the disk cache; None if there is to be none, or there is no place for it."""
    if not config.cache:
        return None
    if config.cache_dir is not None:
        return os.path.join(os.path.abspath(config.cache_dir), "fxc")
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the specification says so of what is no absolute path
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "fxc") if os.path.isabs(base) else None
