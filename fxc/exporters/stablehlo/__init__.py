"""StableHLO: a graph as the text of an MLIR module, for XLA and what else reads that dialect."""
