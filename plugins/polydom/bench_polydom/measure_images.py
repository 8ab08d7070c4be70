"""Measure the times of the image features: ``python -m bench_polydom.measure_images FILE --machine NAME``.

By default the items are smooth random images, because the extractors' times hardly depend on the content. With
``--source mnist`` they are rescaled images of that data set. Choose a machine name that may be published.
"""

from __future__ import annotations

# scikit-image is marked as typed, but most of its functions are not.
# mypy: disable-error-code="no-untyped-call"
import argparse

import numpy as np
from numpy.typing import NDArray

from bench_core import DataContext
from bench_polydom.extractors import EXTRACTORS, require_skimage
from bench_polydom.pricing import Measurements, measure
from bench_polydom.sized_images import SizedImages, rescaled

__all__ = ["images_of", "main", "measure_images", "smooth_images"]


def smooth_images(sides: tuple[int, ...], images: int) -> dict[float, list[NDArray[np.float64]]]:
    """Smoothed random images, by number of pixels: ``images`` of them for each side."""
    from skimage.filters import gaussian

    rng = np.random.default_rng(0)
    items = {}
    for side in sides:
        rough = [gaussian(rng.random((side, side)), 1.5) for _ in range(images)]
        items[float(side * side)] = [(image - image.min()) / (image.max() - image.min()) for image in rough]
    return items


def images_of(
    source: str, sides: tuple[int, ...], images: int, context: DataContext, seed: int = 0
) -> dict[float, list[NDArray[np.float64]]]:
    """Rescaled images of a registered data set, by number of pixels; the same images at every size."""
    pictures, _, _ = SizedImages(source=source, images=images, seed=seed).pictures(context)
    return {float(side * side): [rescaled(picture, side) for picture in pictures] for side in sides}


def measure_images(machine: str, items: dict[float, list[NDArray[np.float64]]], repeats: int = 3) -> Measurements:
    """Measure the time of every extractor on every item; `items` maps numbers of pixels to images."""
    require_skimage()
    return measure(EXTRACTORS, items, machine, repeats)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure the prices of the image features.")
    parser.add_argument("file", help="the JSON file to write")
    parser.add_argument("--machine", required=True, help="the name of this machine in the file")
    parser.add_argument("--source", default="", help="a data set of square images (default: random images)")
    parser.add_argument("--sides", type=int, nargs="+", default=[16, 24, 32, 48, 64, 96, 128])
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="the seed for drawing images")
    given = parser.parse_args()
    require_skimage()
    sides = tuple(given.sides)
    if given.source:
        context = DataContext.from_environment(None, None)
        items = images_of(given.source, sides, given.images, context, given.seed)
    else:
        items = smooth_images(sides, given.images)
    measure_images(given.machine, items, given.repeats).save(given.file)


if __name__ == "__main__":
    main()
