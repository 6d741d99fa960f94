"""Programs of ``fxc.export``: arguments, file form, and what they are for other runtimes."""
