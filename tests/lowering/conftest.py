"""Loop nests of these tests are read back from their text."""

import pytest

from tests.read_back import everything_is_read_back


@pytest.fixture(autouse=True)
def read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    everything_is_read_back(monkeypatch)
