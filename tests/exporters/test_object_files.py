"""Object files themselves: what is in them, how they are mapped, damaged ones, and C."""

import ctypes
import platform
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fxc
from fxc.exporters.objects.levels import LEVELS
from fxc.package import elf, load, relocations
from fxc.package.files import FORMAT, MANIFEST, BadPackage
from fxc.package.mapping import Mapped, MemoryLayout, MissingFunction, library
from fxc.runtime.object_code import Processor, object_code

from .corpus import EXAMPLES, exported
from .mutated import damaged_objects, damaged_packages
from .test_objects import OWN, on_linux, smooth

GCC = shutil.which("gcc")
with_gcc = pytest.mark.skipif(GCC is None, reason="there is no gcc")

# ------------------------------------------------------------------ damage


def test_damaged_packages_have_one_clear_error() -> None:
    assert [*damaged_packages(300, 17)] == []


def test_damaged_object_files_have_one_clear_error() -> None:
    assert [*damaged_objects(300, 17)] == []


def test_a_damage_that_is_not_seen_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where checksums are lengths alone, other bytes of the same number are loaded."""
    from fxc.exporters.objects import write
    from fxc.package import files

    for module in (files, write):
        monkeypatch.setattr(module, "digest", lambda data: f"{len(data)}")
    assert any(
        "hypot.h was loaded" in each or ".py was loaded" in each
        for each in damaged_packages(200, 17)
    )


def test_packages_of_other_formats_and_no_packages(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    fxc.export(np.hypot, np.ones(2), np.ones(2)).to_object(folder, ["x86-64"])
    manifest = (folder / MANIFEST).read_bytes()

    def problem(data: bytes) -> str:
        (folder / MANIFEST).write_bytes(data)
        with pytest.raises(BadPackage) as caught:
            load(folder)
        return str(caught.value).removeprefix(f"{folder} cannot be loaded: ")

    title = b"fxc object package, format "
    newer = manifest.replace(title + str(FORMAT).encode(), title + b"99", 1)
    assert (
        problem(newer) == f"it has the format 99, and this is {FORMAT}: a newer fxc has written it"
    )
    other = manifest.replace(title + str(FORMAT).encode(), title + b"x", 1)
    assert problem(other) == f"it has the format x, and this is {FORMAT}: there is no such format"
    assert problem(b"{}") == "manifest.json is not that of an object package"
    assert problem(manifest[:-3]).endswith("its checksum is wrong")
    (folder / MANIFEST).write_bytes(manifest)
    (folder / "hypot-x86-64.o").unlink()
    with pytest.raises(BadPackage, match="No such file or directory"):
        load(folder)
    with pytest.raises(BadPackage, match=r"cannot be loaded: .*No such file"):
        load(tmp_path / "nothing")


# ------------------------------------------------------------------ reading and mapping


def test_the_object_of_each_level_is_read_back(tmp_path: Path) -> None:
    """Those of aarch64, too: each symbol from outside is a function of the C library, and each
    relocation one that the loader knows."""
    for name in ("relax", "adam_step", "mlp", "images.canny", "astronomy.lomb_scargle"):
        example = next(x for x in EXAMPLES if x.name == name)
        program = exported(example)
        program.to_object(tmp_path / name)
        for level in LEVELS:
            (path,) = (tmp_path / name).glob(f"*-{level.name}.o")
            file = elf.read(path.read_bytes())
            assert elf.MACHINES[file.machine].replace("-", "_") == level.machine
            assert all(library(each) for each in file.missing), file.missing
            layout = MemoryLayout(file, library)
            content = layout.content(0x5500_0000_0000)
            assert program.graph.name in layout.symbols
            assert len(content) == layout.size
            shown = [x.name for x in file.symbols if x.section is not None and x.name]
            assert program.graph.name in shown
        for path in (tmp_path / name).glob("*.calls.o"):
            file = elf.read(path.read_bytes())
            own = {program.graph.name: 0x5600_0000_0000}
            assert all(own.get(each) or library(each) for each in file.missing), file.missing
            layout = MemoryLayout(file, lambda each, own=own: own.get(each) or library(each))
            assert len(layout.content(0x5500_0000_0000)) == layout.size


_ALL_KINDS = """
@table = internal constant [4 x ptr] [ptr @one, ptr @two, ptr @one, ptr @two]
@counter = internal global i64 40
declare double @pow(double, double) nobuiltin nounwind
define internal i64 @one(i64 %x) noinline { %r = add i64 %x, 1 ret i64 %r }
define internal i64 @two(i64 %x) noinline { %r = add i64 %x, 2 ret i64 %r }
define i64 @entry(i64 %n, ptr %out) {
  %power = call double @pow(double 2.0, double 10.0) nobuiltin
  store double %power, ptr %out
  %i = and i64 %n, 3
  %at = getelementptr ptr, ptr @table, i64 %i
  %f = load ptr, ptr %at
  %r = call i64 %f(i64 %n)
  %before = load i64, ptr @counter
  %after = add i64 %before, %r
  store i64 %after, ptr @counter
  ret i64 %after
}
"""


@on_linux
def test_tables_of_pointers_variables_and_functions_from_outside() -> None:
    triple = f"{platform.machine().replace('AMD64', 'x86_64')}-unknown-linux-gnu"
    code = object_code(_ALL_KINDS, (), ("entry",), "none", Processor(triple, ""))
    file = elf.read(code)
    assert file.missing == ("pow",)
    mapped = Mapped(file, library)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(
        mapped.address("entry")
    )
    power = ctypes.c_double()
    assert call(4, ctypes.addressof(power)) == 45
    assert call(5, ctypes.addressof(power)) == 52
    assert power.value == 1024.0
    with pytest.raises(elf.BadObject, match="has no nothing"):
        mapped.address("nothing")


@on_linux
def test_memory_is_never_writeable_and_executable() -> None:
    code = object_code(_ALL_KINDS, (), ("entry",), "none", LEVELS[0].processor)
    mapped = Mapped(elf.read(code), library)
    start = mapped.address("entry") & -4096
    lines = Path("/proc/self/maps").read_text().splitlines()
    own = [
        x for x in lines if int(x.split("-")[0], 16) <= start < int(x.split("-")[1].split()[0], 16)
    ]
    assert [x.split()[1] for x in own] == ["r-xp"]


@on_linux
def test_a_function_that_is_not_there_is_named() -> None:
    text = "declare void @nowhere()\ndefine void @entry() { call void @nowhere() ret void }"
    code = object_code(text, (), ("entry",), "none", LEVELS[0].processor)
    with pytest.raises(MissingFunction, match="there is no function nowhere here"):
        Mapped(elf.read(code), library)


def test_code_for_another_processor_is_not_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    code = object_code(
        "define void @entry() { ret void }", (), ("entry",), "none", LEVELS[-1].processor
    )
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(elf.BadObject, match="for another processor"):
        Mapped(elf.read(code), library)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(OSError, match="on Linux alone, this is darwin"):
        Mapped(elf.read(code), library)


def test_places_that_are_too_far_apart() -> None:
    rule = relocations.RULES[elf.X86_64][2]
    memory = bytearray(8)
    rule(memory, 0, 1000, 1000 - 2**31)
    assert struct.unpack_from("<i", memory) == (-(2**31),)
    with pytest.raises(elf.BadObject, match="too far apart"):
        rule(memory, 0, 1000, 1000 + 2**31)


@pytest.mark.parametrize(
    ("kind", "word", "place", "target", "expected"),
    [  # from the ABI: bl, adrp x0, add x0 x0, ldr d0 [x0], ldr q0 [x0], ldrb w0 [x0]
        (283, 0x94000000, 0x1000, 0x1010, 0x94000004),
        (283, 0x94000000, 0x1010, 0x1000, 0x97FFFFFC),
        (275, 0x90000000, 0x1FFC, 0x5678, 0x90000020),
        (275, 0x90000000, 0x5678, 0x1FFC, 0x90FFFFE0),
        (277, 0x91000000, 0, 0x5678, 0x9119E000),
        (286, 0xFD400000, 0, 0x5678, 0xFD433C00),
        (299, 0x3DC00000, 0, 0x5670, 0x3DC19C00),
        (278, 0x39400000, 0, 0x5678, 0x3959E000),
    ],
)
def test_instructions_of_aarch64(
    kind: int, word: int, place: int, target: int, expected: int
) -> None:
    rules = relocations.RULES[elf.AARCH64] | relocations.JUMPS[elf.AARCH64]
    memory = bytearray(struct.pack("<I", word))
    rules[kind](memory, 0, place, target)
    assert hex(struct.unpack("<I", memory)[0]) == hex(expected)


# ------------------------------------------------------------------ C

_RELAX = """
#include <stdio.h>
#include "relax.h"
int main(void) {
    double u[30], f[28], err, first;
    for (int i = 0; i < 30; i++) u[i] = i * i * 0.37;
    for (int i = 0; i < 28; i++) f[i] = i % 3;
    int status = relax_run(u, f, &err, &first);
    for (int i = 0; i < 30; i++) printf("%.17g ", u[i]);
    printf("%.17g %.17g\\n", err, first);
    return status;
}
"""
_SMOOTH = """
#include <stdio.h>
#include <stdlib.h>
#include "smooth.h"
int main(int count, char **words) {
    int64_t n = atoi(words[count - 1]);
    double *u = malloc(n * sizeof *u), *sums = malloc(n * sizeof *sums);
    void *arena = malloc(smooth_arena_size(n, 4));
    for (int64_t i = 0; i < n; i++) u[i] = i % 7 * 0.37 - 1;
    int status = smooth_run(u, sums, n, 0.25, 4, arena);
    for (int64_t i = 0; i < n; i++) printf("%.17g %.17g ", u[i], sums[i]);
    return status;
}
"""


def built(source: str, folder: Path, name: str, level: str) -> Path:
    assert GCC is not None
    (folder / "main.c").write_text(source)
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    files = [folder / "main.c", folder / "p" / f"{name}-{level}.o"]
    command = [GCC, *warnings, f"-I{folder / 'p'}", *map(str, files), "-lm", "-o", folder / level]
    subprocess.run(command, check=True)
    return folder / level


@with_gcc
@on_linux
@pytest.mark.parametrize("level", OWN)
def test_a_program_in_c(level: str, tmp_path: Path) -> None:
    assert len(_RELAX.strip().splitlines()) <= 20
    example = next(x for x in EXAMPLES if x.name == "relax")
    program = exported(example)
    program.to_object(tmp_path / "p")
    ran = subprocess.run(
        [built(_RELAX, tmp_path, "relax", level)], capture_output=True, text=True, check=True
    )
    u, f = np.arange(30.0) * np.arange(30.0) * 0.37, np.arange(28.0) % 3
    err, first = program(u, f)
    assert [*map(float, ran.stdout.split())] == [*u, err, first]


@with_gcc
@on_linux
def test_symbolic_sizes_in_c(tmp_path: Path) -> None:
    program = fxc.export(smooth, np.zeros(400), 0.5, 3, dynamic=True)
    program.to_object(tmp_path / "p")
    made = built(_SMOOTH, tmp_path, "smooth", OWN[-1])
    for n in (3, 17, 1000):
        ran = subprocess.run([made, str(n)], capture_output=True, text=True, check=True)
        u = np.arange(n) % 7 * 0.37 - 1
        sums, *_ = program(u, 0.25, 4)
        found = np.array([*map(float, ran.stdout.split())]).reshape(n, 2)
        assert found[:, 0].tobytes() == u.tobytes()
        assert found[::2, 1].tobytes() == sums.tobytes()


def fill(u, src, n):
    u[:n] = 1
    u[1:-1] += src
    u[: len(u) // 3 - 1] += src[: len(u) // 3 - 1]
    return u.reshape(n, -1).sum()


_FILL = """
#include <stdio.h>
#include <stdlib.h>
#include "fill.h"
int main(int count, char **words) {
    double u[64] = {0}, src[64] = {0}, total = 7;
    int64_t size = atoll(words[count - 3]), other = atoll(words[count - 2]);
    int status = fill_run(u, src, &total, size, other, atoll(words[count - 1])ARENA);
    int changed = total != 7;
    for (int i = 0; i < 64; i++) changed += u[i] != 0;
    printf("%d %d", status, changed);
    return 0;
}
"""


@with_gcc
@on_linux
def test_arguments_that_a_program_is_not_for_in_c(tmp_path: Path) -> None:
    program = fxc.export(fill, np.zeros(12), np.zeros(10), 4, dynamic=True)
    program.to_object(tmp_path / "p")
    header = (tmp_path / "p" / "fill.h").read_text()
    words = " ".join(header.split())
    assert "2 <= n <= u.shape[0]" in words
    assert "src.shape[0] - u.shape[0] == -2" in words
    assert "exception, or warn" not in words
    arena = ", malloc(100000)" if "void *arena)" in header else ""
    made = built(_FILL.replace("ARENA", arena), tmp_path, "fill", OWN[-1])

    def found(*sizes: int) -> str:
        given = [str(each) for each in sizes]
        return subprocess.run([made, *given], capture_output=True, text=True, check=True).stdout

    assert found(12, 10, 4) == "0 5"
    assert found(20, 18, 5) == "0 6"
    wrong = [(12, 10, 13), (12, 10, 50), (12, 10, -3), (12, 10, 1), (12, 11, 4), (-12, -14, -12)]
    for sizes in (*wrong, (1, -1, 1), (12, 10, 2**62), (2**62, 2**62 - 2, -(2**63))):
        assert found(*sizes) == "-2 0", sizes


@with_gcc
@on_linux
def test_the_program_in_the_docs_runs(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    [source] = [part.split("```")[0] for part in text.split("```c\n")[1:]]
    example = next(x for x in EXAMPLES if x.name == "relax")
    program = fxc.export(example.function, *example.arguments(0), dynamic=True)
    program.to_object(tmp_path / "p", OWN[-1:])
    subprocess.run([built(source, tmp_path, "relax", OWN[-1])], check=True)


def test_results_are_named_by_their_places(tmp_path: Path) -> None:
    def function(x, y):
        z = x + y
        return {"a": x, "b": x * y}, z[1:], z, (x - y)[1:]

    fxc.export(function, np.ones(4), np.ones(4)).to_object(tmp_path / "p", ["x86-64"])
    header = (tmp_path / "p" / "function.h").read_text()
    names = {"x", "y", "result_1", "result_3", "result_4_base"}
    assert {*re.findall(r"double \*(\w+)[,)]", header)} == names


@with_gcc
@on_linux
def test_a_bound_of_an_int_alone_in_c(tmp_path: Path) -> None:
    fxc.export(np.zeros, 5).to_object(tmp_path / "p", OWN[-1:])
    source = """
#include "zeros.h"
int main(void) {
    double out[4] = {1, 1, 1, 1};
    if (zeros_run(out, -3) != -2 || zeros_run(out, 1) != -2 || out[0] != 1) return 1;
    return zeros_run(out, 3) != 0 || out[2] != 0 || out[3] != 1;
}
"""
    assert subprocess.run([built(source, tmp_path, "zeros", OWN[-1])], check=False).returncode == 0


@with_gcc
@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_compile(language: str, tmp_path: Path) -> None:
    """With names that C has for something else, numbers, and NumPy's functions."""

    def function(register, int_, x1, class_):
        return register @ int_ + x1 * class_.real, np.linalg.inv(register), np.sort(int_)

    a = np.eye(3)
    program = fxc.export(function, a, a, 2.5, 1.5 + 2j)
    program.to_object(tmp_path / "p", ["x86-64"])
    assert GCC is not None
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    header = tmp_path / "p" / "function.h"
    subprocess.run([GCC, "-x", language, *warnings, header], check=True)
    assert "NumPy's inner loop matmul dd->d" in header.read_text()
    fxc.export(fill, np.zeros(12), np.zeros(10), 4, dynamic=True).to_object(
        tmp_path / "fill", ["x86-64"]
    )
    subprocess.run([GCC, "-x", language, *warnings, tmp_path / "fill" / "fill.h"], check=True)


def test_a_folder_that_cannot_be_made_is_named_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = fxc.export(lambda x: x + 1, np.ones(3))
    with pytest.raises(NotADirectoryError) as caught:
        program.to_object(tmp_path / "file/package", levels=["x86-64"])
    assert caught.value.filename == str(tmp_path / "file/package")
