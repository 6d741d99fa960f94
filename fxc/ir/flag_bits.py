"""Floating-point flags as the processor counts them: the bits of MXCSR."""

INVALID, DIVIDE, OVERFLOW, UNDERFLOW = 1, 4, 8, 16
FLAG_KINDS = {INVALID: "invalid", DIVIDE: "divide", OVERFLOW: "over", UNDERFLOW: "under"}
