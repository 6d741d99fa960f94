"""The entry that a package's loader calls: a function of one pointer, to all that is given.

An entry for C takes the data of arrays (Note [Plain entries]). From Python each address is an
object to be made, and each pointer a conversion by ctypes: that takes as long as a small program.
This one reads what Python packs at once, 8 bytes each: array objects, sizes, numbers, the table.
Where in an object the address of its data is the loader compares with what it finds.
"""

from __future__ import annotations

from fxc.ir.objects import ARRAY_DATA

from .manifest import Code


def name_of(entry: str) -> str:
    """Its name, which is none in C."""
    return f"{entry}.of_objects"


def python_entry(code: Code, entry: str) -> str:
    """Its definition, in LLVM's text."""
    arrays = len(code.recipe.slots)
    sizes = arrays + 1
    numbers = sizes + len(code.module.given.symbols)
    table = numbers + len(code.recipe.packed)
    lines = [f"%arrays = alloca [{arrays + 1} x ptr], align 8"]
    for place in range(arrays + 1):
        lines += [
            f"%at{place} = getelementptr ptr, ptr %given, i64 {place}",
            f"%object{place} = load ptr, ptr %at{place}, align 1",
        ]
        data = f"%object{place}"
        if place < arrays or code.recipe.arena != 0:
            lines += [
                f"%in{place} = getelementptr i8, ptr %object{place}, i64 {ARRAY_DATA}",
                f"%data{place} = load ptr, ptr %in{place}, align 8",
            ]
            data = f"%data{place}"
        lines += [
            f"%to{place} = getelementptr ptr, ptr %arrays, i64 {place}",
            f"store ptr {data}, ptr %to{place}, align 8",
        ]
    for name, place in (("sizes", sizes), ("numbers", numbers), ("last", table)):
        lines.append(f"%{name} = getelementptr ptr, ptr %given, i64 {place}")
    lines += [
        "%table = load ptr, ptr %last, align 1",
        f'%status = call i32 @"{entry}"(ptr %arrays, ptr %sizes, ptr %numbers, ptr %table)',
        "ret i32 %status",
    ]
    body = "\n".join(f"  {line}" for line in lines)
    return f'define i32 @"{name_of(entry)}"(ptr %given) nounwind {{\n{body}\n}}\n'
