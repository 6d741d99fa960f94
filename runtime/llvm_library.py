"""LLVM by llvmlite's shared library: what compiling needs of ``llvmlite.binding``, by its names.

``llvmlite.binding`` takes three times as long to import as LLVM does to load: it brings with it
all of ``llvmlite.ir`` and, by ``importlib.resources``, what reads zip files and URLs.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import platform
import sys
from _thread import RLock
from collections.abc import Callable
from typing import Any

from fxc.ir.forking import LLVMLITE, held_over_forks

# Note [LLVM's library]
# The functions of llvmlite's library in C are no public interface: ``binding`` takes them of the
# versions alone that it has been compared with, and else gives ``llvmlite.binding``, as it does
# where that has been imported anyway. Both have these names and meanings. A module is in a context
# of its own, which keeps constants and metadata until it goes: behind what owns the module. Each
# call holds a lock, as llvmlite's calls hold theirs.
_KNOWN = ("0.50.",)
_PREFIX = "LLVMPY_"
_KINDS: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
    "o": ctypes.POINTER(ctypes.c_char_p),  # where a text goes
    "i": ctypes.c_int,
    "b": ctypes.c_bool,
    "u": ctypes.c_uint,
    "z": ctypes.c_size_t,
    "q": ctypes.c_uint64,
    "-": None,
}
# Of each function what it gives, and takes.
_TYPES = {
    "AddSymbol": "-sp",
    "ContextCreate": "p",
    "ContextDispose": "-p",
    "CopyStringRepOfTargetData": "-po",
    "CreateMCJITCompiler": "pppbo",
    "CreateNewModulePassManager": "p",
    "CreateObjectFile": "psz",
    "CreatePassBuilder": "ppp",
    "CreatePipelineTuningOptions": "p",
    "CreateTargetMachine": "ppsssissiis",
    "CreateTargetMachineData": "pp",
    "DisposeExecutionEngine": "-p",
    "DisposeMemoryBuffer": "-p",
    "DisposeModule": "-p",
    "DisposeNewModulePassManger": "-p",
    "DisposeObjectFile": "-p",
    "DisposePassBuilder": "-p",
    "DisposePipelineTuningOptions": "-p",
    "DisposeString": "-s",
    "DisposeTargetData": "-p",
    "DisposeTargetMachine": "-p",
    "FinalizeObject": "-p",
    "GetBufferSize": "zp",
    "GetBufferStart": "pp",
    "GetDefaultTargetTriple": "-o",
    "GetFunctionAddress": "qps",
    "GetHostCPUFeatures": "io",
    "GetHostCPUName": "-o",
    "GetTargetFromTriple": "pso",
    "GetTargetMachineTriple": "-po",
    "GetVersionInfo": "u",
    "InitializeNativeAsmPrinter": "-",
    "InitializeNativeTarget": "-",
    "MCJITAddObjectFile": "-pp",
    "PTOSetSLPVectorization": "-pb",
    "ParseAssembly": "ppso",
    "PrintModuleToString": "-po",
    "RemoveModule": "bppo",
    "RunNewModulePassManager": "-ppp",
    "SetCommandLine": "-ss",
    "SetDataLayout": "-ps",
    "SetTarget": "-ps",
    "TargetMachineEmitToMemory": "pppio",
    "VerifyModule": "bpo",
    "buildPerModuleDefaultPipeline": "ppi",
    "module_AddAlwaysInlinerPass": "-p",
    "module_AddGlobalDCEPass": "-p",
    "module_AddInstCombinePass": "-p",
    "module_AddSCCPPass": "-p",
    "module_AddSROAPass": "-p",
    "module_AddSimplifyCFGPass": "-p",
}
_lock = held_over_forks(RLock(), LLVMLITE)


def binding() -> Any:
    """This module, or all of ``llvmlite.binding``. See Note [LLVM's library]."""
    import llvmlite

    known = llvmlite.__version__.startswith(_KNOWN) and os.path.isfile(_path())
    if known and "llvmlite.binding" not in sys.modules:
        return sys.modules[__name__]
    found = importlib.import_module("llvmlite.binding")
    held_over_forks(found.ffi.lib._lock._lock, LLVMLITE)
    return found


def _path() -> str:
    import llvmlite
    from llvmlite.utils import get_library_name

    return os.path.join(os.path.dirname(llvmlite.__file__), "binding", get_library_name())


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(_path())


@functools.cache
def _function(name: str) -> Any:
    function = getattr(_library(), _PREFIX + name)
    function.restype, *function.argtypes = (_KINDS[each] for each in _TYPES[name])
    return function


def _call(name: str, *args: object) -> Any:
    function = _function(name)
    with _lock:
        return function(*args)


def _call_for_text(name: str, *args: object) -> tuple[Any, str]:
    """What a function gives, and the text that it leaves in its last argument."""
    place = ctypes.c_char_p()
    given, text = _call(name, *args, ctypes.byref(place)), place.value
    if text is not None:
        _call("DisposeString", place)
    return given, (text or b"").decode()


class _Owner:
    """What holds an object of LLVM's, and its context: they go with it, unless others own them."""

    _disposed_by = ""
    _owned = False
    _as_parameter_: int | None = None

    def __init__(
        self, pointer: int | None, error: str = "LLVM gives nothing", context: int | None = None
    ) -> None:
        if not pointer:
            raise RuntimeError(error)
        self._as_parameter_, self._context = pointer, context

    def __del__(self, is_finalizing: Any = sys.is_finalizing) -> None:
        if self._as_parameter_ and not self._owned and self._disposed_by and not is_finalizing():
            _call(self._disposed_by, self)
            if self._context:
                _call("ContextDispose", self._context)


# -- the processor, and the machine code for it


def initialize_native_target() -> None:
    _call("InitializeNativeTarget")


def initialize_native_asmprinter() -> None:
    _call("InitializeNativeAsmPrinter")


def set_option(name: str, option: str) -> None:
    _call("SetCommandLine", name.encode(), option.encode())


def get_host_cpu_name() -> str:
    return _call_for_text("GetHostCPUName")[1]


class Features(dict[str, bool]):
    """What the processor has, and has not."""

    def flatten(self) -> str:
        return ",".join(("+" if has else "-") + name for name, has in sorted(self.items()))


def get_host_cpu_features() -> Features:
    named = filter(None, _call_for_text("GetHostCPUFeatures")[1].split(","))
    return Features((each[1:], each[0] == "+") for each in named)


def __getattr__(name: str) -> Any:
    if name != "llvm_version_info":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    number = _call("GetVersionInfo")
    return tuple(number.to_bytes((number.bit_length() + 7) // 8, "big"))


class _Target(_Owner):
    """LLVM's code for one kind of processors; it is there for good."""

    triple = ""

    @classmethod
    def from_default_triple(cls) -> _Target:
        triple = _call_for_text("GetDefaultTargetTriple")[1]
        made = cls(*_call_for_text("GetTargetFromTriple", triple.encode()))
        made.triple = triple
        return made

    def create_target_machine(
        self,
        cpu: str = "",
        features: str = "",
        opt: int = 2,
        reloc: str = "default",
        codemodel: str = "default",
        jit: bool = False,
    ) -> TargetMachine:
        names = (self.triple.encode(), cpu.encode(), features.encode())
        how = (reloc.encode(), codemodel.encode(), 0, int(jit), b"")
        return TargetMachine(_call("CreateTargetMachine", self, *names, opt, *how))


Target = _Target


class _TargetData(_Owner):
    _disposed_by = "DisposeTargetData"

    def __str__(self) -> str:
        return _call_for_text("CopyStringRepOfTargetData", self)[1]


class TargetMachine(_Owner):
    """Makes machine code."""

    _disposed_by = "DisposeTargetMachine"

    @property
    def triple(self) -> str:
        return _call_for_text("GetTargetMachineTriple", self)[1]

    @property
    def target_data(self) -> _TargetData:
        return _TargetData(_call("CreateTargetMachineData", self))

    def emit_assembly(self, module: ModuleRef) -> str:
        return self.emit_object(module, 0).decode()

    def emit_object(self, module: ModuleRef, is_object: int = 1) -> bytes:
        buffer, error = _call_for_text("TargetMachineEmitToMemory", self, module, is_object)
        if not buffer:
            raise RuntimeError(error)
        try:
            return ctypes.string_at(_call("GetBufferStart", buffer), _call("GetBufferSize", buffer))
        finally:
            _call("DisposeMemoryBuffer", buffer)


# -- modules


class ModuleRef(_Owner):
    """A module in LLVM's memory."""

    _disposed_by = "DisposeModule"

    def __str__(self) -> str:
        return _call_for_text("PrintModuleToString", self)[1]

    def verify(self) -> None:
        is_bad, error = _call_for_text("VerifyModule", self)
        if is_bad:
            raise RuntimeError(error)

    triple = property(fset=lambda self, name: _call("SetTarget", self, name.encode()))
    data_layout = property(fset=lambda self, text: _call("SetDataLayout", self, text.encode()))


def parse_assembly(text: str) -> ModuleRef:
    context = _call("ContextCreate")
    pointer, error = _call_for_text("ParseAssembly", context, text.encode())
    if error or not pointer:
        _call("ContextDispose", context)
        raise RuntimeError(f"LLVM IR parsing error\n{error}")
    return ModuleRef(pointer, context=context)


# -- passes


class PipelineTuningOptions(_Owner):
    """How passes are to do their work."""

    _disposed_by = "DisposePipelineTuningOptions"
    speed_level = 2

    def _set_slp_vectorization(self, value: bool) -> None:
        _call("PTOSetSLPVectorization", self, value)

    slp_vectorization = property(fset=_set_slp_vectorization)


class PassBuilder(_Owner):
    """Makes pipelines of passes."""

    _disposed_by = "DisposePassBuilder"

    def __init__(self, machine: TargetMachine, tuning: PipelineTuningOptions) -> None:
        super().__init__(_call("CreatePassBuilder", machine, tuning))
        self._uses = machine, tuning

    def getModulePassManager(self) -> ModulePassManager:
        level = self._uses[1].speed_level
        return ModulePassManager(_call("buildPerModuleDefaultPipeline", self, level))


def _adding(name: str) -> Callable[[_Owner], None]:
    """A method that adds a pass."""
    return lambda manager: _call(f"module_Add{name}Pass", manager)


class ModulePassManager(_Owner):
    """A pipeline of passes."""

    _disposed_by = "DisposeNewModulePassManger"  # that is its name

    def run(self, module: ModuleRef, builder: PassBuilder) -> None:
        _call("RunNewModulePassManager", self, module, builder)

    add_always_inliner_pass = _adding("AlwaysInliner")
    add_global_dead_code_eliminate_pass = _adding("GlobalDCE")
    add_sroa_pass = _adding("SROA")
    add_sccp_pass = _adding("SCCP")
    add_simplify_cfg_pass = _adding("SimplifyCFG")
    add_instruction_combine_pass = _adding("InstCombine")


def create_pipeline_tuning_options() -> PipelineTuningOptions:
    return PipelineTuningOptions(_call("CreatePipelineTuningOptions"))


create_pass_builder = PassBuilder


def create_new_module_pass_manager() -> ModulePassManager:
    return ModulePassManager(_call("CreateNewModulePassManager"))


# -- code that is run


class ObjectFileRef(_Owner):
    """An object file in memory."""

    _disposed_by = "DisposeObjectFile"

    @classmethod
    def from_data(cls, data: bytes) -> ObjectFileRef:
        return cls(_call("CreateObjectFile", data, len(data)))


class ExecutionEngine(_Owner):
    """Code in the process's memory, which is freed with it."""

    _disposed_by = "DisposeExecutionEngine"

    def remove_module(self, module: ModuleRef) -> None:
        is_bad, error = _call_for_text("RemoveModule", self, module)
        if is_bad:
            raise RuntimeError(error)
        module._owned, self._context = False, None

    def add_object_file(self, file: ObjectFileRef) -> None:
        _call("MCJITAddObjectFile", self, file)

    def finalize_object(self) -> None:
        _call("FinalizeObject", self)

    def get_function_address(self, name: str) -> int:
        return int(_call("GetFunctionAddress", self, name.encode("ascii")))


def create_mcjit_compiler(module: ModuleRef, machine: TargetMachine) -> ExecutionEngine:
    """An engine that owns the module, until it is removed, and the machine."""
    by_llvmlite = platform.machine().lower() in ("arm64", "aarch64")  # the memory's manager
    made = ExecutionEngine(*_call_for_text("CreateMCJITCompiler", module, machine, by_llvmlite))
    module._owned = machine._owned = True
    made._context = module._context
    return made


def add_symbol(name: str, address: int) -> None:
    _call("AddSymbol", name.encode(), address)
