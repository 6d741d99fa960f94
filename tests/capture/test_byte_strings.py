"""Bytes that are known at run time only: Note [Bytes of the graph]."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def summed(b):
    total, fletcher = 0, 0
    for i in range(0, len(b) - 1, 2):
        total = (total * 31 + (b[i] << 8 | b[i + 1])) & 0xFFFF
    for each in b:
        fletcher = (fletcher + each) % 255
    return total, fletcher, b[-1], sum(b), max(b), list(b), sorted(b)[0]


def cut(b):
    return b[2:5], b[::-1], b[1:] + b[:2] + b"zz", b"<" + b, b"".join([b[:2], b"x", b[2:]]), b


def compared(b):
    chosen = b[:4] if b[0] > 80 else b[4:8]
    return b == b"RIFFxx", b[:4] != b"RIFF", len(b), chosen, b[:4] in (b"RIFF", b"abcd"), bool(b)


def searched(b):
    places = b.find(b"IF"), b.find(3), b.index(b[2]), b.find(b"F", 3), b.find(b"F", -2)
    counts = b.count(b"I"), b.count(b""), 82 in b, b"IF" in b, b[:1] in b"abR", b[0] in b"aR"
    ends = b.startswith(b"RI"), b.endswith(b"x"), b.startswith(b[:3]), b"RIFF".find(b[:2])
    return places, counts, ends, {b"RI": 1, b"ab": 2}.get(b[:2], 3)


def read(b):
    fields = struct.unpack("<Ihb", b[:7]), struct.unpack("<3sB?", b[3:8])
    reals = struct.unpack_from("!d", b, 2), struct.unpack(">2Bxf", b[:7])
    ints = int.from_bytes(b[:4], "little", signed=True), int.from_bytes(b[2:5], byteorder="big")
    return fields, np.array(reals[0] + reals[1]).view(np.int64), ints, b.hex()


def viewed(b):
    x, y = np.frombuffer(b, np.uint8), np.frombuffer(b, "<u2", count=2, offset=4)
    return x, x.flags.writeable, y, np.frombuffer(b, np.int8).sum(), bytes(x[::2] ^ 3)


def tagged(b):
    place, found = 0, 0
    while place < len(b):
        size = b[place] % 5 + 1
        for each in b[place : place + size]:
            found = (found * 7 + each) & 0xFFFF
        place += size
    rest = b
    while len(rest) > 3:
        found, rest = found + rest[0], rest[2:]
    return found


def encoded(b):
    made = []
    for each in b:
        made.append((each + 3) & 255)
    return bytes(made), bytes(x ^ y for x, y in zip(b, b[::-1], strict=True)), bytes([1, 2])


def decoded(b):
    return b[:2].decode(), len(b.hex()), b[-3:].decode("ascii")


PROGRAMS: list[Callable[..., Any]] = [
    *(summed, cut, compared, searched, read, viewed, tagged, encoded, decoded),
]


def inputs() -> list[bytes]:
    made = np.random.default_rng(0).integers(0, 127, (8, 40), np.uint8)
    known = [b"RIFFxx" + bytes(range(9)), b"abcdefghijkl", b"RIFFxxIFxRIx", b"II" * 25]
    return known + [each[: 20 + 2 * k].tobytes() for k, each in enumerate(made)]


def check(program: Callable[..., Any], most: int) -> None:
    """Compare calls of all inputs with Python's, by so many variants at most."""
    compiled = fxc.compile(program, fullgraph=True)
    for given in inputs():
        assert difference(run(program, (given,)), run(compiled, (given,))) == ""
    info = compiled.cache_info()
    assert (info.variants <= most, info.eager_calls) == (True, 0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python_by_few_compilations(program: Callable[..., Any]) -> None:
    check(program, 3)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_short_ones(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for given in (b"abcdefghijklmn", b"abcdefghijklmnop", b"", b"a", b"xy", b"\xff\x00\x80"):
        assert difference(run(program, (given,)), run(compiled, (given,))) == ""


def test_bytes_of_a_global_and_of_an_attribute() -> None:
    class Reader:
        data = b""

    def total(reader):
        found = 0
        for each in reader.data:
            found = found * 3 % 1001 + each
        return found

    reader, compiled = Reader(), fxc.compile(total, fullgraph=True)
    for given in inputs():
        reader.data = given
        assert compiled(reader) == total(reader)
    assert compiled.cache_info().variants == 2


def test_what_needs_the_value_makes_it_a_constant() -> None:
    def asked(x, b):
        return x * len(b.split(b"-")), b < b"b", hash(b) == hash(bytes(b))

    compiled = fxc.compile(asked, fullgraph=True)
    for given in (b"a-b", b"c-d-e", b"bcd"):
        assert compiled(2.0, given) == asked(2.0, given)
    assert compiled.cache_info().variants == 3


# ------------------------------------------------------------------ byte arrays


def unpacked(b):
    out, place = bytearray(), 0
    while place + 1 < len(b):
        size = b[place] % 6
        if size > 3:
            out += b[place + 1 : place + size]
        else:
            for _ in range(size):
                out.append(b[place + 1])
        place += size + 1
    return bytes(out), out, len(out)


def copied_back(b):
    out, place = bytearray(b[:2]), 0
    while place + 1 < len(b):
        back, size = b[place] % 8, b[place + 1] % 6
        if back == 0 or back > len(out):
            out.append(b[place])
        else:
            start = len(out) - back
            for k in range(size):
                out.append(out[start + k])
        place += 2
    return out


def turned(b):
    out, other = bytearray(len(b) + 4), bytearray(b)
    out[2:6] = b[:4]
    out[:2] = b"hi"
    for i in range(len(other) // 2):
        other[i], other[-1 - i] = other[-1 - i] ^ 5, other[i]
    return out, other, out[:3], other == b, other != b, b[:3] == bytearray(b[:3]), out.hex()


def beyond(b):
    out = bytearray()
    for each in b:
        out.append(each * 2)
    return out


@pytest.mark.parametrize("program", [unpacked, copied_back, turned])
def test_byte_arrays(program: Callable[..., Any]) -> None:
    check(program, 2)


def test_what_is_no_byte_raises() -> None:
    compiled = fxc.compile(beyond, fullgraph=True)
    for given in (b"abcdefghijkl", b"\x03abcdefghjkl", b"abcdefgh\xffijklm", b"\x01" * 20):
        assert difference(run(beyond, (given,)), run(compiled, (given,))) == ""


def test_one_byte_array_by_two_names() -> None:
    def of(b):
        out = bytearray()
        other = out
        for each in b:
            if each > 80:
                other.append(each)
        return out, other, out is other

    compiled = fxc.compile(of, fullgraph=True)
    for given in inputs():
        found = compiled(given)
        assert found == of(given)
        assert found[0] is found[1]


def test_a_place_that_is_not_known_makes_an_array_at_once() -> None:
    def jumped(b):
        place, found = 0, 0
        while place < len(b) and b[place] != 42:
            found, place = found * 3 % 997 + b[place], place + b[place] % 4 + 1
        return found, b"abcd"[found % 4]

    compiled = fxc.compile(jumped, fullgraph=True)
    for given in inputs():
        assert compiled(given) == jumped(given)
    assert (compiled.cache_info().variants, compiled.cache_info().eager_calls) == (1, 0)


def test_a_byte_array_of_known_bytes_is_an_array_at_once() -> None:
    """Its bytes were put into a list one by one, for each text again."""

    def hidden(b):
        out = bytearray(b)
        for i in range(len(b)):
            out[i] ^= 0x55
        return out

    compiled = fxc.compile(hidden, fullgraph=True)
    for given in (bytes(range(200)), *inputs(), bytes(range(3, 250))):
        found = compiled(given)
        assert (type(found), found) == (bytearray, hidden(given))
    assert (compiled.cache_info().variants, compiled.cache_info().eager_calls) == (1, 0)


def test_bytes_of_a_text_with_an_encoding() -> None:
    """They are what the text encodes to; it failed in fxc."""

    def encoded(text):
        found = bytearray(text, "utf-8")
        found.append(3)
        for i in range(len(found)):
            found[i] = 255 - found[i]
        return found, bytes(text, "ascii", errors="replace")

    compiled = fxc.compile(encoded, fullgraph=True)
    for given in ("text", "a longer one", "é€", ""):
        assert compiled(given) == encoded(given)
    assert compiled.cache_info().eager_calls == 0
