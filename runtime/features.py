"""Which of the processor's instructions code may use, given what is taken from it.

If ``FXC_CPU_FEATURES`` takes a feature, LLVM takes all that need it, too.
"""

from __future__ import annotations

import functools
from typing import Final

from .engine import processor

_AVX: Final = ("avx", "sse4.2", "sse4.1", "ssse3", "sse3", "sse2", "sse")
_AVX2: Final = ("avx2", *_AVX)
_F16C: Final = ("f16c", *_AVX)
_AVX512: Final = ("avx512f", "fma", *_AVX2, *_F16C)


def _has(flags: str, needed: tuple[str, ...]) -> bool:
    """Whether code may use the first of these features, which needs the others."""
    features = set(flags.split(","))
    return f"+{needed[0]}" in features and features.isdisjoint([f"-{name}" for name in needed])


def has_f16c(flags: str) -> bool:
    """Whether there are conversions between float16 and float32."""
    return _has(flags, _F16C)


def permuted_bytes(flags: str) -> int:
    """How many bytes have registers whose elements instructions of x86 permute; 0 if none."""
    return 64 if _has(flags, _AVX512) else 32 if _has(flags, _AVX2) else 0


@functools.cache
def converts_halves() -> bool:
    """Whether this processor converts between float16 and float32."""
    triple, flags = processor()
    return has_f16c(flags) or triple.startswith(("aarch64", "arm64"))


@functools.cache
def permutes() -> int:
    """See ``Target.permutes``."""
    return permuted_bytes(processor()[1])
