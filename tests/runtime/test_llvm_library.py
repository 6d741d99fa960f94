"""The part of llvmlite's binding that is fxc's own does what llvmlite's does."""

import subprocess
import sys

import llvmlite
import pytest

from fxc.runtime import engine, llvm_library

TEXT = """\
define double @twice(double %x) {
  %y = fadd double %x, %x
  ret double %y
}
"""


def known() -> bool:
    return llvmlite.__version__.startswith(llvm_library._KNOWN)


def run(code: str) -> str:
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


PROGRAM = """
import sys, hashlib, numpy as np, fxc
{before}
f = fxc.compile(lambda a: np.exp(a) * 2 + 1, fullgraph=True)
a = np.linspace(0.0, 1.0, 9)
f(a)
from fxc.runtime.engine import made_for
digest = hashlib.sha256(f.inspect(a).asm.encode()).hexdigest()
print(f(a).tobytes().hex(), digest, made_for(), "llvmlite.binding" in sys.modules)
"""


@pytest.mark.skipif(not known(), reason="llvmlite's own binding serves this version")
def test_both_bindings_make_the_same_code() -> None:
    own = run(PROGRAM.format(before=""))
    theirs = run(PROGRAM.format(before="import llvmlite.binding"))
    assert own.endswith("False")
    assert theirs.endswith("True")
    assert own.removesuffix("False") == theirs.removesuffix("True")


BESIDE = """
import ctypes, numpy as np, fxc
first = fxc.compile(lambda a: a * 2 + 1, fullgraph=True)
first(np.arange(3.0))
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine()
module = llvm.parse_assembly({text!r})
engine = llvm.create_mcjit_compiler(module, machine)
engine.finalize_object()
twice = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.get_function_address("twice"))
second = fxc.compile(lambda a: a * 3 + 1, fullgraph=True)
print(first(np.ones(1)), second(np.ones(1)), twice(2.5))
"""


def test_llvmlite_may_be_used_beside_it() -> None:
    assert run(BESIDE.format(text=TEXT)) == "[3.] [4.] 5.0"


def test_versions_that_are_not_known_are_served_by_llvmlite() -> None:
    before = "import llvmlite; llvmlite.__version__ = '0.99.0'"
    assert run(PROGRAM.format(before=before)).endswith("True")


@pytest.mark.parametrize("text", ["define i32 @f() { ret i64 0 }", "nonsense", TEXT + TEXT])
def test_text_that_llvm_rejects_is_an_error(text: str) -> None:
    with pytest.raises(RuntimeError, match="parsing error"):
        engine.Engine(text, b"", ())


def test_what_fails_verification_is_an_error() -> None:
    text = "define void @f() {\na:\n  br label %b\nb:\n  %x = add i32 %y, 1\n  br label %c\nc:\n  %y = add i32 0, 1\n  ret void\n}"
    with pytest.raises(RuntimeError, match="dominate"):
        engine.Engine(text, b"", ())


def test_objects_of_llvm_go_with_those_that_hold_them() -> None:
    engine.load_llvm()
    library = llvm_library
    names: list[str] = []
    call = library._call

    def noted(name: str, *args: object) -> object:
        names.append(name)
        return call(name, *args)

    library._call = noted
    try:
        module = library.parse_assembly(TEXT)
        module.verify()
        del module
        assert names[-2:] == ["DisposeModule", "ContextDispose"]  # with its constants
        with pytest.raises(RuntimeError, match="parsing error"):
            library.parse_assembly("define")
        machine = library.Target.from_default_triple().create_target_machine()
        owned = library.parse_assembly("")
        made = library.create_mcjit_compiler(owned, machine)
        del owned, machine
        assert not [each for each in names[4:] if each in ("DisposeTargetMachine",)]
        del made
        assert names[-2:] == ["DisposeExecutionEngine", "ContextDispose"]
        machine = library.Target.from_default_triple().create_target_machine()
        removed = library.parse_assembly("")
        made = library.create_mcjit_compiler(removed, machine)
        made.remove_module(removed)
        del removed
        assert names[-2:] == ["DisposeModule", "ContextDispose"]
        del made
        assert names[-1] == "DisposeExecutionEngine"
        assert names.count("ContextCreate") == names.count("ContextDispose") == 4
    finally:
        library._call = call
