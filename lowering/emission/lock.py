"""Native code gives up the interpreter lock while it works for long, and looks for signals.

See Note [The interpreter lock].
"""

from __future__ import annotations

import os
import time

from .emitter import Emitter
from .llvm_text import ModuleText

# Note [The interpreter lock]
# A function with long loops has a *state* in its stack frame: the thread's state of Python while
# the lock is given up, and when it was last looked for signals. ``fxc.look`` is called by loops now
# and then: it takes the lock if it was given up, asks PyErr_CheckSignals, and gives the lock up
# for what follows. So the lock is given up by the first look, and with each other one, some
# milliseconds apart, it is had for a moment. ``enter`` takes it for good: where the function ends,
# however that is, and where it goes on to what needs the lock.
# - What runs without the lock touches no object: loops over memory, products, inner loops of
#   NumPy's. Sizes, numbers and pointers were read before. NumPy does without the lock in the same
#   places, so what other threads may do to arrays meanwhile is what they may do during its calls.
#   The arrays themselves are held by who calls, and are not resized while there are references.
# - A function that calls NumPy or Python in its loops keeps the lock, but at a look, if it had it
#   for some milliseconds, it lets others have it in between, as the interpreter does.
# - One that draws random numbers keeps it: the state of a generator is in its hands.
# - Who asks for the lock may wait as long as Python's interval, if others compute in Python. So
#   loops that are short hold it: see ``runtime/pool_code.py``.

KEEPS, YIELDS, LEAVES = range(3)  # what a look does with the lock

_NANOSECONDS = 5_000_000  # between two looks that take the lock
_LOOK_NAME = '@"fxc.look"'
# What loops have in registers stays there, but for vectors: those, with preserve_allcc, LLVM relies
# on, too, and clears their upper halves before the return (vzeroupper).
_LOOKS = f"preserve_mostcc i1 {_LOOK_NAME}(ptr %state, i64 %how) cold nounwind"
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)
_NOW = (
    f"""\
declare i32 @clock_gettime(i32, ptr)
define i64 @"fxc.now"() nounwind {{
  %place = alloca [2 x i64], align 8
  %failed = call i32 @clock_gettime(i32 {_CLOCK}, ptr %place)
  %seconds = load i64, ptr %place, align 8
  %rest.at = getelementptr i64, ptr %place, i64 1
  %rest = load i64, ptr %rest.at, align 8
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}}
"""
    if os.name == "posix"
    else """\
declare i64 @llvm.readcyclecounter()
define i64 @"fxc.now"() nounwind {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}
"""
)
_LOOK = f"""\
declare i32 @PyErr_CheckSignals()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
{_NOW}define {_LOOKS} {{
entry:
  %last.at = getelementptr i64, ptr %state, i64 1
  %saved = load ptr, ptr %state, align 8
  %last = load i64, ptr %last.at, align 8
  %now = call i64 @"fxc.now"()
  %passed = sub i64 %now, %last
  %is.early = icmp slt i64 %passed, {_NANOSECONDS}
  %is.first = icmp eq i64 %last, 0
  %is.left = icmp ne ptr %saved, null
  br i1 %is.left, label %away, label %ask
away:
  br i1 %is.early, label %fine, label %enter
enter:
  call void @PyEval_RestoreThread(ptr %saved)
  store ptr null, ptr %state, align 8
  br label %ask
ask:
  %found = call i32 @PyErr_CheckSignals()
  %raised = icmp ne i32 %found, 0
  br i1 %raised, label %bad, label %good
good:
  %leaves = icmp eq i64 %how, {LEAVES}
  br i1 %leaves, label %leave, label %stay
leave:
  %own = call ptr @PyEval_SaveThread()
  store ptr %own, ptr %state, align 8
  br label %note
stay:
  br i1 %is.first, label %note, label %late
late:
  %keeps = icmp eq i64 %how, {KEEPS}
  %holds.on = or i1 %keeps, %is.early
  br i1 %holds.on, label %fine, label %yield
yield:
  %mine = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %mine)
  br label %note
note:
  %then = call i64 @"fxc.now"()
  store i64 %then, ptr %last.at, align 8
  ret i1 false
fine:
  ret i1 false
bad:
  ret i1 true
}}
"""

# In plain code (Note [Plain entries]) the functions come from the pointer table: one that is asked
# whether to stop, with its argument, and those that give up the lock and take it, if there are any.
ASK = "ask"
_ASK = """\
define internal i1 @"fxc.ask"(ptr %asked, ptr %data, ptr %leave, ptr %enter, ptr %state) \
cold noinline nounwind {
entry:
  %nobody = icmp eq ptr %asked, null
  br i1 %nobody, label %fine, label %look
look:
  %saved = load ptr, ptr %state, align 8
  %has = icmp eq ptr %saved, null
  br i1 %has, label %ask, label %take
take:
  call void %enter(ptr %saved)
  store ptr null, ptr %state, align 8
  br label %ask
ask:
  %found = call i32 %asked(ptr %data)
  %stops = icmp ne i32 %found, 0
  %stays = icmp eq ptr %leave, null
  %keeps = or i1 %stops, %stays
  br i1 %keeps, label %end, label %give
give:
  %own = call ptr %leave()
  store ptr %own, ptr %state, align 8
  br label %fine
end:
  ret i1 %stops
fine:
  ret i1 false
}"""


def prepare(emitter: Emitter, how: int) -> None:
    """Begin a function that looks for signals: it has the lock, and has not looked."""
    f = emitter.function
    emitter.lock, emitter.lets = f.stack("i64", 2), how
    for place in range(2):
        at = f.op(f"getelementptr i64, ptr {emitter.lock}, i64 {place}")
        f.do(f"store i64 0, ptr {at}, align 8")


def look(emitter: Emitter) -> str:
    """The register that says whether a handler has raised; the lock is had then."""
    if emitter.module.plain:
        if _ASK not in emitter.module.functions:
            emitter.module.functions.append(_ASK)
        pairs = [*emitter.inner_loop(ASK, ""), *emitter.inner_loop(ASK, "lock")]
        given = ", ".join(f"ptr {each}" for each in (*pairs, emitter.lock))
        return emitter.function.op(f'call i1 @"fxc.ask"({given})')
    name = function(emitter.module)
    return emitter.function.op(
        f"call preserve_mostcc i1 {name}(ptr {emitter.lock}, i64 {emitter.lets})"
    )


def function(module: ModuleText) -> str:
    """The function that looks, for what calls it."""
    module.support[_LOOK] = None
    module.declare(f"declare {_LOOKS.replace(' %state', '').replace(' %how', '')}")
    return _LOOK_NAME


def enter(emitter: Emitter) -> None:
    """Have the lock from here on, if it was given up."""
    if not emitter.lock:
        return
    f = emitter.function
    restore = "@PyEval_RestoreThread"
    if f.module.plain:
        restore = emitter.inner_loop(ASK, "lock")[1]
    else:
        f.module.declare(f"declare void {restore}(ptr)")
    saved = f.op(f"load ptr, ptr {emitter.lock}, align 8")
    take, on = f.new_label("take"), f.new_label("has")
    f.do(f"br i1 {f.op(f'icmp eq ptr {saved}, null')}, label %{on}, label %{take}")
    f.start(take)
    f.do(f"call void {restore}(ptr {saved})")
    f.do(f"store ptr null, ptr {emitter.lock}, align 8")
    f.do(f"br label %{on}")
    f.start(on)
