"""Tests with a disk cache of their own, which nobody else has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fxc.cache import entries, folder
from fxc.ir.settings import config
from fxc.runtime import engine, kept_codes


class Counted(kept_codes.KeptCode):
    """Code that this process has made is counted."""

    made = 0

    def keep(self, key: bytes, code: bytes, lasts: bool = True) -> None:
        self.made += 1
        super().keep(key, code, lasts)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an empty cache, which is used from now on."""
    place = tmp_path / "cached"
    monkeypatch.setenv("FXC_CACHE", "1")
    monkeypatch.setenv("FXC_CACHE_DIR", str(place))
    monkeypatch.setattr(entries, "_begun", float("inf"))  # sources are written while tests run
    monkeypatch.setattr(folder, "_failures", 0)
    monkeypatch.setattr(engine, "codes", Counted(0))
    with config.override(cache=True, cache_dir=str(place)):
        yield place / "fxc"
