"""From a Python call to a captured graph: staging, traced arrays, guards.

``capture.capture`` is the way in. May import: ``fxc.dispatch``, ``fxc.ops``, ``fxc.ir``.
"""
