"""A script is watched while it runs: which functions take its time, and what is done about it.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import sysconfig
import threading  # here: the thread that imports it first is the main one to it
import time
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fxc.scripts.hot import HotFunction

# Note [Unchanged scripts]
# `fxc run SCRIPT` replaces itself by `python SCRIPT`, with a ``sitecustomize`` that starts a thread
# and hides all traces: so all that Python does for a script it does itself (``__main__``, statuses,
# tracebacks, ``-m``, processes that it starts, which are not watched).
# - The thread looks where the others are, every few milliseconds. A function of the program that
#   is there often enough gets a prologue, which asks a ``HotFunction`` first. The function object
#   stays the same, whoever has it, with its name, lines, defaults and signature. Where the answer
#   is ``MISSED`` the function goes on to its own statements, in its own frame: so exceptions,
#   warnings and tracebacks are its own.
# - The thread captures and compiles (``math="exact"``: all bits are NumPy's), as the program runs.
# - The next calls run beside NumPy (Note [Calls beside NumPy]) and are timed. What is wrong, or
#   not faster, is put back as it was.
# - Nothing is imported until there is a function to compile, and NumPy is there. What the thread
#   spends is kept to a share of the time that the script has taken.

_EVERY, _LATER, _IDLE = 0.005, 0.02, 0.05  # seconds between two looks; later; without NumPy
_EAGER = 2.0  # seconds of a script in which there are more looks
_SAMPLES, _SHARE = 20, 0.1  # looks in which a function is there before it is hot, and their share
_OF_PACKAGES = frozenset({"site-packages", "dist-packages"})  # wherever they are
_DEEPEST = 50  # frames that are looked at
_SPENT = 0.05  # of the time so far, that compiling may take beyond its start
_BEGIN = 1.0  # seconds that a script runs as it is: a short one has nothing to gain
_FIRST = 0.5  # seconds that compiling may take in any case


class _Watch:
    """The functions of a script, by what was seen of them."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.spent = 0.0  # seconds in which this thread has compiled
        self.looks = 0
        self.seen: dict[CodeType, int] = {}
        self.is_own: dict[CodeType, bool] = {}
        self.hot: list[HotFunction] = []
        self.done: set[CodeType] = set()
        self.others = _folders()
        self.process = os.getpid()

    def run(self) -> None:
        own = threading.get_ident()
        started = sys.modules.get("sitecustomize")
        if getattr(started, "__file__", "").startswith(self.others[-1]):
            del sys.modules["sitecustomize"]  # there is none without us
        while True:
            time.sleep(self.pause())
            if "numpy" in sys.modules:
                try:
                    self.look(own)
                    self.work()
                except Exception:
                    if "FXC_RUN_DEBUG" in os.environ:
                        raise
                    return  # the script goes on as it is

    def pause(self) -> float:
        """Seconds to the next look; each takes the interpreter's lock from the program."""
        if "numpy" not in sys.modules:
            return _IDLE
        return _EVERY if time.perf_counter() - self.start < _EAGER else _LATER

    def look(self, own: int) -> None:
        """Note which functions are running."""
        self.looks += 1
        for thread, frame in sys._current_frames().items():
            if thread != own:
                self.note(frame)

    def note(self, frame: FrameType | None) -> None:
        here: set[CodeType] = set()
        for _ in range(_DEEPEST):
            if frame is None:
                break
            here.add(frame.f_code)
            frame = frame.f_back
        for code in here:
            is_own = self.is_own.get(code)
            if is_own is None:
                is_own = self.is_own[code] = self.is_programs(code)
            if is_own:
                self.seen[code] = self.seen.get(code, 0) + 1

    def is_programs(self, code: CodeType) -> bool:
        """Whether it is a function of the program's that may be compiled."""
        name, flags = code.co_filename, code.co_flags
        is_function = flags & 0x1 and not flags & 0x2A0 and not code.co_name.startswith("<")
        if not is_function or name.startswith("<"):
            return False
        path, numpy = os.path.realpath(name), os.path.dirname(sys.modules["numpy"].__file__ or "")
        others = (*self.others, os.path.dirname(os.path.realpath(numpy)) + os.sep)
        return not path.startswith(others) and not _OF_PACKAGES.intersection(path.split(os.sep))

    def work(self) -> None:
        """Take up functions that are hot, and compile for those that ask."""
        if self.looks % 4 == 0:
            for code, count in list(self.seen.items()):
                if count >= _SAMPLES and count >= _SHARE * self.looks and code not in self.done:
                    self.done.add(code)
                    self.take_up(code)
        for each in self.hot:
            if each.stage == "asked" and self.may_spend():
                self.compile(each)

    def take_up(self, code: CodeType) -> None:
        """Let the functions of a code ask."""
        from fxc.scripts.swapping import asking, functions_of

        functions = functions_of(code)
        found = asking(code) if 0 < len(functions) <= 8 else None
        if found is None or not any(_uses_numpy(each.__globals__) for each in functions):
            return
        began = time.thread_time()
        from fxc.scripts.hot import HotFunction

        for function in functions:
            self.hot.append(HotFunction(function, found))
            self.done.add(function.__code__)
            self.is_own[function.__code__] = False
        self.spent += time.thread_time() - began

    def may_spend(self) -> bool:
        elapsed = time.perf_counter() - self.start
        if elapsed < _BEGIN:
            return False
        return self.spent < _FIRST or self.spent < _SPENT * elapsed or self.saved() > self.spent

    def compile(self, hot: HotFunction) -> None:
        """Compile a function for what it has asked for; put it back if that cannot be done."""
        began = time.thread_time()
        from fxc.scripts.warnings_apart import warnings_apart

        try:
            share = self.seen.get(hot.own_code, 0) / max(self.looks, 1)
            with warnings_apart():
                hot.compile(max(0.2, 0.5 * share * (time.perf_counter() - self.start)))
        except Exception:  # refused, put off, or the program's own error
            hot.put_back()
        self.spent += time.thread_time() - began

    def saved(self) -> float:
        return sum(each.saved * each.served for each in self.hot)

    def tell(self) -> None:
        """Say on stderr what was gained."""
        if os.getpid() != self.process:
            return
        gained = [each for each in self.hot if each.saved and each.served]
        stream: Any = sys.__stderr__
        if stream is not None:
            stream.write(f"fxc run: {_summary(gained, self.saved())}\n")
            stream.flush()


def _folders() -> tuple[str, ...]:
    """Where code is that is not the program's: libraries, and fxc."""
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = [*(os.path.realpath(paths[each]) for each in names), ours]
    return tuple(each + os.sep for each in places)


def _uses_numpy(names: dict[str, Any]) -> bool:
    numpy = sys.modules["numpy"]
    return any(
        each is numpy or getattr(each, "__module__", "") == "numpy" or type(each) is numpy.ndarray
        for each in list(names.values())
    )


def _summary(gained: list[HotFunction], saved: float) -> str:
    if not gained:
        return "no function was compiled"
    parts = []
    for each in sorted(gained, key=lambda one: -one.saved * one.served)[:4]:
        times = each.times[0] / max(each.times[1], 1e-9)
        parts.append(f"{each.function.__qualname__} {times:.1f} times as fast")
    more = f" and {len(gained) - 4} more" if len(gained) > 4 else ""
    return f"about {saved:.1f} s saved: {', '.join(parts)}{more}"


def watch(options: str) -> None:
    """Begin to watch this process; ``options`` are words: ``quiet`` says nothing at the end."""
    found = _Watch()
    if "quiet" not in options.split():
        atexit.register(found.tell)
    _thread.start_new_thread(found.run, ())
