"""Pictures: edges, shapes, colours, optics, microscopes."""

import warnings

import numpy as np
from scipy import ndimage

from .registry import program


def gaussian_kernel(size, sigma=1):
    size = int(size) // 2
    x, y = np.mgrid[-size : size + 1, -size : size + 1]
    normal = 1 / (2.0 * np.pi * sigma**2)
    return np.exp(-((x**2 + y**2) / (2.0 * sigma**2))) * normal


def filter2d(image, kernel):
    kh, kw = kernel.shape
    padded = np.pad(image, ((kh // 2, kh // 2), (kw // 2, kw // 2)), mode="edge")
    out = np.zeros_like(image)
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


@program(lambda r, n: (r.random((n, n)), 0.1, 0.2), 12, 100, rtol=1e-9)
def canny(img, low_ratio, high_ratio):
    """Edges: loops over pixels with directions, and hysteresis with a try that passes."""
    smooth = filter2d(img, gaussian_kernel(5, 1.4))
    Kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    Ix = filter2d(smooth, Kx)
    Iy = filter2d(smooth, np.flip(Kx.T, axis=0))
    G = np.hypot(Ix, Iy)
    G = G / G.max() * 255
    angle = np.arctan2(Iy, Ix) * 180.0 / np.pi
    angle[angle < 0] += 180
    M, N = G.shape
    Z = np.zeros((M, N))
    for i in range(1, M - 1):
        for j in range(1, N - 1):
            q, r = 255, 255
            if (0 <= angle[i, j] < 22.5) or (157.5 <= angle[i, j] <= 180):
                q, r = G[i, j + 1], G[i, j - 1]
            elif 22.5 <= angle[i, j] < 67.5:
                q, r = G[i + 1, j - 1], G[i - 1, j + 1]
            elif 67.5 <= angle[i, j] < 112.5:
                q, r = G[i + 1, j], G[i - 1, j]
            elif 112.5 <= angle[i, j] < 157.5:
                q, r = G[i - 1, j - 1], G[i + 1, j + 1]
            if (G[i, j] >= q) and (G[i, j] >= r):
                Z[i, j] = G[i, j]
    high = Z.max() * high_ratio
    low = high * low_ratio
    res = np.zeros((M, N), dtype=np.int32)
    strong_i, strong_j = np.where(Z >= high)
    weak_i, weak_j = np.where((Z <= high) & (Z >= low))
    res[strong_i, strong_j] = 255
    res[weak_i, weak_j] = 75
    for i in range(1, M - 1):
        for j in range(1, N - 1):
            if res[i, j] == 75:
                res[i, j] = 255 if (res[i - 1 : i + 2, j - 1 : j + 2] == 255).any() else 0
    return res


class Histogram:
    """Counts of grey values, read like a list."""

    def __init__(self, image, bins=256):
        self.counts, self.edges = np.histogram(image.ravel(), bins, (0, 256))
        self.total = image.size

    def __getitem__(self, k):
        return self.counts[k]

    def __len__(self):
        return len(self.counts)

    def __iter__(self):
        return iter(self.counts)


@program(lambda r, n: (r.integers(0, 256, (n, n)).astype(np.uint8),), 10, 100, rtol=1e-10)
def otsu(image):
    """A threshold by a histogram object; a flat picture warns."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        raise TypeError("expected an image of bytes, got %s" % type(image).__name__)
    hist = Histogram(image)
    p = hist.counts / hist.total
    omega = np.cumsum(p)
    mu = np.cumsum(p * np.arange(len(hist)))
    best, threshold = -1.0, 0
    for t in range(len(hist)):
        w = omega[t] * (1 - omega[t])
        if w <= 0:
            continue
        between = (mu[-1] * omega[t] - mu[t]) ** 2 / w
        if between > best:
            best, threshold = between, t
    if best < 0:
        warnings.warn("the image has one grey value only")
    out = (image > threshold) * np.uint8(255)
    return out, threshold, int(hist[threshold])


@program(lambda r, n: (r.random((n, n)) > 0.6, 4), 10, 100)
def label_regions(mask, min_size):
    """SciPy labels regions; small ones go, the others are measured into dictionaries."""
    labels, n = ndimage.label(mask)
    regions = []
    for k in range(1, n + 1):
        where = labels == k
        area = np.count_nonzero(where)
        if area < min_size:
            labels[where] = 0
            continue
        rows, cols = np.nonzero(where)
        regions.append(
            {
                "label": k,
                "area": int(area),
                "centroid": (rows.mean(), cols.mean()),
                "bbox": (rows.min(), cols.min()),
            }
        )
    return labels, regions


@program(lambda r, n: (r.random((n, n)) > 0.5, (0, 0)), 8, 60)
def flood_fill(mask, start):
    """A region by a stack of places."""
    visited = np.zeros(mask.shape, dtype=bool)
    target = mask[start]
    stack = [start]
    filled = 0
    while stack:
        y, x = stack.pop()
        if y < 0 or x < 0 or y >= mask.shape[0] or x >= mask.shape[1]:
            continue
        if visited[y, x] or mask[y, x] != target:
            continue
        visited[y, x] = True
        filled += 1
        stack.extend([(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)])
    return visited, filled


@program(lambda r, n: (r.random((n, n, 3)),), 6, 60, rtol=1e-10)
def rgb_to_hsv(arr):
    """Colours by masks, with error states that are ignored."""
    arr = np.asarray(arr)
    if arr.shape[-1] != 3:
        raise ValueError(
            "Last dimension of input array must be 3; shape {} was found.".format(arr.shape)
        )
    in_shape = arr.shape
    arr = np.array(
        arr, copy=False if False else True, dtype=np.promote_types(arr.dtype, np.float32), ndmin=2
    )
    out = np.zeros_like(arr)
    arr_max = arr.max(-1)
    ipos = arr_max > 0
    delta = np.ptp(arr, -1)
    s = np.zeros_like(delta)
    with np.errstate(invalid="ignore", divide="ignore"):
        s[ipos] = delta[ipos] / arr_max[ipos]
    ipos = delta > 0
    idx = (arr[..., 0] == arr_max) & ipos
    out[idx, 0] = (arr[idx, 1] - arr[idx, 2]) / delta[idx]
    idx = (arr[..., 1] == arr_max) & ipos
    out[idx, 0] = 2.0 + (arr[idx, 2] - arr[idx, 0]) / delta[idx]
    idx = (arr[..., 2] == arr_max) & ipos
    out[idx, 0] = 4.0 + (arr[idx, 0] - arr[idx, 1]) / delta[idx]
    out[..., 0] = (out[..., 0] / 6.0) % 1.0
    out[..., 1] = s
    out[..., 2] = arr_max
    return out.reshape(in_shape)


_zernike_cache = {}


def radial(n, m, rho):
    key = (n, m)
    if key not in _zernike_cache:
        f = [1.0]
        for k in range(1, n + 1):
            f.append(f[-1] * k)
        _zernike_cache[key] = [
            (n - 2 * k, (-1) ** k * f[n - k] / (f[k] * f[(n + m) // 2 - k] * f[(n - m) // 2 - k]))
            for k in range((n - m) // 2 + 1)
        ]
    return sum(c * rho**p for p, c in _zernike_cache[key])


@program(lambda r, n: (n, {(2, 0): 0.1, (3, 1): 0.05, (4, 0): -0.02}, 2), 16, 64, rtol=1e-8)
def point_spread(samples, coefs, Q):
    """Optics: Zernike polynomials with a cache in the module, padding, a Fourier transform."""
    x = np.linspace(-1, 1, samples)
    xx, yy = np.meshgrid(x, x)
    rho, phi = np.hypot(xx, yy), np.arctan2(yy, xx)
    opd = np.zeros((samples, samples))
    for (n, m), c in coefs.items():
        opd += c * radial(n, m, rho) * (np.cos(m * phi) if m else 1.0)
    wave = np.exp(2j * np.pi * opd)
    wave[rho > 1] = 0
    pad = int((samples * Q - samples) // 2)
    padded = np.pad(wave, pad, mode="constant")
    psf = np.abs(np.fft.ifftshift(np.fft.fft2(np.fft.fftshift(padded)))) ** 2
    psf /= psf.sum()
    strehl = psf.max() * psf.size
    units = np.arange(-1 * (psf.shape[0] // 2), psf.shape[0] // 2) * 0.1
    return psf, units, strehl
