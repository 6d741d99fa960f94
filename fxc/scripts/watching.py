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

_Place = tuple[str, int, str]  # of a function: its file, line and name

# Note [Unchanged scripts]
# `fxc run SCRIPT` replaces itself by `python SCRIPT`, with a ``sitecustomize`` that starts a thread
# and hides all traces: so all that Python does for a script it does itself (``__main__``, statuses,
# tracebacks, ``-m``, processes that it starts, which are not watched).
# - The thread looks where the others are, every few milliseconds. A function of the program that
#   is there often enough gets a prologue, which asks a ``HotFunction`` first. The function object
#   stays the same, whoever has it, with its name, lines, defaults and signature. Where the answer
#   is ``MISSED`` the function goes on to its own statements, in its own frame: so exceptions,
#   warnings and tracebacks are its own.
# - The thread captures and compiles (``math="exact"``: all bits are NumPy's), as the program runs:
#   first what is most often the innermost function of the program's. What calls it has to be hot
#   without it.
# - The next calls run beside NumPy (Note [Calls beside NumPy]) and are timed. What is wrong, or
#   not faster, is put back as it was.
# - Nothing is imported until there is a function to compile, and NumPy is there. What the thread
#   spends is kept to a share of the time that the script has taken.

_EVERY, _LATER, _IDLE = 0.005, 0.02, 0.05  # seconds between two looks; later; without NumPy
_EAGER = 2.0  # seconds of a script in which there are more looks
_SAMPLES, _SHARE = 20, 0.1  # looks in which a function is there before it is hot, and their share
_OF_PACKAGES = frozenset({"site-packages", "dist-packages"})  # wherever they are
_DEEPEST = 50  # frames that are looked at
_BEGIN = 1.0  # seconds that a script runs as it is: a short one has nothing to gain
_FIRST, _SPENT = 0.5, 0.05  # seconds that compiling may take, and of the time so far


class _Looks:
    """In how many looks each function was there, and in how many it was the innermost one."""

    def __init__(self) -> None:
        self.count = 0
        self.there: dict[_Place, int] = {}
        self.innermost: dict[_Place, int] = {}

    def note(self, places: list[_Place]) -> None:
        """Functions of the program's in one thread, the innermost first."""
        for each in dict.fromkeys(places):
            self.there[each] = self.there.get(each, 0) + 1
        for each in places[:1]:
            self.innermost[each] = self.innermost.get(each, 0) + 1

    def share(self, place: _Place) -> float:
        """Of all looks, those in which it was there."""
        return self.there.get(place, 0) / max(self.count, 1)


class _Watch:
    """The functions of a script, by what was seen of them."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.spent = 0.0  # seconds in which this thread has compiled
        self.looks = _Looks()
        self.codes: dict[_Place, CodeType | None] = {}  # of the program's functions
        self.hot: dict[_Place, list[HotFunction]] = {}  # those that were taken up
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
        self.looks.count += 1
        for thread, frame in sys._current_frames().items():
            if thread != own:
                self.looks.note(self.places(frame))

    def places(self, frame: FrameType | None) -> list[_Place]:
        """The functions of the program's that are running in a thread."""
        found = []
        for _ in range(_DEEPEST):
            if frame is None:
                break
            code, frame = frame.f_code, frame.f_back
            place = code.co_filename, code.co_firstlineno, code.co_name
            if place not in self.codes:
                self.codes[place] = code if self.is_programs(code) else None
            if self.codes[place] is not None:
                found.append(place)
        return found

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
        looks = self.looks
        if looks.count < _SAMPLES:
            return
        hot = [each for each in looks.there if looks.share(each) >= _SHARE]
        for place in hot:
            code = self.codes[place]
            if code is not None and place not in self.hot and looks.there[place] >= _SAMPLES:
                self.hot[place] = self.take_up(code)
        asked = [
            (looks.innermost.get(place, 0), looks.share(place), each)
            for place in hot
            for each in self.hot.get(place, ())
            if each.stage == "asked"
        ]
        if asked and self.may_spend():
            _, share, first = max(asked, key=lambda one: one[:2])
            self.compile(first, share)
            self.looks = _Looks()  # what was slow before it says little of what is slow now

    def take_up(self, code: CodeType) -> list[HotFunction]:
        """The functions of a code, which ask from now on."""
        from fxc.scripts.swapping import asking, functions_of

        functions = functions_of(code)
        found = asking(code) if 0 < len(functions) <= 8 else None
        if found is None or not any(_uses_numpy(each.__globals__) for each in functions):
            return []
        began = time.thread_time()
        from fxc.scripts.hot import HotFunction

        made = [HotFunction(function, found) for function in functions]
        self.spent += time.thread_time() - began
        return made

    def may_spend(self) -> bool:
        elapsed = time.perf_counter() - self.start
        if elapsed < _BEGIN:
            return False
        return self.spent < _FIRST + _SPENT * elapsed or self.saved() > self.spent

    def compile(self, hot: HotFunction, share: float) -> None:
        """Compile a function, in which the program spends a share of its time, for what it has
        asked for; put it back if that cannot be done.
        """
        began = time.thread_time()
        from fxc.scripts.warnings_apart import warnings_apart

        try:
            with warnings_apart():
                hot.compile(max(0.2, 0.5 * share * (time.perf_counter() - self.start)))
        except Exception:  # refused, put off, or the program's own error
            hot.put_back()
        self.spent += time.thread_time() - began

    def saved(self) -> float:
        return sum(each.saved * each.served for each in self.all_hot())

    def all_hot(self) -> list[HotFunction]:
        return [each for some in list(self.hot.values()) for each in some]

    def tell(self) -> None:
        """Say on stderr what was gained."""
        if os.getpid() != self.process:
            return
        gained = [each for each in self.all_hot() if each.saved and each.served]
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
