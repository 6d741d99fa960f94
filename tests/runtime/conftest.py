"""Settings of the tests of the runtime: LLVM makes all machine code, however often it has."""

import pytest

from fxc.runtime import engine, kept_codes


@pytest.fixture(autouse=True)
def _made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "codes", kept_codes.KeptCode(4 << 20))
