"""Calls of what is no code of the program's: NumPy's functions, builtins, libraries in C."""

from __future__ import annotations

from fxc.ir.later import import_later

from .staged import Staged


class PlainCalls(Staged):
    """Such calls in one capture. See Note [Rooms with one door]."""

    call_ufunc = import_later("fxc.capture.door.unstaged", "call_ufunc")
    call_numpy = import_later("fxc.capture.door.unstaged", "call_numpy")
    eager = import_later("fxc.capture.door.unstaged", "eager")
    builtin = import_later("fxc.capture.door.unstaged", "builtin")
    unknown = import_later("fxc.capture.door.unstaged", "unknown")
    foreign = import_later("fxc.capture.door.unstaged", "foreign")
    method_of_library = import_later("fxc.capture.door.unstaged", "method_of_library")
    remembered = import_later("fxc.capture.door.unstaged", "remembered")
    refuse_call = import_later("fxc.capture.door.unstaged", "refuse_call")

    # What the program shows: functions that are to be called, and warnings at its line.
    show = import_later("fxc.capture.door.shows", "show")
    warn = import_later("fxc.capture.door.shows", "show_warning")
