"""Settings of the tests of split functions: what fxc says of what it cannot capture is not shown, and two
of three have their machine code made in a hurry (``tests/hurry.py``).
"""

import warnings
from collections.abc import Iterator

import pytest

import fxc
from tests.hurry import pytest_runtest_call
from tests.splitting import SEEN

__all__ = ["pytest_runtest_call"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    SEEN.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        yield
