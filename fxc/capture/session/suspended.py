"""Generators of the program that a capture leaves before their end."""

from __future__ import annotations

import dis
import inspect
from contextlib import suppress
from typing import Any

from fxc.ir.error_kinds import ITERATOR

from .refusing import Respecialise, refuse
from .session import Session


def check_generators(session: Session) -> None:
    """Refuse a generator that is left before its end if more than its frame ends there: Python
    has closed it at once, but what took its items here may have held it until now. One that is
    left in a branch or loop of the graph has not ended what it records.
    """
    if session.region:
        raise refuse(
            ITERATOR,
            "a generator that is left inside of a branch or loop on elements, before its end,",
            "run it to its end",
        )
    for generator in list(session.generators):
        if _is_in_handler(generator):
            raise refuse(
                ITERATOR,
                "a generator that is left inside of try or with, before its end,",
                "run it to its end",
            )


def close_generators(session: Session) -> None:
    """Close generators that a capture has left suspended, while what they hold is still worth
    something: their handlers and ``finally`` would run later, anywhere. Nothing comes of it.
    """
    kept = session.error, session.retries
    with session.active():
        for generator in list(session.generators):
            if generator.gi_frame is not None:
                with suppress(Exception, Respecialise):
                    generator.close()
    session.error, session.retries = kept


def _is_in_handler(generator: Any) -> bool:
    """Whether a generator waits inside of ``try`` or ``with``."""
    if inspect.getgeneratorstate(generator) != inspect.GEN_SUSPENDED:
        return False
    code, place = generator.gi_code, generator.gi_frame.f_lasti
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    entries: Any = dis.Bytecode(code)
    while True:
        handlers = [x.target for x in entries.exception_entries if x.start <= place < x.end]
        if not handlers or names[handlers[0]] == _OF_EACH_GENERATOR:
            return False
        if names[handlers[0]] != _OF_EACH_YIELD_FROM:
            return True
        place = handlers[0]  # it may stand inside of the program's


# What a handler begins with that each generator has from Python 3.12 on, and each ``yield from``.
_OF_EACH_GENERATOR, _OF_EACH_YIELD_FROM = "CALL_INTRINSIC_1", "CLEANUP_THROW"
