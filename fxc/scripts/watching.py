"""A script is watched while it runs: which functions take its time, and what is done about it.

See Note [Unchanged scripts]. It has so many lines because nothing else of fxc may be imported until
there is something to compile.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import math
import os
import signal
import sys
import sysconfig
import threading  # here: the thread that imports it first is the main one to it
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fxc.scripts.hot import HotFunction
    from fxc.scripts.reported import Reported

    from .telling import Place

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
# - What was put back, or not called again, is left as it is by the next runs for some seconds: a
#   compilation costs little of what takes long. So they need not import the compiler for it.
# - Nothing is imported until there is a function to compile, and NumPy is there. What is spent is
#   kept to a share of the script's time, beside what was gained and what is hoped for.

_SHORTEST, _LONGEST, _IDLE = 0.01, 0.1, 0.05  # seconds between two looks; without NumPy
_LOOKS = 100  # in which the pauses between looks become as long as the time since something changed
_SAMPLES, _SHARE = 20, 0.1  # looks in which a function is there before it is hot, and their share
_OF_PACKAGES = frozenset({"site-packages", "dist-packages"})  # wherever they are
_DEEPEST = 50  # frames that are looked at
_BEGIN = 0.2  # seconds that a script runs as it is: a short one has nothing to gain
_AGAIN = 10.0  # seconds of a script in which what earlier runs have put back is left as it is
_SHORT = 0.1  # seconds that compiling what was captured may always take
_LATER = 1.5  # times as many seconds of the script as when a compilation was put off
_LAST = 0.3  # seconds to wait at the end


class _Looks:
    """In how many looks each function was there, and in how many it was the innermost one."""

    def __init__(self) -> None:
        self.count = 0
        self.there: dict[Place, int] = {}
        self.innermost: dict[Place, int] = {}

    def note(self, places: list[Place]) -> None:
        """Functions of the program's in one thread, the innermost first."""
        for each in dict.fromkeys(places):
            self.there[each] = self.there.get(each, 0) + 1
        for each in places[:1]:
            self.innermost[each] = self.innermost.get(each, 0) + 1

    def share(self, place: Place) -> float:
        """Of all looks, those in which it was there."""
        return self.there.get(place, 0) / max(self.count, 1)


class _Watch:
    """The functions of a script, by what was seen of them."""

    def __init__(self, report: str = "") -> None:
        self.report = report  # the page that is to be written
        self.reported: Reported | None = None
        self.start = self.changed = time.perf_counter()
        self.spent = 0.0  # seconds of the processor that this thread has taken
        self.compiled: list[float] = []  # the seconds of each compilation
        self.last = 0.0  # that the script took in an earlier run; 0 if that is not known
        self.looks = _Looks()
        self.known: dict[int, tuple[CodeType, Place | None]] = {}  # by identity; of the program's
        self.codes: dict[Place, tuple[CodeType, dict[str, Any]]] = {}
        # How often each line, if code has one, was seen running.
        self.slow: dict[tuple[Place, int | None], int] = {}
        self.hot: dict[Place, list[HotFunction]] = {}  # those that were taken up
        self.verdicts: dict[Place, str | None] = {}  # of earlier runs; None if there is none
        self.others = _folders()
        self.looks_shared = False  # several threads have been seen in the program
        self.process, self.thread = os.getpid(), 0
        self.is_over = False
        self.working = _thread.allocate_lock()  # held over imports and compilations

    def run(self) -> None:
        self.thread = threading.get_ident()
        _leave_signals()
        while not self.is_over:
            time.sleep(self.pause())
            if "numpy" in sys.modules:
                try:
                    self.look()
                    if self.hot or self.frequent():
                        from fxc.ir.forking import compiling

                        with compiling(), self.working:  # imports, too: Note [Forks]
                            self.work()
                except Exception:
                    if "FXC_RUN_DEBUG" in os.environ:
                        raise
                    return  # the script goes on as it is

    def pause(self) -> float:
        """Seconds to the next look; each takes the interpreter's lock from the program."""
        if "numpy" not in sys.modules:
            return _IDLE
        age = time.perf_counter() - self.changed
        return min(max(age / _LOOKS, _SHORTEST), _LONGEST)

    def look(self) -> None:
        """Note which functions are running."""
        self.looks.count += 1
        running = [self.places(frame) for frame in self.frames()]
        self.looks_shared |= sum(map(bool, running)) > 1
        for places in running:
            self.looks.note(places)

    def frames(self) -> list[FrameType]:
        """Where the other threads are: this one runs code of the program when it captures it."""
        return [frame for key, frame in sys._current_frames().items() if key != self.thread]

    def places(self, frame: FrameType | None) -> list[Place]:
        """The functions of the program's that are running in a thread, the innermost first, and
        the top levels of its files.
        """
        found: list[Place] = []
        for _ in range(_DEEPEST):
            if frame is None:
                break
            code = frame.f_code
            known = self.known.get(id(code))
            place = self.place(code, frame.f_globals) if known is None else known[1]
            if place is not None:
                if not found:
                    line = place, frame.f_lineno
                    self.slow[line] = self.slow.get(line, 0) + 1
                found.append(place)
            frame = frame.f_back
        return found

    def place(self, code: CodeType, names: dict[str, Any]) -> Place | None:
        """The place of a code that was not seen before, if it is of the program."""
        name, flags = code.co_filename, code.co_flags
        is_function = flags & 0x1 and not flags & 0x2A0 and not code.co_name.startswith("<")
        place = None
        if (is_function or code.co_name == "<module>") and self.is_of_program(name):
            place = name, code.co_firstlineno, code.co_name
            if is_function:
                self.codes.setdefault(place, (code, names))
        self.known[id(code)] = code, place
        return place

    def is_of_program(self, name: str) -> bool:
        """Whether a file is the program's, and no library's."""
        if name.startswith("<"):
            return False
        path, numpy = os.path.realpath(name), os.path.dirname(sys.modules["numpy"].__file__ or "")
        others = (*self.others, os.path.dirname(os.path.realpath(numpy)) + os.sep)
        return not path.startswith(others) and not _OF_PACKAGES.intersection(path.split(os.sep))

    def frequent(self) -> list[Place]:
        """The functions that are running often, if there is time for them."""
        looks = self.looks
        if self.is_over or looks.count < _SAMPLES or self.elapsed() < _BEGIN:
            return []
        return [each for each in looks.there if looks.share(each) >= _SHARE]

    def work(self) -> None:
        """Take up functions that are hot, and compile for those that ask."""
        for each in self.all_hot():
            if each.unkept and each.stage in ("live", "over"):
                with self.spending():
                    each.keep()
            if each.stage == "waiting" and self.elapsed() > each.until:
                each.count()
        hot, looks = self.frequent(), self.looks
        for place in hot:
            found = self.codes.get(place)
            if found is None or place in self.hot or looks.there[place] < _SAMPLES:
                continue
            if not _uses_numpy(found[1]):
                self.hot[place] = []
            elif self.may_compile(place):
                self.hot[place] = self.take_up(*found)
        asked = [
            (looks.innermost.get(place, 0), looks.share(place), place, each)
            for place in hot
            for each in self.hot.get(place, ())
            if each.stage == "asked" and self.may_compile(place)
        ]
        if asked:
            _, _, place, first = max(asked, key=lambda one: one[:2])
            self.compile(first, place)
            self.looks = _Looks()  # what was slow before it says little of what is slow now
            self.changed = time.perf_counter()

    def take_up(self, code: CodeType, names: dict[str, Any]) -> list[HotFunction]:
        """The functions of a code, which ask from now on."""
        with self.spending():
            from fxc.scripts.swapping import asking, functions_of

            functions = functions_of(code, names)
            found = asking(code) if 0 < len(functions) <= 8 else None
            if found is None:
                return []
            from fxc.scripts.hot import HotFunction

            taken = [HotFunction(function, found, self.is_shared) for function in functions]
            for each in taken:
                each.since = self.elapsed()
            return taken

    def verdict(self, place: Place) -> str | None:
        """Why earlier runs have put a function back; '' if they have compiled code for it, None if
        nothing is known, or not asked any more. A report shows it anew."""
        if place not in self.verdicts and not self.report:
            with self.spending():
                from fxc.scripts.verdicts import seconds_before, verdict

                self.last = self.last or seconds_before()
                self.verdicts[place] = verdict(self.codes[place][0])
        said = self.verdicts.get(place)
        return None if said and self.elapsed() > _AGAIN else said

    def is_shared(self) -> bool:
        """Whether several threads run functions of the program."""
        if not self.looks_shared:
            self.looks_shared = sum(bool(self.places(frame)) for frame in self.frames()) > 1
        return self.looks_shared

    def elapsed(self) -> float:
        """Seconds of the script so far, without those in which it has waited."""
        return min(time.perf_counter() - self.start, time.process_time())

    def may_compile(self, place: Place) -> bool:
        """Whether there is time to compile a function, as far as is known of it."""
        from fxc.scripts.budget import cost

        found = self.hot.get(place, ())
        return self.room(place) > cost(self.compiled, self.verdict(place), found)

    def room(self, place: Place) -> float:
        """Seconds that may be spent on a function."""
        from fxc.scripts.budget import allowance, hope

        hot, is_kept, own = self.all_hot(), self.verdicts.get(place) == "", self.hot.get(place, ())
        earlier = (self.verdicts[each] for each in set(self.verdicts).difference(self.hot))
        others = [each for each in hot if each not in own]
        hoped = hope(self.looks.share(place), others, earlier, is_kept)
        return allowance(self.elapsed(), self.last, hot, hoped) - self.spent

    def compile(self, hot: HotFunction, place: Place) -> None:
        """Compile a function for what it has asked for; put it back if that cannot be done."""
        from fxc.ir.errors import PutOff
        from fxc.ir.steps import listening
        from fxc.scripts.budget import import_compiler, is_imported

        spent = self.spent
        if self.verdicts.get(place) != "" and not is_imported():  # what is on disk needs none
            with self.spending():
                import_compiler()
        share, room = self.looks.share(place), max(self.room(place), _SHORT)
        with self.spending():
            try:
                with self.tracing(), listening(self.go_on):
                    hot.compile(room, share)
            except PutOff as error:
                hot.wait(self.elapsed() * max(error.seconds / room, _LATER), error.seconds)
            except Exception as error:  # refused, or the program's own error
                hot.refuse(str(error).partition("\n")[0] or type(error).__name__)
        self.compiled.append(self.spent - spent)

    def go_on(self, *step: object) -> None:
        """Go on with a compilation, unless the program has ended, which would wait for it."""
        if self.is_over:
            from fxc.ir.errors import PutOff

            raise PutOff(math.inf)

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """In the block, count the time of this thread, and keep its warnings apart."""
        began = time.thread_time()
        from fxc.scripts.warnings_apart import warnings_apart

        try:
            with warnings_apart():
                yield
        finally:
            self.spent += time.thread_time() - began

    def tracing(self) -> AbstractContextManager[None]:
        if not self.report:
            return contextlib.nullcontext()
        from fxc.scripts.reported import Reported

        self.reported = self.reported or Reported()
        return self.reported.compiling()

    def all_hot(self) -> list[HotFunction]:
        return [each for some in list(self.hot.values()) for each in some]

    def end(self) -> None:
        """Compile no more, and wait for what is being compiled, as LLVM is taken down next; but
        not for long: it would wait for the program's end, too.
        """
        self.is_over = True
        if os.getpid() == self.process and self.working.acquire(timeout=_LAST):
            try:
                if self.verdicts:
                    self.keep()
            finally:
                self.working.release()

    def keep(self) -> None:
        """Let later runs know what was compiled, what has gained nothing, and how long it took."""
        from fxc.scripts.verdicts import keep_seconds, verdict_now

        elapsed = self.elapsed()
        keep_seconds(elapsed, self.last)
        for place, before in self.verdicts.items():
            found = self.hot.get(place, ())
            for each in found:
                each.keep()
            verdict_now(self.codes[place][0], before, found, elapsed)

    def tell(self, is_quiet: bool, stderr: os.stat_result | None) -> None:
        """Write the page, and say on stderr what was gained, if stderr is still what it was."""
        if os.getpid() != self.process:
            return
        page = [self.page()] if self.report else []
        if not is_quiet and stderr is not None:
            from fxc.scripts.telling import say, summary

            say([summary(self.hot, self.slow, self.verdicts), *page], stderr)

    def forget(self) -> None:
        """Keep nothing of the program alive: its objects are to end when Python ends."""
        for each in self.all_hot():
            each.let_go()
        for kept in (self.hot, self.known, self.codes):
            kept.clear()

    def page(self) -> str:
        if self.reported is None:
            return f"{self.report} is not written: nothing was compiled"
        return self.reported.write(self.report, os.path.basename(sys.argv[0]))


def _status() -> os.stat_result | None:
    """Of stderr, if it is open."""
    try:
        return os.fstat(2)
    except OSError:
        return None


def _leave_signals() -> None:
    """Let signals reach the threads of the program, which they wake."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


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


def watch(options: str, report: str) -> None:
    """Begin to watch this process; ``options`` are words: ``quiet`` says nothing at the end.
    ``report`` is the path of the page to write, if there is to be one.
    """
    found = _Watch(report)
    atexit.register(found.forget)  # the last, as what is registered last is called first
    atexit.register(found.tell, "quiet" in options.split(), _status())
    atexit.register(found.end)
    _thread.start_new_thread(found.run, ())
