"""Compilations as bytes, for processes that shall neither capture nor compile again.

See Note [Stored compilations].
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import sys
from collections.abc import Collection, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.digesting import digest
from fxc.ir.graph import Graph, walk
from fxc.ir.logs import RECOMPILES
from fxc.ir.records import frozen
from fxc.ir.version import __version__

from .by_reference import NotStored, ReferenceReader, ReferenceWriter

if TYPE_CHECKING:
    from fxc.compilations.state import Options
    from fxc.compilations.variants import Variant

# Note [Stored compilations]
# A stored compilation is what a variant is made of, pickled: the capture (graph, guard program,
# epilogue), the graphs of the later stages, the module of native code with its object code. Plans,
# epilogues and guards are Python source anyway, and are compiled where they are read.
# What a process has of its own is written as a reference: a function by its name, or as that which
# the compilation is of; its globals, its variables from around, its code by the function; a class
# by its name. Functions and classes are compared by what they say, so that no compilation is read
# which has to do with one that has been edited: what a capture takes for granted of a class, say
# that it has no __setattr__, no guard checks. All else that a guard compares by identity is another
# object in another process: the guard fails, and the function is captured there.
# Who reads it has to be alike: the same fxc, NumPy, Python, LLVM, and processor. What cannot be
# written, or read, is left out; nothing depends on it but time.

_FORMAT = 2


@frozen
class StoredVariant:
    """What a variant is made of."""

    captured: Any
    functional: Graph
    decomposed: Graph
    module: Any
    relations: tuple[Any, ...]
    key: object
    is_tried: bool
    codes: dict[bytes, bytes]


def alike() -> bytes:
    """A digest of what processes have to have in common to read each other's compilations."""
    from fxc.runtime.engine import made_for

    known = (
        _FORMAT,
        __version__,
        np.__version__,
        sys.version,
        platform.machine(),
        made_for(),
        os.environ.get("OPENBLAS_CORETYPE"),
    )
    return digest(repr(known).encode())


def store(variants: Sequence[Variant], function: Any, options: Options) -> bytes:
    """The compilations of a function, those that can be stored; empty if there are none."""
    if not _is_storable(function, options):
        return b""
    for variant in variants:
        if not variant.stored:
            try:
                variant.stored = _text_of(variant, function)
            except (NotStored, pickle.PicklingError, TypeError, AttributeError) as error:
                RECOMPILES.info("%s: a compilation is not stored: %s", function.__name__, error)
    texts = [variant.stored for variant in variants if variant.stored]
    return pickle.dumps((alike(), options.math, texts)) if texts else b""


def _is_storable(function: Any, options: Options) -> bool:
    return isinstance(function, FunctionType) and options.backend == "llvm" and not options.passes


def _text_of(variant: Variant, function: FunctionType) -> bytes:
    from fxc.ops.table import TABLE
    from fxc.runtime.engine import object_codes

    captured, made = _whole(variant.captured), variant.compilation
    if made.assembled is None:
        raise NotStored("it has no native code")
    for node in walk(captured.graph.body):
        if not TABLE.lists(node.op) or "::" in node.op:
            raise NotStored(f"{node.op} is an operator of this process")
    module = made.assembled.module
    stored = StoredVariant(
        captured,
        made.functional,
        made.decomposed,
        module,
        made.relations,
        variant.key,
        variant.is_tried,
        object_codes(module.text, module.user_loops, module.support),
    )
    constants = dict(captured.guards.constants)
    if captured.epilogue is not None:
        constants |= captured.epilogue.constants
    functions = [each for each in constants.values() if isinstance(each, FunctionType)]
    file = io.BytesIO()
    ReferenceWriter(file, function, functions).dump(stored)
    return file.getvalue()


def _whole(captured: Any) -> Any:
    """A capture that may have been restored from the disk cache, where parts of it wait."""
    return captured.whole() if hasattr(captured, "whole") else captured


def restore(
    data: bytes, function: Any, options: Options, known: Collection[bytes] = ()
) -> list[Variant]:
    """The compilations of a function that ``store`` has written, if this process can run them, but
    for those ``known``.
    """
    name = getattr(function, "__name__", "")
    if not _is_storable(function, options):
        return []
    try:
        made_by, math, texts = pickle.loads(data)
        if made_by != alike() or math != options.math:
            RECOMPILES.info("%s: stored compilations are of another environment", name)
            return []
    except Exception as error:  # whatever bytes that are none of ours lead to
        RECOMPILES.info("%s: stored compilations are not read: %r", name, error)
        return []
    variants = []
    for text in texts:
        if text not in known:
            try:
                variants.append(_variant_of(text, function))
            except Exception as error:
                RECOMPILES.info("%s: a stored compilation is not read: %r", name, error)
    return variants


def _variant_of(text: bytes, function: FunctionType) -> Variant:
    from fxc.compilations.traits import traits_of
    from fxc.compilations.variants import Variant
    from fxc.pipeline.stages import reassembled
    from fxc.runtime.engine import keep_object_codes

    stored = ReferenceReader(io.BytesIO(text), function).load()
    keep_object_codes(stored.codes)
    graphs = (stored.functional, stored.decomposed)
    made = reassembled(stored.captured, graphs, stored.module, stored.relations)
    traits = traits_of(stored.captured, made)
    variant = Variant(stored.captured, made, stored.key, stored.is_tried, traits)
    variant.stored = text
    return variant
