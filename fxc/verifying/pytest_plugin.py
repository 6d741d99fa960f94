"""``pytest --fxc-verify``: each call of compiled code in the tests runs beside NumPy."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fxc.ir.settings import SETTINGS

from .counts import COUNTS, WRONG, as_text

_OPTION, _KEY = "fxc_verify", "fxc_verify_counts"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--fxc-verify``."""
    parser.getgroup("fxc").addoption(
        "--fxc-verify",
        action="store_true",
        dest=_OPTION,
        help="run each call of a function that fxc has compiled beside NumPy, and compare",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let processes that tests start do the same."""
    if config.getoption(_OPTION):
        os.environ[SETTINGS["verify"].variable] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker of pytest-xdist."""
    COUNTS.update(getattr(node, "workeroutput", {}).get(_KEY, {}))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A difference that the tests themselves have not seen lets the run fail, too."""
    if not session.config.getoption(_OPTION):
        return
    output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_KEY] = dict(COUNTS)
    elif COUNTS[WRONG] and not session.exitstatus:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many calls were compared."""
    if terminalreporter.config.getoption(_OPTION):
        terminalreporter.write_line(f"fxc: {as_text(COUNTS)}")
