"""The page of a trace, as a file."""

from __future__ import annotations

import os
from pathlib import Path

from .page import page
from .reader import read
from .traced import TraceContent


def write_page(source: Path, out: Path, title: str) -> TraceContent:
    """Write the page of a trace, or of those in a folder; what was read. ``out`` is as it was
    until the page is whole.
    """
    traced = read(source)
    text = page(traced, title)
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return traced


def counted(traced: TraceContent) -> str:
    """How many compilations there are, in words."""
    count = len(traced.compilations)
    return f"{count} compilation{'s' * (count != 1)}"
