"""LLVM text → callable machine code, which lives as long as its owner.

Object code is put in memory by ``linking``, or else by LLVM. Where it is kept already, LLVM is not
asked at all, nor imported.
"""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from _thread import RLock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from fxc.ir.digesting import digest
from fxc.ir.forking import LLVM, held_over_forks
from fxc.ir.records import frozen
from fxc.ir.settings import features_taken
from fxc.package.builtins import new_builtin

from .freed_memory import keep_freed_memory
from .kept_codes import KeptCode
from .linking import LIBRARY_PREFIX, InMemory, Unlinked, library, link, support_in_memory

if TYPE_CHECKING:
    import llvmlite.binding as llvm

# llvmlite's own objects are not shared between threads. See Note [Forks].
llvm_lock = held_over_forks(RLock(), LLVM)
_llvm: Any = None
_target: Any = None
# Their decoded code is not kept where a branch touches a boundary of 32 bytes (Intel's erratum
# SKX102): short loops take up to a fifth more time, by luck. The option is LLVM's, so it is for all
# of the process.
_ALIGNS_BRANCHES = ("skylake", "skylake-avx512", "cascadelake")
# Processors that have these instructions keep their clock with registers of 512 bits, those with
# AVX-512 that lack them (Skylake to Cooper Lake) do not: see Note [Scalar loops].
_KEEPS_CLOCK, _NARROW = "+avx512vbmi2", ' "prefer-vector-width"="256"'


def load_llvm() -> ModuleType:
    """LLVM as llvmlite has it, its native target initialised on first use."""
    global _target, _llvm
    if _target is None:
        from .llvm_library import binding  # not where all code is kept

        _llvm = llvm = binding()
        if llvm.get_host_cpu_name() in _ALIGNS_BRANCHES:
            llvm.set_option("fxc", "--x86-branches-within-32B-boundaries")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        flags = [llvm.get_host_cpu_features().flatten(), "-prefer-256-bit", *features_taken()]
        _target = (llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), ",".join(flags))
    found: ModuleType = _llvm
    return found


def processor() -> tuple[str, str]:
    """The triple of this processor, and LLVM's flags: which instructions code may use."""
    load_llvm()
    return _target[0].triple, _target[2]


@functools.cache
def target_machine(opt: int) -> llvm.TargetMachine:
    """This processor's target machine, kept: to look at all features is a small module's work."""
    load_llvm()
    target, cpu, features = _target
    return target.create_target_machine(
        cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small", jit=True
    )


_VERY_LONG = 3000  # lines
# From here on machine code is generated at -O1: it takes a fifth of the time, 1 second in 5.
_ENDLESS = 5000  # lines


def optimisation_level(lines: int) -> int:
    """How hard machine code generation tries, for a text of this length."""
    return 1 if lines > _ENDLESS else 2


def optimise(
    machine: llvm.TargetMachine, module: llvm.ModuleRef, loops: str, length: int = 0
) -> None:
    """Inline what says that it wants to be, fold constants, drop what is never reached.

    Lowering writes vectors, hoists what does not change and loads each element once; instruction
    selection folds the rest. All of -O3 takes twenty times as long for code that runs no faster.
    It is for ``scalar`` loops of the user's program, unless they are so long that it takes seconds:
    its time grows faster than the code. What ``array`` ones carry gets registers.
    """
    llvm = load_llvm()
    tuning = llvm.create_pipeline_tuning_options()
    tuning.speed_level = 3  # writes out a loop of 32 short iterations, -O2 half of it
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    is_long = loops == "scalar" and length > _VERY_LONG
    if loops == "scalar" and not is_long:
        with _option(llvm, *_NO_MASKS):
            builder.getModulePassManager().run(module, builder)
        return
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    if loops != "none":
        passes.add_sroa_pass()
    passes.add_sccp_pass()
    passes.add_simplify_cfg_pass()
    if is_long:
        passes.add_instruction_combine_pass()
    passes.run(module, builder)


# A loop of few iterations would be one vector with lanes past its end, whose elements are zeros:
# their logarithms set floating-point flags. See Note [Floating-point flags].
_NO_MASKS = ("vectorizer-min-trip-count", "0", "16")


@contextmanager
def _option(llvm: ModuleType, name: str, value: str, usual: str) -> Iterator[None]:
    """With an option of LLVM's, which is the process's: it is taken back."""
    llvm.set_option("fxc", f"--{name}={value}")
    try:
        yield
    finally:
        llvm.set_option("fxc", f"--{name}={usual}")


# LLVM's reduction of strength takes time that grows faster than the code, a third of all machine
# code generation at this length, and makes code of it faster by no more than a few per cent.
_LONG = 430  # lines
_NO_LSR = ("disable-lsr", "true", "false")


# LLVM hoists each constant out of its loop. Those that find no register are loaded inside again,
# once for each vector, and to find that out takes register allocation the square of their number:
# 0.3 of 0.4 seconds for a thousand. Such loops take a third less time without.
_MANY_CONSTANTS = 32  # vector registers
_NO_LICM = ("disable-machine-licm", "true", "false")


@contextmanager
def generation(llvm: ModuleType, text: str) -> Iterator[None]:
    """While machine code is made of this text: without what takes too long."""
    options = [_NO_LSR] if text.count("\n") >= _LONG else []
    constants = text.split(" splat (")[1:]
    if len({each.partition(")")[0] for each in constants}) > _MANY_CONSTANTS:
        options.append(_NO_LICM)
    with ExitStack() as stack:
        for each in options:
            stack.enter_context(_option(llvm, *each))
        yield


IN_VECTORS = "; in vectors\n"  # begins a module of functions whose loops are as they are to be
SELDOM = "; seldom called\n"  # begins one of functions that need not be fast
_DEFINED = r'(?m)^define (?!internal |private ).*?@"?([\w.$-]+)"?\('
_bound: dict[str, Any] = {}  # by text, the engines of modules that others call


def _bind_support(llvm: ModuleType, text: str) -> None:
    """Give the functions of a module, which is compiled once in a process, to LLVM's linker."""
    if text in _bound:
        return
    engine = _loaded(llvm, _code_of(_support(text)))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    for name in re.findall(_DEFINED, text):
        llvm.add_symbol(name, engine.get_function_address(name))
    _bound[text] = engine


class _ByLLVM:
    """Code that LLVM has put in memory, where this is no Linux, or the code is of other kinds."""

    def __init__(self, source: _Source, support: Sequence[str], symbols: Mapping[str, int]) -> None:
        llvm = load_llvm()
        for name, address in symbols.items():
            llvm.add_symbol(name, address)
        for each in support:
            _bind_support(llvm, each)
        for name in set(re.findall(_IN_LIBRARY, source.text)):
            llvm.add_symbol(LIBRARY_PREFIX + name, library(LIBRARY_PREFIX + name))
        self._engine = _loaded(llvm, _code_of(source))

    def address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))


_IN_LIBRARY = rf"@{LIBRARY_PREFIX}(\w+)"


def _parsed(llvm: ModuleType, text: str, opt: int) -> tuple[Any, Any]:
    """A target machine, and the module for it."""
    machine = target_machine(opt)
    wide = _KEEPS_CLOCK in _target[2]
    module = llvm.parse_assembly(text.replace(_NARROW, "") if wide else text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return machine, module


def _loaded(llvm: ModuleType, code: bytes) -> Any:
    """An engine with this object code."""
    # It has a module and a machine of its own: no code is made from them.
    target, _, _ = _target
    module = llvm.parse_assembly("")
    machine = target.create_target_machine(opt=0, reloc="pic", codemodel="small", jit=True)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.remove_module(module)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


class Engine:
    """The machine code of one module; it lives as long as this object or a function of it, and so
    does what is ``kept``: what the ``table`` points to. ``support`` are modules that it calls,
    ``symbols`` what else it mentions, by name.

    With ``quick`` it is made in a fraction of the time, and is slower. Raises ``RuntimeError`` for
    text that LLVM rejects. There are so many parameters because most callers give the first three
    alone.
    """

    __slots__ = ("__weakref__", "_code", "_kept", "_quick", "entries", "functions", "source")

    def __init__(
        self,
        text: str,
        table: bytes,
        entries: Sequence[str],
        *,
        loops: str = "none",
        kept: Sequence[object] = (),
        support: Sequence[str] = (),
        quick: bool = False,
        symbols: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        source = _Source(text, loops, quick)
        with llvm_lock:
            sources = {_key_of(each): each for each in map(_support, support)}
            try:
                others = support_in_memory(sources, lambda key: _code_of(sources[key]))
                code: InMemory | _ByLLVM = link(_code_of(source), others, symbols)
            except Unlinked:
                code = _ByLLVM(source, support, symbols)
            keep_freed_memory()
            self._begin(code, lambda: (text, loops), table, entries, kept)
            self._quick = quick

    @classmethod
    def of_kept(
        cls,
        keys: Sequence[bytes],
        source: Callable[[], tuple[str, str]],
        table: bytes,
        entries: Sequence[str],
        kept: Sequence[object],
    ) -> Engine:
        """The engine of a module whose code is kept, with that of what it calls, by these keys.

        ``source`` gives its text and kind of loops, for who wants to see it. Raises ``Unlinked``.
        """
        made = cls.__new__(cls)
        with llvm_lock:
            code = link(_kept(keys[0]), support_in_memory(keys[1:], _kept))
            keep_freed_memory()
            made._begin(code, source, table, entries, kept)
        return made

    def _begin(
        self,
        code: InMemory | _ByLLVM,
        source: Callable[[], tuple[str, str]],
        table: bytes,
        entries: Sequence[str],
        kept: Sequence[object],
    ) -> None:
        self._code, self.source, self._quick = code, source, False
        self._kept, self.entries = (code, *kept), tuple(map(sys.intern, entries))
        self.functions = tuple(self.function(name, table) for name in entries)

    def _source(self) -> _Source:
        return _Source(*self.source(), self._quick)

    def address(self, name: str) -> int:
        """Where the code of the entry ``name`` is."""
        return self._code.address(name)

    def function(self, name: str, table: bytes, *keeps: object, keywords: bool = False) -> Any:
        """A builtin that calls the entry ``name``; its ``self`` begins with ``table``.

        It keeps the code, and what the table points to (``keeps``).
        """
        kept = self._kept + keeps  # the tuple itself if there is no more
        return new_builtin(name, self.address(name), table, kept, keywords)

    def optimised(self) -> str:
        """The module as LLVM has optimised it."""
        with llvm_lock:
            return str(_optimised(load_llvm(), self._source())[1])

    def assembly(self, text: str = "") -> str:
        """The machine code as text, or that of a ``text`` which says more of the same module."""
        with llvm_lock:
            llvm = load_llvm()
            source = self._source()
            machine, module = _optimised(llvm, source, text)
            with generation(llvm, source.text):
                return str(machine.emit_assembly(module))


@frozen
class _Source:
    """What machine code is made of."""

    text: str
    loops: str
    quick: bool


def _support(text: str) -> _Source:
    """What machine code of a module that others call is made of."""
    loops = "array" if text.startswith(IN_VECTORS) else "scalar"
    return _Source(text, loops, quick=text.startswith(SELDOM))


def make_support(text: str) -> None:
    """Make and keep the machine code of a module that others call."""
    with llvm_lock:
        _code_of(_support(text))


def object_codes(text: str, loops: str, support: Sequence[str]) -> dict[bytes, bytes]:
    """The object code of a module, and then of those that it calls, as ``codes`` keeps them."""
    sources = [_Source(text, loops, False), *map(_support, support)]
    with llvm_lock:
        return {_key_of(source): _code_of(source) for source in sources}


def keep_object_codes(given: Mapping[bytes, bytes]) -> None:
    """Keep what ``object_codes`` has given, in another process maybe."""
    with llvm_lock:
        for key, code in given.items():
            codes.keep(key, code)


def made_for() -> tuple[str, ...]:
    """For which processor object code is made, by what: others are not to run it."""
    from llvmlite import __version__ as version

    with llvm_lock:
        llvm = load_llvm()
        _, cpu, features = _target
        return (version, str(llvm.llvm_version_info), cpu, features)


codes = KeptCode(4 << 20)  # the tests have another, see tests/machine_code.py
_ADDRESS = "inttoptr i64 "  # of an object of this process


def _key_of(source: _Source) -> bytes:
    return digest(repr((source.loops, source.quick)).encode() + source.text.encode())


def _code_of(source: _Source) -> bytes:
    key = _key_of(source)
    code = codes.get(key)
    if code is None:
        llvm = load_llvm()
        machine, module = _optimised(llvm, source)
        with generation(llvm, source.text):
            code = machine.emit_object(module)
        codes.keep(key, code, lasts=_ADDRESS not in source.text)
    return code


def _kept(key: bytes) -> bytes:
    code = codes.get(key)
    if code is None:
        raise Unlinked("the code is not kept any more")
    return code


def _optimised(llvm: ModuleType, source: _Source, text: str = "") -> tuple[Any, Any]:
    """A target machine, and the module that it is to make code of, of ``text`` as of its own."""
    lines = source.text.count("\n")
    level = 0 if source.quick else optimisation_level(lines)
    machine, module = _parsed(llvm, text or source.text, level)
    if not source.quick:
        optimise(machine, module, source.loops, lines)
    return machine, module
