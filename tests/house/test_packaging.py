"""Four folders, one package: what is installed is what stands in the repository, once."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("passes", "lowering", "runtime")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run_python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter, with cwd first on its path as for a script there."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(cwd)!r})\n{code}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def packages_on_disk() -> set[str]:
    found = set()
    for top in ("fxc", *ROOMS):
        for folder, _, names in os.walk(ROOT / top, followlinks=False):
            if any(name.endswith(".py") for name in names):
                parts = Path(folder).relative_to(ROOT).parts
                found.add(".".join(parts if top == "fxc" else ("fxc", *parts)))
    return found


def modules_on_disk() -> set[str]:
    """Every source file by its path inside the installed package."""
    return {
        (path if top == "fxc" else Path("fxc", path)).as_posix()
        for top in ("fxc", *ROOMS)
        for folder, _, names in os.walk(ROOT / top, followlinks=False)
        for name in names
        if name.endswith(".py")
        for path in [Path(folder, name).relative_to(ROOT)]
    }


def test_the_package_list_is_what_stands_on_disk():
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert listed == sorted(set(listed))
    assert set(listed) == packages_on_disk()


def test_every_package_has_an_init():
    without = [
        package
        for package in packages_on_disk()
        if not Path(ROOT, *package.split("."), "__init__.py").exists()
    ]
    assert not without


@pytest.mark.parametrize("room", ROOMS)
def test_the_link_leads_to_the_folder(room):
    link = ROOT / "fxc" / room
    assert link.is_symlink(), f"fxc/{room} is no link: check out with symbolic links enabled"
    assert os.readlink(link) == f"../{room}"
    assert PROJECT["tool"]["setuptools"]["package-dir"][f"fxc.{room}"] == room


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_refuses_its_bare_name(room):
    done = run_python(f"import {room}", ROOT)
    assert done.returncode != 0
    assert f"ImportError: this folder is the package fxc.{room}" in done.stderr


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_as_part_of_fxc(room):
    done = run_python(f"import fxc.{room}; print(fxc.{room}.__file__)", ROOT)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).resolve() == ROOT / room / "__init__.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from a copy of the sources, as building leaves files beside them."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("fxc", *ROOMS):
        shutil.copytree(
            ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copytree(ROOT / "docs" / "errors", copy / "docs" / "errors")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "dist").mkdir()
    backend = PROJECT["build-system"]["build-backend"]
    build = f"import {backend}; {backend}.build_wheel('dist')"  # what pip asks for
    done = run_python(build, copy)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (copy / "dist").glob("fxc-*.whl")
    return path


def test_the_wheel_holds_each_module_once(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    modules = [name for name in names if name.endswith(".py")]
    assert sorted(modules) == sorted(modules_on_disk())
    assert "fxc/py.typed" in names
    pages = [name for name in names if name.startswith("fxc/error_pages/FXC")]
    assert len(pages) == len(list((ROOT / "docs" / "errors").glob("FXC*.md")))


def test_an_installed_wheel_lives_beside_a_users_runtime_module(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text(f"mine = {room!r}\n")
    imports = "".join(f"import {room}, fxc.{room}\n" for room in ROOMS)
    shown = ", ".join(f"{room}.mine, fxc.{room}.__file__" for room in ROOMS)
    done = run_python(f"{imports}print({shown}, sep='\\n')", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [
        line for room in ROOMS for line in (room, str(tmp_path / "fxc" / room / "__init__.py"))
    ]
