"""``python -m fxc cache``."""

import os
from pathlib import Path

import pytest

from fxc.cache import folder
from fxc.cli.main import main
from fxc.ir.settings import config

on_posix = pytest.mark.skipif(os.name != "posix", reason="there is no cache elsewhere")


@on_posix
def test_info_path_and_clear(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write(bytes(32), bytes(3034))
    assert main(["cache"]) == 0
    expected = f"folder  {cache}\nfiles   1\nsize    3 KiB of 1 GiB\n"
    assert capsys.readouterr().out == expected
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{cache}\n"
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed 1 files from {cache}\n"
    assert folder.contents().files == 0


def test_it_says_why_nothing_is_kept(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with config.override(cache=False):
        assert main(["cache"]) == 1
    assert "it is turned off" in capsys.readouterr().err


def test_an_unknown_word_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["cache", "clean"])
    assert caught.value.code == 2
    assert "invalid choice: 'clean'" in capsys.readouterr().err
