"""MNIST, and MNIST at several resolutions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval, MinLen, Predicate

from bench_core import DataContext, DataError, Dataset, distinct
from bench_public_data.named import ReadyMade
from bench_public_data.openml_source import OpenML

__all__ = ["Mnist", "MnistPyramid", "area_overlap"]


@dataclass(frozen=True)
class Mnist(ReadyMade):
    """MNIST handwritten digits, OpenML 554, 70000 × 784 pixels; the first 60000 rows are the training part.

    Attributes:
        classes: keep only these digits (``["3", "8"]``); empty keeps all ten.
    """

    label: ClassVar[str] = "mnist"

    classes: list[str] = field(default_factory=list)

    def source(self) -> OpenML:
        return OpenML(id=554, name=self.label, classes=self.classes, split="first:60000", dtype="float32")


@dataclass(frozen=True)
class MnistPyramid(ReadyMade):
    """MNIST at several resolutions: 4², 8², 16² and 28² pixels, 1120 features (CSTC §6.7, 3 versus 8).

    A pixel of a coarser image is the mean grey value (0 to 1) of the area it covers; the paper does not name its
    interpolation. Feature ``p8_2_5`` is row 2, column 5 of the 8 × 8 image, from 0.

    Attributes:
        classes: keep only these digits; empty keeps all ten.
        resolutions: side lengths of the images in pixels, in the order of the features; 28 is the original.
    """

    label: ClassVar[str] = "mnist-pyramid"

    classes: list[str] = field(default_factory=lambda: ["3", "8"])
    resolutions: Annotated[list[Annotated[int, Interval(ge=1, le=28)]], MinLen(1), Predicate(distinct)] = field(
        default_factory=lambda: [4, 8, 16, 28]
    )

    def source(self) -> OpenML:
        return OpenML(id=554, name=self.label, classes=self.classes, split="first:60000", dtype="float32")

    def load(self, context: DataContext) -> Dataset:
        original = super().load(context)
        if original.n_features != 28 * 28:
            raise DataError(f"data set {self.label!r}: OpenML's table has {original.n_features} pixels, not 784")
        images = original.values.reshape(-1, 28, 28).astype(np.float64)
        blocks: list[np.ndarray] = []
        names: list[str] = []
        for side in self.resolutions:
            overlap = area_overlap(28, side)
            # Sums of integers are exact in any order, so the values do not depend on the machine.
            sums = overlap @ images @ overlap.T
            blocks.append(sums.reshape(len(images), -1) / (28.0 * 28.0 * 255.0))
            names.extend(f"p{side}_{row}_{column}" for row in range(side) for column in range(side))
        values = np.concatenate(blocks, axis=1)
        return replace(original, values=values.astype(np.float32), feature_names=tuple(names), categorical=())


def area_overlap(source: int, target: int) -> np.ndarray:
    """Return the overlap of target and source pixels along one axis, in units of 1/target of a source pixel.

    Args:
        source: side length of the original image, in pixels.
        target: side length of the coarser image.

    Returns:
        float64 (target, source) of integers. Every row sums to ``source``; divided by it, a row holds the weights of a
        mean.
    """
    wide, narrow = np.arange(target)[:, None] * source, np.arange(source)[None, :] * target
    shared = np.minimum(wide + source, narrow + target) - np.maximum(wide, narrow)
    overlap: np.ndarray = np.clip(shared, 0, None).astype(np.float64)
    return overlap
