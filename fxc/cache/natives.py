"""Native functions for the calls of compilations that are kept. See Note [Native calls]."""

from __future__ import annotations

import io
import pickle
import zlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

from fxc.capture.guards.program import is_serving
from fxc.compilations.native_calls import NativeCall, new_counter
from fxc.ir.asynchronous import hand_on
from fxc.ir.digesting import digest
from fxc.ir.logs import ROOT
from fxc.runtime.engine import Engine

from . import folder
from .by_reference import ReferenceReader, ReferenceWriter

if TYPE_CHECKING:
    from fxc.compilations.variants import Variant


def restored_native_call(
    variant: Variant, function: FunctionType, spent: object
) -> NativeCall | None:
    """What ``keep_native_call`` has kept for calls of a compilation that was kept."""
    made = variant.compilation.assembled
    found = folder.read(_key_of(variant, spent))
    if found is None or made is None:
        return None
    try:
        is_served, data = pickle.loads(zlib.decompress(found))
        names = _names(variant)
        if is_served:
            names["serve"] = _serve(variant)
        text, objects = ReferenceReader(io.BytesIO(data), function, names).load()
    except Exception as error:
        hand_on(error)
        ROOT.info("%s: a native call is not restored: %r", function.__name__, error)
        return None
    engine = Engine(text, b"", (), quick=True)
    return NativeCall(text, engine, made.engine, objects, new_counter())


def keep_native_call(
    native: NativeCall, variant: Variant, function: FunctionType, spent: object
) -> None:
    """Keep it for later processes, if it has to do with nothing but what they have, too."""
    file = io.BytesIO()
    names = {id(value): name for name, value in _names(variant).items()}
    served = [each for each in native.objects if is_serving(each)]
    names |= {id(each): "serve" for each in served}
    try:
        _Writer(file, function, [], names).dump((native.text, native.objects))
    except Exception as error:
        hand_on(error)
        ROOT.info("%s: a native call is not stored: %s", function.__name__, error)
        return
    content = pickle.dumps((bool(served), file.getvalue()))
    folder.write(_key_of(variant, spent), zlib.compress(content, 1))


def _serve(variant: Variant) -> Any:
    """What runs behind the guards, where these alone are native."""
    captured, run = variant.captured, variant.compilation.run
    if variant.watch is not None:
        run = variant.watch.served
    finish = None if captured.epilogue is None else captured.epilogue.finish
    return captured.guards.serve(run, finish, variant)


class _Writer(ReferenceWriter):
    """Writes what guards and results mention by its name there: it is the same object."""

    def persistent_id(self, value: object) -> Any:
        if id(value) in self._late:
            return "late", self._late[id(value)]
        return super().persistent_id(value)


def _names(variant: Variant) -> dict[str, Any]:
    """The objects that guards and results mention, by name."""
    captured = variant.captured
    names = captured.guards.namespace
    if captured.epilogue is not None:
        found = captured.epilogue.finish.__globals__
        names |= {f"finish {name}": value for name, value in found.items()}
    return names


def _key_of(variant: Variant, spent: object) -> bytes:
    return digest(variant.kept + repr(spent).encode())
