"""Developing a photograph: blur, edges, sharpening and a tone curve; 8-bit colour in and out.

The luminance is blurred by a separable Gaussian (one weighted sum of slices along each axis, the
border left as it was), edges are found with Sobel's operator on the blurred picture, and detail is
added back except along the edges, where it would leave halos. The tone curve works in linear light.

Sources: the picture is an official U.S. Navy photograph of Grace Hopper (see README.md in this
folder); I. Sobel and G. Feldman, "A 3x3 isotropic gradient operator" (1968); the luminance weights
are those of Rec. ITU-R BT.709.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
Picture = NDArray[np.uint8]

PICTURE = Path(__file__).parent / "data" / "hopper.png"

RADIUS = 4
SIGMA = 1.8
_BELL = [math.exp(-0.5 * (k / SIGMA) ** 2) for k in range(-RADIUS, RADIUS + 1)]
WEIGHTS = [weight / sum(_BELL) for weight in _BELL]

GAMMA = 2.2
DETAIL = 1.5
EXPOSURE = 1.25


def gaussian_blur(image: FloatArray) -> FloatArray:
    """Blur both axes; a border as wide as the kernel's radius keeps its values."""
    across = image.copy()
    inside = across[:, RADIUS:-RADIUS]
    inside[...] = 0
    for k, weight in enumerate(WEIGHTS):
        inside += weight * image[:, k : k - 2 * RADIUS or None]
    down = across.copy()
    inside = down[RADIUS:-RADIUS, :]
    inside[...] = 0
    for k, weight in enumerate(WEIGHTS):
        inside += weight * across[k : k - 2 * RADIUS or None, :]
    return down


def sobel(image: FloatArray) -> FloatArray:
    """Magnitude of the gradient; zero on the border."""
    edges = np.zeros_like(image)
    rows = image[:-2, :] + 2 * image[1:-1, :] + image[2:, :]
    columns = image[:, :-2] + 2 * image[:, 1:-1] + image[:, 2:]
    along_x = rows[:, 2:] - rows[:, :-2]
    along_y = columns[2:, :] - columns[:-2, :]
    edges[1:-1, 1:-1] = np.sqrt(along_x * along_x + along_y * along_y)
    return edges


def develop(picture: Picture) -> tuple[Picture, Picture]:
    """Return the developed picture (height, width, 3) and its edges (height, width)."""
    linear = (picture.astype(np.float32) / 255) ** GAMMA
    luminance = 0.2126 * linear[..., 0] + 0.7152 * linear[..., 1] + 0.0722 * linear[..., 2]
    blurred = gaussian_blur(luminance)
    edges = np.clip(2 * sobel(blurred), 0, 1)
    detail = DETAIL * (1 - edges) * (luminance - blurred)
    gain = EXPOSURE * (1 + detail / (luminance + 0.02)) / (1 + 0.35 * luminance)
    toned = np.clip(linear * gain[..., None], 0, 1) ** (1 / GAMMA)
    developed = (255 * toned + 0.5).astype(np.uint8)
    return developed, (255 * np.sqrt(edges)).astype(np.uint8)


PROGRAM = develop
SIZE = 512
QUICK_SIZE = 48
CALLS = 1
# A power may differ from NumPy's by 2 ulp of float32; where a level of grey is rounded the other
# way for it, the result is one level off.
MAX_ULPS = 1
FALLBACKS: tuple[str, ...] = ()


def describe(size: int) -> str:
    return f"{size} x {size} x 3 uint8"


def make_inputs(size: int) -> tuple[Any, ...]:
    """The middle of the photograph, at most `size` pixels high and wide."""
    from PIL import Image  # so that the computation needs nothing but NumPy

    with Image.open(PICTURE) as image:
        picture = np.asarray(image.convert("RGB"))
    top, left = ((length - min(size, length)) // 2 for length in picture.shape[:2])
    return (picture[top : top + size, left : left + size].copy(),)


def save_picture(path: Path, program: Any, size: int) -> None:
    """Write the original, the developed picture and the edges side by side."""
    from PIL import Image  # so that the computation needs nothing but NumPy

    (original,) = make_inputs(size)
    developed, edges = program(original)
    grey = np.repeat(edges[..., None], 3, axis=2)
    Image.fromarray(np.concatenate([original, developed, grey], axis=1)).save(path)
