"""One table from the parsed files of a UCI archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_public_data.uci_archives import Archive

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["prepared"]


def prepared(archive: Archive, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return one table with class names in the target column, and a column ``split`` if there are two parts.

    Args:
        archive: the data set; without ``classes`` its table is returned as it was parsed.
        frames: the parsed tables of `Archive.files`.

    Raises:
        ValueError: a column is missing, or a target value belongs to no class.
    """
    import pandas as pd

    if not archive.classes:
        return frames[0]
    parts = []
    for frame, part in zip(frames, ("train", "test"), strict=False):
        missing = [name for name in (*archive.features, archive.target) if name not in frame.columns]
        if missing:
            raise ValueError(f"no column {missing[0]!r}")
        table = frame[list(archive.features)].copy()
        table[archive.target] = _classes(frame[archive.target], archive)
        if archive.test_file:
            table["split"] = part
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _classes(column: pd.Series[Any], archive: Archive) -> list[str]:
    """Return the class of every target value: the value itself for texts, else by the bounds of ``classes``."""
    bounds, names = zip(*archive.classes, strict=True)
    if column.dtype.kind not in "if":
        texts = [str(value) for value in column]
        unknown = sorted(set(texts) - set(names))
        if unknown:
            raise ValueError(f"{archive.target} is {unknown[0]!r}, which is not a class; classes: {', '.join(names)}")
        return texts
    values = column.to_numpy(dtype=np.float64)
    if not (values <= bounds[-1]).all():
        raise ValueError(f"{archive.target} is missing or above {bounds[-1]:g} in a row")
    return [names[place] for place in np.searchsorted(bounds, values)]
