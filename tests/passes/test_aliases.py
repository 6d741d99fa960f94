"""The normal form of views: the same memory as the chain it stands for."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fxc.ir.graph import SliceSpec
from fxc.ir.signature import ViewStep
from fxc.ops.kernels import kernel_of
from fxc.ops.metas.shapes import normalize_slice
from fxc.passes.aliases import Affine, Path, extended, steps_of


def applied(array: np.ndarray, steps: tuple[ViewStep, ...]) -> np.ndarray:
    for step in steps:
        array = kernel_of(step.op)(array, *step.args)
    return array


def random_step(rng: random.Random, shape: tuple[int, ...]) -> ViewStep:
    rank = len(shape)
    choices = ["slice", "expand_dims", "transpose", "reshape"]
    choices += ["select"] * any(shape)
    choices += ["squeeze"] * (1 in shape)
    match rng.choice(choices):
        case "slice":
            specs = []
            for dim in shape[: rng.randint(0, rank)]:
                ends = [rng.choice([None, *range(-dim - 1, dim + 2)]) for _ in range(2)]
                step = rng.choice([None, None, 1, 2, 3, -1, -2])
                specs.append(normalize_slice(ends[0], ends[1], step, dim))
            return ViewStep("slice", (tuple(specs),))
        case "expand_dims":
            return ViewStep("expand_dims", ((rng.randint(0, rank),),))
        case "transpose":
            return ViewStep("transpose", (tuple(rng.sample(range(rank), rank)),))
        case "select":
            axis = rng.choice([axis for axis in range(rank) if shape[axis]])
            return ViewStep("select", (axis, rng.randrange(shape[axis])))
        case "squeeze":
            return ViewStep("squeeze", ((shape.index(1),),))
        case _:
            place = rng.randint(0, rank)  # one more axis of size 1
            return ViewStep("reshape", ((*shape[:place], 1, *shape[place:]),))


@pytest.mark.parametrize("seed", range(0, 300, 30))
def test_the_normal_form_shows_the_same_memory(seed: int) -> None:
    for number in range(seed, seed + 30):
        _shows_the_same_memory(random.Random(number))


def _shows_the_same_memory(rng: random.Random) -> None:
    base = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    view, path = base, ()
    for _ in range(rng.randint(1, 8)):
        step = random_step(rng, view.shape)
        path = extended(path, view.shape, step)
        view = applied(view, (step,))
    found = applied(base, steps_of(path))
    np.testing.assert_array_equal(found, view)
    assert found.shape == view.shape
    assert not view.size or found.ctypes.data == view.ctypes.data


def test_views_that_show_everything_are_no_views() -> None:
    path: Path = ()
    path = extended(path, (4, 5), ViewStep("transpose", ((1, 0),)))
    path = extended(path, (5, 4), ViewStep("transpose", ((1, 0),)))
    assert path == ()
    path = extended(path, (4, 5), ViewStep("reshape", ((20,),)))
    path = extended(path, (20,), ViewStep("reshape", ((4, 5),)))
    assert path == ()


def test_the_same_elements_are_the_same_path() -> None:
    def sliced(path: Path, size: int, start: int, stop: int, step: int) -> Path:
        return extended(path, (size,), ViewStep("slice", ((SliceSpec(start, stop, step),),)))

    once = sliced((), 10, 2, 9, 2)
    assert once == sliced((), 10, 2, 10, 2) == sliced(sliced((), 10, 1, 10, 1), 9, 1, 8, 2)
    assert len(once) == 1
    assert isinstance(once[0], Affine)
    assert sliced((), 10, 5, 5, 1) == sliced(sliced((), 10, 3, 10, 1), 7, 2, 2, 1)
