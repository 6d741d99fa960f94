"""Run the tests on each Python that is found, each with a NumPy of its own.

    python tests/versions.py [options of pytest]

The oldest Python has the oldest NumPy, the newest the newest. A Python is looked for by name in
``PATH`` and among pyenv's; one that is not there is named and left out. Each gets an environment,
``.venv-3.12``, which is kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = {"3.11": "2.0.*", "3.12": "2.3.*", "3.13": "2.5.*"}


def interpreter(version: str) -> str | None:
    """The path of a Python of this version."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}")]
    found += [str(each) for each in sorted(root.glob(f"{version}.*/bin/python"), reverse=True)]
    for path in filter(None, found):
        told = subprocess.run([path, "-V"], capture_output=True, text=True, check=False).stdout
        if told.startswith(f"Python {version}."):
            return path
    return None


def environment(version: str, python: str, numpy: str) -> str:
    """The Python of an environment with the tests' packages and this NumPy."""
    folder = Path(f".venv-{version}")
    inside, stamp = str(folder / "bin" / "python"), folder / f".numpy-{numpy.rstrip('.*')}"
    if not stamp.exists() or stamp.stat().st_mtime < Path("pyproject.toml").stat().st_mtime:
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-e", ".[test,examples]", f"numpy=={numpy}"], check=True)
        stamp.touch()
    return inside


def main() -> int:
    results = {}
    for version, numpy in VERSIONS.items():
        python = interpreter(version)
        if python is None:
            results[version] = "not found"
            continue
        print(f"== Python {version}, NumPy {numpy}", flush=True)
        command = [environment(version, python, numpy), "-m", "pytest", "-q", *sys.argv[1:]]
        passed = subprocess.run(command, check=False).returncode == 0
        results[version] = f"NumPy {numpy}: {'passed' if passed else 'FAILED'}"
    for version, result in results.items():
        print(f"== Python {version}: {result}")
    return 1 if any("FAILED" in each for each in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
