"""Changed files of saved programs: each is the same program, or one clear error.

::

    python -m tests.program_files 10000 0

tries so many changes, from a seed on: bits, cuts, lines that are swapped, doubled, lost or cut, numbers that
grow, pieces that move; half of them with a checksum that is right again. A file with a right checksum may be
another program, then one that is whole: its own text gives it back.
"""

from __future__ import annotations

import random
import re
import resource
import signal
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np

import fxc
from fxc.exported.file import parse_program, program_text
from fxc.ir.errors import ParseError

SAVED = Path(__file__).parent / "front" / "saved"
SECONDS = 20  # that a file may take to be read
Change = Callable[[random.Random, bytearray], bytearray]


def _smooth(u, k):  # type: ignore[no-untyped-def]
    for _ in range(k):
        u[1:-1] += 0.5 * (u[:-2] - u[2:])
    return u[1:].T, np.where(u > 0, u, np.float32(2.0)), [k, "text", None, 2**40]


def _chosen(x, mask, table):  # type: ignore[no-untyped-def]
    y = x[mask]
    if x.sum() > 1.0:
        y = y * table["scale"]
    return {
        "y": y + 0,
        "sorted": np.sort(x, axis=0),
        "z": np.einsum("ij,jk->ik", x, x),
        "c": 1 - 2j,
    }


@cache
def texts() -> tuple[bytes, ...]:
    """The files that are changed."""
    programs = [
        fxc.export(_smooth, np.arange(8.0), 3, dynamic=True),
        fxc.export(_smooth, np.arange(8.0), 3),
        fxc.export(_chosen, np.eye(4), np.eye(4) > 0, {"scale": 2.0}),
    ]
    made = [program_text(program._program).encode() for program in programs]
    return (*made, *(path.read_bytes() for path in sorted(SAVED.glob("*.fxc"))))


def _flip(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 1, 1, 4, 20))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def _cut(rng: random.Random, data: bytearray) -> bytearray:
    ends = sorted(rng.randrange(len(data)) for _ in range(2))
    return data[: ends[0]] if rng.random() < 0.3 else data[: ends[0]] + data[ends[1] :]


def _move_lines(rng: random.Random, data: bytearray) -> bytearray:
    lines = data.split(b"\n")
    left, right = (rng.randrange(len(lines)) for _ in range(2))
    match rng.randrange(4):
        case 0:
            lines[left], lines[right] = lines[right], lines[left]
        case 1:
            lines.insert(left, lines[right])
        case 2:
            del lines[left]
        case _:
            lines[left] = lines[left][: rng.randrange(len(lines[left]) + 1)]
    return bytearray(b"\n".join(lines))


def _grow_number(rng: random.Random, data: bytearray) -> bytearray:
    places = [match.span() for match in re.finditer(rb"-?\d+", data)]
    begin, end = rng.choice(places)
    number = rng.choice(
        (b"0", b"-1", b"1", b"99999", b"9223372036854775807", b"9" * 40, b"1e400", b"7")
    )
    return data[:begin] + number + data[end:]


def _splice(rng: random.Random, data: bytearray) -> bytearray:
    other = rng.choice(texts())
    begin = rng.randrange(len(other))
    at = rng.randrange(len(data))
    return data[:at] + other[begin : begin + rng.randrange(1, 60)] + data[at:]


def _swap_words(rng: random.Random, data: bytearray) -> bytearray:
    words = [match.span() for match in re.finditer(rb"[\w.%]+", data)]
    (a, b), (c, d) = sorted(rng.sample(words, 2))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _nest(rng: random.Random, data: bytearray) -> bytearray:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice((b"[", b"(", b"-", b"{", b"min(", b"%")) * 5000 + data[at:]


CHANGES: tuple[Change, ...] = (
    _flip, _flip, _cut, _move_lines, _move_lines, _grow_number, _grow_number, _splice, _swap_words, _nest,
)  # fmt: skip


def changed(seed: int) -> tuple[bytes, bytes, bool]:
    """A file, what has become of it, and whether its checksum is right again."""
    rng = random.Random(seed)
    before = rng.choice(texts())
    data = bytearray(before)
    for _ in range(rng.choice((1, 1, 2))):
        data = rng.choice(CHANGES)(rng, data) or bytearray(b"\n")
    mended = rng.random() < 0.5
    if mended:
        body = bytes(data).rpartition(b"end crc32 ")[0] or bytes(data)
        data = bytearray(body + f"end crc32 {zlib.crc32(body):08x}\n".encode())
    return before, bytes(data), mended


def _loaded(path: Path) -> fxc.ExportedProgram | str:
    """The program of a file, or what its error says."""
    try:
        return fxc.load(path)
    except ParseError as error:
        return error.text


def tried(seeds: Iterable[int]) -> Counter[str]:
    """What becomes of the changed files of these seeds.

    Raises ``AssertionError`` for one that is read as something else, or not in time, and lets pass
    what is raised besides ``ParseError``.
    """
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.fxc"
        for seed in seeds:
            before, data, mended = changed(seed)
            path.write_bytes(data)
            begin = time.perf_counter()
            found = _loaded(path)
            if isinstance(found, str):
                assert found.startswith(f"{path} cannot be loaded: "), seed
                counts["error"] += 1
            else:
                text = program_text(found._program)
                is_same = text.encode() == before
                assert is_same or mended, f"seed {seed} is read as another program"
                assert program_text(parse_program(text)) == text, seed
                counts["same" if is_same else "another"] += 1
            assert time.perf_counter() - begin < SECONDS, f"seed {seed} takes too long"
    return counts


def main() -> None:
    """Try as many as the command line says; none may take much memory."""
    count, first = map(int, sys.argv[1:3])
    texts()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        signal.alarm(2 * SECONDS)  # ends the process
        try:
            counts += tried([seed])
        except BaseException:
            print(f"seed {seed}")
            raise
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{dict(counts)}, {more >> 10} MiB more")
    assert more < 256 << 10


if __name__ == "__main__":
    main()
