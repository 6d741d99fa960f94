"""Loop nests → LLVM text."""
