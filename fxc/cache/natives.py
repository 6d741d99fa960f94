"""Native functions for the calls of compilations that are kept. See Note [Native calls]."""

from __future__ import annotations

import io
import zlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

from fxc.compilations.native_calls import NativeCall, new_counter
from fxc.ir.asynchronous import hand_on
from fxc.ir.digesting import digest
from fxc.ir.logs import ROOT
from fxc.runtime.engine import Engine

from . import folder
from .by_reference import ReferenceReader, ReferenceWriter

if TYPE_CHECKING:
    from fxc.compilations.variants import Variant
    from fxc.ir.behind import Behind


def restored_native_call(
    variant: Variant, behind: Behind, function: FunctionType, spent: object
) -> NativeCall | None:
    """What ``keep_native_call`` has kept for calls of a compilation that was kept."""
    made = variant.compilation.assembled
    found = folder.read(_key_of(variant, spent))
    if found is None or made is None:
        return None
    try:
        data, names = zlib.decompress(found), _names(variant, behind)
        text, objects = ReferenceReader(io.BytesIO(data), function, names).load()
    except Exception as error:
        hand_on(error)
        ROOT.info("%s: a native call is not restored: %r", function.__name__, error)
        return None
    engine = Engine(text, b"", (), quick=True)
    return NativeCall(text, engine, made.engine, objects, new_counter())


def keep_native_call(
    native: NativeCall, variant: Variant, behind: Behind, function: FunctionType, spent: object
) -> None:
    """Keep it for later processes, if it has to do with nothing but what they have, too."""
    file = io.BytesIO()
    names = {id(value): name for name, value in _names(variant, behind).items()}
    try:
        _Writer(file, function, [], names).dump((native.text, native.objects))
    except Exception as error:
        hand_on(error)
        ROOT.info("%s: a native call is not stored: %s", function.__name__, error)
        return
    folder.write(_key_of(variant, spent), zlib.compress(file.getvalue(), 1))


class _Writer(ReferenceWriter):
    """Writes what guards and results mention by its name there: it is the same object."""

    def persistent_id(self, value: object) -> Any:
        if id(value) in self._late:
            return "late", self._late[id(value)]
        return super().persistent_id(value)


def _names(variant: Variant, behind: Behind) -> dict[str, Any]:
    """The objects that native code mentions, by name."""
    captured = variant.captured
    names = captured.guards.namespace
    if captured.epilogue is not None:
        found = captured.epilogue.finish.__globals__
        names |= {f"finish {name}": value for name, value in found.items()}
        names["finish"] = captured.epilogue.finish
    return {**names, **{f"behind {name}": value for name, value in behind.names.items()}}


def _key_of(variant: Variant, spent: object) -> bytes:
    return digest(variant.kept + repr(spent).encode())
