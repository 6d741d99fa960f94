"""``python -m tests.gallery`` writes ``docs/gallery.md`` and its pictures: the programs of
``examples``, run and timed with and without fxc.
"""

from __future__ import annotations

import copy
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import fxc
from fxc.cli import demo
from tests.sources import ROOT

FOLDER = ROOT / "examples" / "gallery"
PAGE, PICTURES = ROOT / "docs" / "gallery.md", ROOT / "docs" / "pictures" / "gallery"
NAMES = ("shallow_water", "ising", "k_means", "kalman", "ray_marcher")
TITLES = {"k_means": "k-means", "gray_scott": "Gray-Scott", "black_scholes": "Black-Scholes"}
TITLES |= {"nbody": "N bodies"}  # of others, the names of their files
_WIDTH = 480  # of a picture, in pixels

_HEAD = """\
# Gallery

<!-- Written by `make gallery`; do not edit. -->

Ten programs in plain NumPy, executed: each picture is drawn from what the compiled function has computed, and
each program is compared with NumPy. The times are those of one call, first NumPy's, then fxc's on one thread, the
least of some calls on a machine that was not idle; [performance.md](performance.md) has measurements.
"""


def load(name: str) -> ModuleType:
    """A program of the gallery, which is no package."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seen(program: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    """The result, and the arrays that were passed, after a call."""
    given = copy.deepcopy(inputs)
    result = program(*given)
    return [x for x in (*given, result) if isinstance(x, np.ndarray | np.generic)]


def difference(program: Callable[..., Any], other: Callable[..., Any], inputs: Any) -> float:
    """By how much what is seen of two programs differs at most."""
    pairs = zip(seen(program, inputs), seen(other, inputs), strict=True)
    return max(float(np.max(np.abs(np.subtract(x, y)))) for x, y in pairs)


def _least(program: Callable[..., Any], inputs: tuple[Any, ...], calls: int = 5) -> float:
    took = []
    for _ in range(calls):
        given = copy.deepcopy(inputs)
        begin = time.thread_time()
        program(*given)
        took.append(time.thread_time() - begin)
    return min(took)


def _draw(path: Path, found: np.ndarray) -> None:
    """An array of numbers, or of three colours, as a picture."""
    from matplotlib import colormaps
    from PIL import Image

    if found.ndim == 2:
        low, high = np.percentile(found, [0.5, 99.5])
        found = colormaps["magma"]((found - low) / max(high - low, 1e-12))[:, :, :3]
    image = Image.fromarray((found.clip(0, 1) * 255).astype(np.uint8))
    image = image.resize((_WIDTH, _WIDTH * image.height // image.width))
    image.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)


def section(name: str, module: ModuleType, compiled: Any, size: Any, picture: bool) -> str:
    """The text about one program."""
    inputs = module.make_inputs(size)
    slow, fast = (_least(each, inputs) for each in (module.PROGRAM, compiled))
    folder = "gallery/" if name in NAMES else ""
    first, _, more = (module.__doc__ or "").partition("\n")
    title = TITLES.get(name, name.replace("_", " ").capitalize())
    lines = [
        f"## {title}",
        "",
        f"{first} {' '.join(more.split('Source')[0].split())}".strip(),
        "",
    ]
    if picture:
        lines += [f"![{title}](pictures/gallery/{name}.png)", ""]
    source = f"`examples/{folder}{name}.py`"
    lines += [f"{1e3 * slow:.3g} ms → {1e3 * fast:.3g} ms · {source}", ""]
    return "\n".join(lines)


def main() -> None:
    """Write the page and the pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    fxc.set_num_threads(1)
    parts = [_HEAD]
    for name in NAMES:
        module = load(name)
        compiled = fxc.compile(module.PROGRAM, fullgraph=True)
        _draw(PICTURES / f"{name}.png", module.picture(compiled, module.SIZE))
        parts.append(section(name, module, compiled, module.SIZE, True))
    for name in demo.PROGRAMS:
        module = demo.load_example(name)
        compiled = fxc.compile(module.PROGRAM, fullgraph=True)
        has_picture = hasattr(module, "save_picture")
        if has_picture:
            path = PICTURES / f"{name}.png"
            module.save_picture(path, compiled, module.SIZE)
            _smaller(path)
        parts.append(section(name, module, compiled, module.SIZE, has_picture))
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _smaller(path: Path) -> None:
    from PIL import Image

    image = Image.open(path).convert("RGB")
    image = image.resize((_WIDTH, _WIDTH * image.height // image.width))
    image.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)


if __name__ == "__main__":
    main()
