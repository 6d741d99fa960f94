"""Two of three tests of capture have their machine code made in a hurry: see ``tests/hurry.py``."""

from tests.hurry import pytest_runtest_call

__all__ = ["pytest_runtest_call"]
