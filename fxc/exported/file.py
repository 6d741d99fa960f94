"""The file form of exported programs: a line that says what it is, a header, the graph, an end.

::

    fxc exported program, format 1
    {"parameters": ["u", "steps"], "arguments": …, "result": …, "leaves": …}

    functional relax(%u: f64[n, m], %steps: py.int)
      …
    end crc32 1c291ca3

The last line tells a whole file from a cut one, and a changed one from what was written; whoever
edits a file by hand leaves the checksum out. Nothing of a file is executed, no module is imported
for what it names, and a graph that does not hold what its operators' metas say is not accepted.
"""

# Note [Formats of saved programs]
# What a file says is read by the reader of its format: ``_READERS`` has one for each that there has
# been, and they stay. A reader makes the ``SavedProgram`` of today. A new format is a new number, a
# reader, and a text of a program in tests/front/saved: those of all earlier formats are loaded and
# run there for ever. From format 2 on the first line ends in the oldest fxc that reads the file,
# ``format 2 (fxc 0.3 or later)``, for the message of an older one.

from __future__ import annotations

import json
import os
import re
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NOT_SAVED
from fxc.ir.errors import ParseError, ProgramFileError, UsageError
from fxc.ir.graph import Graph, walk
from fxc.ir.parse import parse_graph
from fxc.ir.records import frozen
from fxc.ir.schema import Schema
from fxc.ir.tree import TreeSpec
from fxc.ir.verify import problems
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE

from .objects import parse_object, parse_spec, show_object, show_spec

FORMAT = 1  # that files are written in; see Note [Formats of saved programs]
_TITLE = "fxc exported program, format "
_FORMAT = re.compile(r"([1-9]\d{0,8})(?: \((fxc [\w.+-]{1,40} or later)\))?")


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
    """Write a file, which is replaced as a whole or not at all.

    An ``OSError`` names ``path``, and not the file beside it that is written first.
    """
    target = os.path.realpath(path)
    temporary = f"{target}.{secrets.token_hex(4)}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


def read_program(path: str | os.PathLike[str]) -> SavedProgram:
    """The program in a file; raises ``ProgramFileError``, which names the file, if it is none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        with np.errstate(all="ignore"):  # numbers that no float holds
            return parse_program(data.decode())
    except UnicodeDecodeError:
        problem = "it is no text"
    except ParseError as error:
        problem = error.text
    except Exception as error:  # whatever reading something that is no program leads to
        problem = f"it is damaged ({type(error).__name__}: {error})"
    raise ProgramFileError(f"{os.fspath(path)} cannot be loaded: {problem}")


# ------------------------------------------------------------------ text


def program_text(program: SavedProgram) -> str:
    """The text of a program. Raises ``ValueError`` if something in it has no text."""
    header = {
        "parameters": program.parameters,
        "arguments": show_spec(program.in_spec),
        "result": show_spec(program.out_spec),
        "leaves": [_show_leaf(leaf) for leaf in program.leaves],
    }
    for node in walk(program.graph.body):
        if not TABLE.lists(node.op):
            raise UsageError(
                NOT_SAVED,
                f"{program.graph.name} cannot be saved: it calls a function that is no part of "
                f"NumPy or fxc ({node.op})",
            )
    graph = str(program.graph)
    body = f"{_TITLE}{FORMAT}\n{json.dumps(header)}\n\n{graph}\n"
    try:
        faithful = str(parse_graph(graph, TABLE.schema_of)) == graph
    except ParseError:
        faithful = False
    if not faithful:
        raise UsageError(
            NOT_SAVED,
            f"{program.graph.name} cannot be saved: its result holds an object that is neither an "
            "array, a number, a string nor None",
        )
    return f"{body}end crc32 {zlib.crc32(body.encode()):08x}\n"


def parse_program(text: str) -> SavedProgram:
    """The program with this text. Raises ``ParseError``, and for a damaged one whatever fails."""
    title, _, rest = text.replace("\r\n", "\n").partition("\n")
    if not title.startswith(_TITLE):
        raise ParseError("it is no exported program")
    shown = title.removeprefix(_TITLE)
    found = _FORMAT.fullmatch(shown)
    if found is None:
        raise ParseError(f"it has the format {shown[:20]!r}, and there is no such format")
    number = int(found[1])
    if number not in _READERS:
        needed = f"it needs {found[2]}" if found[2] else "a newer fxc has written it"
        raise ParseError(f"it has the format {number}, and this fxc reads up to {FORMAT}: {needed}")
    body, _, end = rest.rstrip("\n").rpartition("\n")
    _check_end(f"{title}\n{body}\n", end)
    return _READERS[number](body)


def _read_1(body: str) -> SavedProgram:
    """Format 1: a line of JSON, an empty one, the text of a graph."""
    header, _, graph = body.partition("\n")
    return _parse_parts(json.loads(header), graph)


_READERS: dict[int, Callable[[str], SavedProgram]] = {1: _read_1}


def _check_end(body: str, end: str) -> None:
    if end != "end" and not end.startswith("end crc32 "):
        raise ParseError("it is not complete")
    if end != "end" and end != f"end crc32 {zlib.crc32(body.encode()):08x}":
        raise ParseError("its checksum is wrong (after a change by hand, end it with 'end' alone)")


def _parse_parts(header: Mapping[str, Any], text: str) -> SavedProgram:
    graph = parse_graph(text, _schema_of)
    program = SavedProgram(
        graph,
        parse_spec(header["arguments"]),
        parse_spec(header["result"]),
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
        from fxc.dispatch.extensions import find_operators

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


# ------------------------------------------------------------------ leaves


def _show_leaf(leaf: ArgumentLeaf) -> Any:
    match leaf:
        case GivenInput(place, None):
            return {"input": place}
        case GivenInput(place, at_least):
            return {"input": place, "at_least": at_least}
        case Fixed(value):
            return {"fixed": show_object(value)}
        case Unread():
            return {}


def _parse_leaf(shown: object) -> ArgumentLeaf:
    match shown:
        case {"input": int(place), "at_least": int(low)}:
            return GivenInput(place, low)
        case {"input": int(place)}:
            return GivenInput(place)
        case {"fixed": value}:
            return Fixed(parse_object(value))
        case _:
            return Unread()
