"""Measured prices: time feature extractors at several item sizes, save the times to a file, fit polynomials to them.

Prices are computed from the file, so results do not change with the machine. The file names the machine it was
measured on, in the user's words. Prices are fitted by non-negative least squares to the worst time per size (the
paper's choice, "to ensure that the predicted models are always within budget") or to the median time.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError, DataUnavailable, canonical_json, did_you_mean, plain, sha256_text

__all__ = ["Measurements", "fit_price", "load_measurements", "measure"]

MEASURED = Path(__file__).parent / "measured"


@dataclass(frozen=True)
class Measurements:
    """Times of feature extractors.

    Attributes:
        machine: the user's name for the machine.
        sizes: item sizes, in ascending order.
        times: for every feature and every size, the measured times in microseconds, one per item.
        about: processor kind and software versions.
    """

    machine: str
    sizes: tuple[float, ...]
    times: Mapping[str, Sequence[Sequence[float]]]
    about: Mapping[str, str] = field(default_factory=dict)

    def statistic(self, feature: str, which: Literal["worst", "median"] = "worst") -> NDArray[np.float64]:
        """Worst or median time of a feature at every size: float64 (sizes,), in microseconds."""
        summary = np.max if which == "worst" else np.median
        return np.array([float(summary(times)) for times in self.times[feature]])

    def prices(self, which: Literal["worst", "median"] = "worst", degree: int = 2) -> dict[str, list[float]]:
        """Price of every feature in microseconds: polynomial coefficients, lowest power first."""
        return {f: fit_price(self.sizes, self.statistic(f, which), degree).tolist() for f in self.times}

    def content(self, features: Sequence[str]) -> str:
        """SHA-256 of the sizes and of these features' times, from which prices are fitted."""
        return sha256_text(canonical_json(plain({"sizes": self.sizes, "times": {f: self.times[f] for f in features}})))

    def spread(self, feature: str, degree: int = 2) -> NDArray[np.float64]:
        """Ratio of the price fitted to the worst case to the median time: float64 (sizes,)."""
        price = fit_price(self.sizes, self.statistic(feature), degree)
        estimated = np.polynomial.polynomial.polyval(np.array(self.sizes), price)
        return np.asarray(estimated / self.statistic(feature, "median"))

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        content = {
            "machine": self.machine, "about": dict(self.about), "unit": "microseconds", "sizes": self.sizes,
            "times": {f: [[round(t, 2) for t in some] for some in times] for f, times in self.times.items()},
        }  # fmt: skip
        Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Measurements:
        """Read a file written by `save`.

        Raises:
            ValueError: the file does not hold measurements, or its lengths do not match; the message names the file.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            read = cls(content["machine"], tuple(content["sizes"]), content["times"], content.get("about", {}))
            for feature, times in read.times.items():
                if len(times) != len(read.sizes) or not all(len(some) for some in times):
                    raise ValueError(f"feature {feature!r} needs times for each of {len(read.sizes)} sizes")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not hold measurements: {error}") from None
        return read


def load_measurements(name: str) -> Measurements:
    """Load measurements by the name of a file that comes with the plugin, or by path.

    Raises:
        DataUnavailable: there is no such name or file.
        DataError: the file does not hold measurements.
    """
    own = MEASURED / f"{name}.json"
    path = own if own.exists() else Path(name).expanduser()
    if not path.is_file():
        known = sorted(file.stem for file in MEASURED.glob("*.json"))
        raise DataUnavailable(
            f"there are no measurements {name!r}; {did_you_mean(name, known)}",
            "python -m bench_polydom.measure_images FILE --machine NAME",
        )
    try:
        return Measurements.load(path)
    except ValueError as error:
        raise DataError(str(error)) from None


def measure(
    extractors: Mapping[str, Callable[[Any], Any]], items: Mapping[float, Sequence[Any]], machine: str, repeats: int = 3
) -> Measurements:
    """Measure the times of extractors.

    Args:
        extractors: for every feature, a function of an item.
        items: for every size, items of that size.
        machine: name of the machine; not its host name, if the file is to be published.
        repeats: runs per item; the time is that of the fastest run, which other work on the machine disturbs least.

    Raises:
        ValueError: a size has no items, or ``repeats`` is below 1.
    """
    if repeats < 1 or not items or not all(len(some) for some in items.values()):
        raise ValueError("measuring needs at least one item of every size, and one repeat")
    sizes = tuple(sorted(items))
    times: dict[str, list[list[float]]] = {}
    for name, extract in extractors.items():
        extract(items[sizes[0]][0])  # one-time work (imports, tables) does not count
        times[name] = [[_fastest(extract, item, repeats) for item in items[size]] for size in sizes]
    about = {"processor": platform.machine(), "python": platform.python_version(), "numpy": np.__version__}
    return Measurements(machine, sizes, times, about)


def _fastest(extract: Callable[[Any], Any], item: Any, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        extract(item)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def fit_price(sizes: Sequence[float], times: Any, degree: int = 2) -> NDArray[np.float64]:
    """Fit a polynomial with coefficients ≥ 0 to times by least squares.

    Args:
        sizes: (m,): item sizes, not negative.
        times: (m,): times, not negative.
        degree: degree of the polynomial, at least 0.

    Returns:
        float64 (degree + 1,), lowest power first.

    Raises:
        ValueError: lengths differ or are 0, the degree is negative, or a value is negative or not finite.
    """
    from scipy.optimize import nnls

    n, t = np.asarray(sizes, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if n.shape != t.shape or n.ndim != 1 or not len(n):
        raise ValueError(f"as many times as sizes are needed, at least one: {n.shape}, {t.shape}")
    if not (np.isfinite(n) & (n >= 0) & np.isfinite(t) & (t >= 0)).all() or degree < 0:
        raise ValueError("sizes and times must be finite and not negative, and the degree at least 0")
    scale = n.max() or 1.0
    coefficients, _ = nnls(np.vander(n / scale, degree + 1, increasing=True), t)
    price: NDArray[np.float64] = coefficients / scale ** np.arange(degree + 1)
    return price
