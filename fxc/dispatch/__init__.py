"""The dispatcher: which kernel an operator call runs, chosen by keys.

May import: ``fxc.ops``, ``fxc.ir``.
"""
