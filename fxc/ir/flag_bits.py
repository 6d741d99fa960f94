"""Floating-point flags as the processor counts them: the bits of MXCSR."""

import platform

HAS_FLAGS = platform.machine() in ("x86_64", "AMD64")  # those of others are not looked at
INVALID, DIVIDE, OVERFLOW, UNDERFLOW = 1, 4, 8, 16
FLAG_KINDS = {INVALID: "invalid", DIVIDE: "divide", OVERFLOW: "over", UNDERFLOW: "under"}
