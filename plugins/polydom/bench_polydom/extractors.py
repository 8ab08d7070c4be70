"""Image features by scikit-image: functions from a grey image of any size to a vector of fixed length.

scikit-image is an optional extra, ``pip install budgetbench-polydom[images]``, and is imported at first use. The
paper's thirteen features (GIST, SIFT, geo_map, texton, …) have no maintained Python implementation. These thirteen
replace them; their times are constant, linear or superlinear in the number of pixels.
"""

from __future__ import annotations

# scikit-image is marked as typed, but most of its functions are not.
# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXTRACTORS", "VERSION", "require_skimage"]

Image = NDArray[np.float64]
VERSION = 1
"""Incremented when an extractor changes, so that cached features of earlier versions are not used."""


def require_skimage() -> Any:
    """Import scikit-image.

    Raises:
        RuntimeError: it is not installed; the message says how to install it.
    """
    try:
        import skimage
    except ImportError:
        raise RuntimeError("image features need scikit-image: pip install 'budgetbench-polydom[images]'") from None
    return skimage


def _blocks(image: Image, count: int) -> Image:
    """Means over count × count blocks."""
    rows = np.linspace(0, image.shape[0], count + 1).astype(int)
    columns = np.linspace(0, image.shape[1], count + 1).astype(int)
    sums = np.add.reduceat(np.add.reduceat(image, rows[:-1], axis=0), columns[:-1], axis=1)
    means: Image = sums / np.outer(np.diff(rows), np.diff(columns))
    return means


def sample(image: Image) -> Image:
    """Grey values at 8 × 8 pixels: nearly free."""
    rows = np.linspace(0, image.shape[0] - 1, 8).astype(int)
    columns = np.linspace(0, image.shape[1] - 1, 8).astype(int)
    return np.asarray(image[np.ix_(rows, columns)].ravel())


def tiny_image(image: Image) -> Image:
    """Means over 6 × 6 blocks."""
    return _blocks(image, 6).ravel()


def grey_histogram(image: Image) -> Image:
    """Histogram of grey values, sixteen bins."""
    counts = np.bincount(np.minimum((image * 16).astype(np.int64), 15).ravel(), minlength=16)
    return counts / image.size


def projections(image: Image) -> Image:
    """Row and column means, in 8 parts each."""
    rows = np.array([part.mean() for part in np.array_split(image.mean(axis=1), 8)])
    columns = np.array([part.mean() for part in np.array_split(image.mean(axis=0), 8)])
    return np.concatenate([rows, columns])


def moments(image: Image) -> Image:
    """Logarithms of Hu's seven moment invariants."""
    from skimage.measure import moments_central, moments_hu, moments_normalized

    hu = moments_hu(moments_normalized(moments_central(image + 1e-6)))
    return np.asarray(-np.sign(hu) * np.log10(np.abs(hu) + 1e-12))


def edge_histogram(image: Image) -> Image:
    """Gradient orientations in 8 bins, weighted by strength, on 2 × 2 quarters."""
    from skimage.filters import sobel_h, sobel_v

    down, right = sobel_h(image), sobel_v(image)
    strength = np.hypot(down, right)
    kind = ((np.arctan2(down, right) + np.pi) / (2 * np.pi) * 8).astype(np.int64) % 8
    half_r, half_c = image.shape[0] // 2, image.shape[1] // 2
    parts = [
        np.bincount(kind[r, c].ravel(), strength[r, c].ravel(), minlength=8)
        for r in (slice(None, half_r), slice(half_r, None))
        for c in (slice(None, half_c), slice(half_c, None))
    ]
    return np.concatenate(parts) / image.size


def lbp(image: Image) -> Image:
    """Uniform local binary patterns, ten bins."""
    from skimage.feature import local_binary_pattern

    codes = local_binary_pattern((image * 255).astype(np.uint8), 8, 1, "uniform").astype(np.int64)
    return np.bincount(codes.ravel(), minlength=10)[:10] / image.size


def glcm(image: Image) -> Image:
    """Grey-level co-occurrence: five properties in four directions."""
    from skimage.feature import graycomatrix, graycoprops

    angles = [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4]
    table = graycomatrix((image * 15).astype(np.uint8), [1], angles, levels=16, symmetric=True, normed=True)
    names = ("contrast", "dissimilarity", "homogeneity", "energy", "correlation")
    return np.concatenate([graycoprops(table, name).ravel() for name in names])


def hog(image: Image) -> Image:
    """Histogram of oriented gradients, 4 × 4 cells of 8 orientations."""
    from skimage.feature import hog as compute

    cell = (image.shape[0] // 4, image.shape[1] // 4)
    window = image[: cell[0] * 4, : cell[1] * 4]
    return np.asarray(compute(window, orientations=8, pixels_per_cell=cell, cells_per_block=(1, 1)))


def daisy(image: Image) -> Image:
    """DAISY descriptors, averaged over the image."""
    from skimage.feature import daisy as compute

    radius = max(2, min(image.shape) // 4 - 1)
    descriptors = compute(image, step=max(1, radius // 2), radius=radius, rings=2, histograms=4, orientations=4)
    return np.asarray(descriptors.mean(axis=(0, 1)))


def gabor_energy(image: Image) -> Image:
    """Mean and spread of Gabor responses: two frequencies, four directions."""
    from skimage.filters import gabor

    answers = []
    for frequency in (0.15, 0.3):
        for turn in range(4):
            real, imaginary = gabor(image, frequency, theta=turn * np.pi / 4)
            energy = np.hypot(real, imaginary)
            answers += [energy.mean(), energy.std()]
    return np.array(answers)


def texton(image: Image) -> Image:
    """Local entropy and spread in a window that grows with the image: superlinear in the number of pixels."""
    from skimage.filters.rank import entropy, gradient
    from skimage.morphology import disk

    grey = (image * 255).astype(np.uint8)
    window = disk(max(2, min(image.shape) // 8))
    return np.concatenate([_blocks(np.asarray(f(grey, window), np.float64), 3).ravel() for f in (entropy, gradient)])


def spectrum(image: Image) -> Image:
    """Power by spatial frequency in 8 rings and 4 directions, by the Fourier transform."""
    power = np.abs(np.fft.fft2(image)) ** 2
    v, h = np.fft.fftfreq(image.shape[0])[:, None], np.fft.fftfreq(image.shape[1])[None, :]
    ring = np.minimum((np.hypot(v, h) * 16).astype(np.int64), 7)
    turn = ((np.arctan2(v + 0 * h, h + 0 * v) % np.pi) / np.pi * 4).astype(np.int64) % 4
    rings = np.bincount(ring.ravel(), power.ravel(), minlength=8)
    turns = np.bincount(turn.ravel(), power.ravel(), minlength=4)
    return np.log1p(np.concatenate([rings, turns]) / image.size)


EXTRACTORS: dict[str, Callable[[Image], Image]] = {
    f.__name__: f
    for f in (
        sample, tiny_image, grey_histogram, projections, moments, edge_histogram, lbp, glcm, hog, daisy,
        gabor_energy, texton, spectrum,
    )
}  # fmt: skip
"""For every feature, a function of a grey image: float64 (height, width) in [0, 1], at least 8 × 8."""
