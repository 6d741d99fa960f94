"""Settings of the tests of split functions: what fxc says of what it cannot capture is not shown."""

import warnings
from collections.abc import Iterator

import pytest

import fxc
from tests.splitting import SEEN


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    SEEN.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        yield
