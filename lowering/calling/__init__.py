"""A whole call → LLVM text: guards, code, result."""
