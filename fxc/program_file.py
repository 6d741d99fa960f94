"""The file form of exported programs: a line that says what it is, a header, the graph, an end.

::

    fxc exported program, format 1
    {"parameters": ["u", "steps"], "arguments": …, "result": …, "leaves": …}

    functional relax(%u: f64[n, m], %steps: py.int)
      …
    end crc32 1c291ca3

The last line tells a whole file from a cut one, and a changed one from what was written; whoever
edits a file by hand leaves the checksum out. Nothing of a file is executed, and a graph that does
not hold what its operators' metas say is not accepted.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import secrets
import zlib
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.atoms import AtomParser
from fxc.ir.errors import ParseError
from fxc.ir.graph import Graph, walk
from fxc.ir.parse import parse_graph
from fxc.ir.records import frozen
from fxc.ir.schema import Schema
from fxc.ir.text import show_scalar
from fxc.ir.tree import LEAF, NONE, TreeSpec, registration
from fxc.ir.types import DTYPE_NAMES
from fxc.ir.verify import problems
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE

FORMAT = 1
# Objects that are saved by their name.
NAMED = (FunctionType, BuiltinFunctionType, ModuleType, type, np.ufunc, type(np.sum))
_TITLE = "fxc exported program, format "


@frozen
class GivenInput:
    """A leaf that is given to an input of the graph; ``at_least`` bounds a Python int."""

    input: int
    at_least: int | None = None


@frozen
class Fixed:
    """A leaf whose value is a part of the program."""

    value: Any


@frozen
class Unread:
    """A leaf that the program has no use for."""


ArgumentLeaf = GivenInput | Fixed | Unread


@frozen
class SavedProgram:
    """What an exported program consists of; see Note [Arguments of an exported program].

    ``parameters`` names the positional arguments, ``leaves`` says what becomes of each leaf of
    ``(args, kwargs)``.
    """

    graph: Graph
    in_spec: TreeSpec
    out_spec: TreeSpec
    parameters: tuple[str, ...]
    leaves: tuple[ArgumentLeaf, ...]


# ------------------------------------------------------------------ files


def write_program(program: SavedProgram, path: str | os.PathLike[str]) -> None:
    """Write a program to a file, which is replaced as a whole or not at all."""
    write_file(program_text(program).encode(), path)


def write_file(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file, which is replaced as a whole or not at all."""
    target = os.path.realpath(path)
    temporary = f"{target}.{secrets.token_hex(4)}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def read_program(path: str | os.PathLike[str]) -> SavedProgram:
    """The program in a file. Raises ``ParseError``, which names the file, if there is none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse_program(data.decode())
    except UnicodeDecodeError:
        problem = "it is no text"
    except ParseError as error:
        problem = str(error)
    except Exception as error:  # whatever reading something that is no program leads to
        problem = f"it is damaged ({type(error).__name__}: {error})"
    raise ParseError(f"{os.fspath(path)} cannot be loaded: {problem}")


# ------------------------------------------------------------------ text


def program_text(program: SavedProgram) -> str:
    """The text of a program. Raises ``ValueError`` if something in it has no text."""
    header = {
        "parameters": program.parameters,
        "arguments": _show_spec(program.in_spec),
        "result": _show_spec(program.out_spec),
        "leaves": [_show_leaf(leaf) for leaf in program.leaves],
    }
    for node in walk(program.graph.body):
        if not TABLE.lists(node.op):
            raise ValueError(
                f"{program.graph.name} cannot be saved: it calls a function that is no part of "
                f"NumPy or fxc ({node.op})"
            )
    graph = str(program.graph)
    body = f"{_TITLE}{FORMAT}\n{json.dumps(header)}\n\n{graph}\n"
    try:
        faithful = str(parse_graph(graph, TABLE.schema_of)) == graph
    except ParseError:
        faithful = False
    if not faithful:
        raise ValueError(
            f"{program.graph.name} cannot be saved: its result holds an object that is neither an "
            "array, a number, a string nor None"
        )
    return f"{body}end crc32 {zlib.crc32(body.encode()):08x}\n"


def parse_program(text: str) -> SavedProgram:
    """The program with this text. Raises ``ParseError``, and for a damaged one whatever fails."""
    title, _, rest = text.replace("\r\n", "\n").partition("\n")
    if not title.startswith(_TITLE):
        raise ParseError("it is no exported program")
    number = title.removeprefix(_TITLE)
    if number != str(FORMAT):
        newer = number.isdecimal() and len(number) < 10 and int(number) > FORMAT
        why = "a newer fxc has written it" if newer else "there is no such format"
        raise ParseError(f"it has the format {number[:20]}, and this fxc reads {FORMAT}: {why}")
    body, _, end = rest.rstrip("\n").rpartition("\n")
    _check_end(f"{title}\n{body}\n", end)
    header, _, graph = body.partition("\n")
    return _parse_parts(json.loads(header), graph)


def _check_end(body: str, end: str) -> None:
    if end != "end" and not end.startswith("end crc32 "):
        raise ParseError("it is not complete")
    if end != "end" and end != f"end crc32 {zlib.crc32(body.encode()):08x}":
        raise ParseError("its checksum is wrong (after a change by hand, end it with 'end' alone)")


def _parse_parts(header: Mapping[str, Any], text: str) -> SavedProgram:
    graph = parse_graph(text, _schema_of)
    program = SavedProgram(
        graph,
        _parse_spec(header["arguments"]),
        _parse_spec(header["result"]),
        tuple(map(str, header["parameters"])),
        tuple(map(_parse_leaf, header["leaves"])),
    )
    wrong = problems(graph, table=TABLE.schema_of, meta=types_of)
    if wrong:
        raise ParseError(f"its graph is wrong: {'; '.join(map(str, wrong[:3]))}")
    if not _is_consistent(program):
        raise ParseError("its header and its graph do not belong together")
    return program


def _schema_of(name: str) -> Schema:
    """The schema of an operator, also of one that an installed package offers."""
    if "::" in name and name not in TABLE:
        from .extensions import find_operators

        find_operators(name)
        if name not in TABLE:
            raise ParseError(
                f"it needs the custom operator {name!r}, which is not registered; import what "
                "registers it before"
            )
    return TABLE.schema_of(name)


def _is_consistent(program: SavedProgram) -> bool:
    graph, signature = program.graph, program.graph.signature
    positional, keywords = program.in_spec.children
    inputs = {leaf.input for leaf in program.leaves if isinstance(leaf, GivenInput)}
    return (
        graph.stage == "functional"
        and signature is not None
        and positional.container is tuple
        and keywords.container is dict
        and all(isinstance(key, str) for key in keywords.keys)
        and len(positional.children) == len(program.parameters)
        and program.in_spec.leaf_count == len(program.leaves)
        and program.out_spec.leaf_count == len(signature.outputs)
        and inputs == set(range(len(graph.inputs)))
    )


# ------------------------------------------------------------------ header

_SEQUENCES: dict[str, type] = {"tuple": tuple, "list": list}


def _show_spec(spec: TreeSpec) -> Any:
    """A TreeSpec as JSON: ``"*"`` is a leaf, ``null`` is None, a container is an object."""
    kind = spec.container
    if spec == LEAF:
        return "*"
    if spec == NONE:
        return None
    assert kind is not None
    children = [_show_spec(child) for child in spec.children]
    if kind in _SEQUENCES.values():
        return {kind.__name__: children}
    if registration(kind) is not None:
        raise ValueError(f"{kind.__name__} is a registered pytree node, which cannot be saved")
    if kind is dict:
        return {"dict": children, "keys": [_show_object(key) for key in spec.keys]}
    return {"class": name_of(kind), "fields": spec.keys, "items": children}


def _parse_spec(shown: object) -> TreeSpec:
    match shown:
        case "*":
            return LEAF
        case None:
            return NONE
        case {"tuple": children}:
            return TreeSpec(tuple, (), tuple(map(_parse_spec, children)))
        case {"list": children}:
            return TreeSpec(list, (), tuple(map(_parse_spec, children)))
        case {"dict": children, "keys": keys}:
            spec = TreeSpec(
                dict, tuple(map(_parse_object, keys)), tuple(map(_parse_spec, children))
            )
            if len(set(spec.keys)) != len(spec.children):
                raise ParseError("a dict in its header has not one key for each value")
            return spec
        case {"class": name, "fields": fields, "items": children}:
            kind = _record_class(str(name), tuple(map(str, fields)))
            return TreeSpec(kind, tuple(fields), tuple(map(_parse_spec, children)))
        case _:
            raise ParseError(f"its header holds {str(shown)[:40]!r}, which is no container")


def _record_class(name: str, fields: tuple[str, ...]) -> type:
    """The named tuple or dataclass of this name, if it still has these fields."""
    kind = _found(name)
    found: tuple[str, ...] | None = None
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        found = tuple(kind._fields)
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
        found = tuple(field.name for field in dataclasses.fields(kind))
    if found is None:
        raise ParseError(f"{name} is no named tuple and no dataclass any more")
    assert isinstance(kind, type)
    if found != fields:
        had, has = ", ".join(fields), ", ".join(found)
        raise ParseError(f"{name} had the fields {had} when this was saved, and now has {has}")
    return kind


def _show_leaf(leaf: ArgumentLeaf) -> Any:
    match leaf:
        case GivenInput(place, None):
            return {"input": place}
        case GivenInput(place, at_least):
            return {"input": place, "at_least": at_least}
        case Fixed(value):
            return {"fixed": _show_object(value)}
        case Unread():
            return {}


def _parse_leaf(shown: object) -> ArgumentLeaf:
    match shown:
        case {"input": int(place), "at_least": int(low)}:
            return GivenInput(place, low)
        case {"input": int(place)}:
            return GivenInput(place)
        case {"fixed": value}:
            return Fixed(_parse_object(value))
        case _:
            return Unread()


# ------------------------------------------------------------------ objects


def _show_object(value: object) -> Any:
    """A plain object as JSON; numbers as in graphs, so that their bits are kept."""
    match value:
        case None | str():
            return value
        case bool() | int() | float() | complex() | np.generic() if _has_text(value):
            return {"number": show_scalar(value)}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case tuple():
            return {"tuple": [_show_object(item) for item in value]}
        case range() | slice():
            parts = (value.start, value.stop, value.step)
            return {type(value).__name__: [_show_object(part) for part in parts]}
        case np.dtype() if value.fields is None and np.dtype(value.str) == value:
            return {"dtype": value.str}
        case _ if isinstance(value, NAMED):
            return {"object": name_of(value)}
        case _ if value is Ellipsis:
            return {"ellipsis": True}
        case _:
            raise ValueError(f"a program with {value!r} in it cannot be saved")


def _has_text(value: object) -> bool:
    if isinstance(value, np.generic):
        return value.dtype in DTYPE_NAMES
    return type(value) in (bool, int, float, complex)


def _parse_object(shown: object) -> Any:
    match shown:
        case None | str():
            return shown
        case {"number": str(text)}:
            return AtomParser(text).scalar()
        case {"bytes": str(text)}:
            return base64.b64decode(text, validate=True)
        case {"tuple": list(items)}:
            return tuple(map(_parse_object, items))
        case {"range": [start, stop, step]}:
            return range(*map(_parse_object, (start, stop, step)))
        case {"slice": [start, stop, step]}:
            return slice(*map(_parse_object, (start, stop, step)))
        case {"dtype": str(text)}:
            return np.dtype(text)
        case {"object": str(name)}:
            return _found(name)
        case {"ellipsis": True}:
            return Ellipsis
        case _:
            raise ParseError(f"its header holds {str(shown)[:40]!r}, which is no object")


def name_of(thing: Any) -> str:
    """``module:name``, by which a class, a function or a module is found when loading."""
    if isinstance(thing, ModuleType):
        return f"{thing.__name__}:"
    module = "numpy" if isinstance(thing, np.ufunc) else getattr(thing, "__module__", None)
    name = f"{module}:{getattr(thing, '__qualname__', thing.__name__)}"
    try:
        found = _found(name)
    except ParseError:
        found = None
    if found is not thing:
        raise ValueError(
            f"a program that depends on {thing!r} cannot be saved: it would not be found again "
            f"as {name}; define it at the top of a module"
        )
    return name


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split(".") if path else ():
            found = getattr(found, part)
    except Exception as error:
        raise ParseError(f"it needs {name}, which is not there ({error})") from None
    return found
