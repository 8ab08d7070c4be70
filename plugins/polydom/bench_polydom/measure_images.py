"""Measure the image features: ``python -m bench_polydom.measure_images FILE --machine NAME``.

The items are smooth random images, so that nobody's data are needed; the extractors' times hardly depend on the
picture. Give the machine a name that may be published.
"""

from __future__ import annotations

import argparse

import numpy as np

from bench_polydom.extractors import EXTRACTORS, require_skimage
from bench_polydom.pricing import Measurements, measure

__all__ = ["main", "measure_images"]


def measure_images(machine: str, sides: tuple[int, ...], images: int = 8, repeats: int = 3) -> Measurements:
    """Times of every extractor at every side."""
    require_skimage()
    from skimage.filters import gaussian

    rng = np.random.default_rng(0)
    items = {}
    for side in sides:
        rough = [gaussian(rng.random((side, side)), 1.5) for _ in range(images)]
        items[float(side * side)] = [(one - one.min()) / (one.max() - one.min()) for one in rough]
    return measure(EXTRACTORS, items, machine, repeats)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure the prices of the image features.")
    parser.add_argument("file", help="the JSON file to write")
    parser.add_argument("--machine", required=True, help="what to call this machine")
    parser.add_argument("--sides", type=int, nargs="+", default=[16, 24, 32, 48, 64, 96, 128])
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    measure_images(given.machine, tuple(given.sides), given.images, given.repeats).save(given.file)


if __name__ == "__main__":
    main()
