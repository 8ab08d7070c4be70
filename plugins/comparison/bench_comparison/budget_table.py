"""What every trial answers at every budget, as one table: ``bench export --budgets``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bench_records import Records

from bench_comparison.populations import comparison_of, populations
from bench_comparison.schema import ComparisonEntry

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["budget_table"]


def budget_table(records: Records, suite: Suite) -> pd.DataFrame:
    """A row per trial and budget: what the trial answers there.

    Columns: ``dataset costs prices task method seed``; ``quality`` (the metric); ``budget`` (a share of the price);
    ``status`` (``ok``, ``no policy`` or ``over budget``: the test cost exceeds the budget by more than the suite's
    tolerance); ``validation test`` (quality of the answer on each part), ``cost`` (on the test part, as a share of
    the price); ``reference full relative``: the full model's method, its test quality, and the answer's share of it;
    ``area``: the area below the trial's step curve. A suite without a ``[comparison]`` gets the defaults.
    """
    import pandas as pd

    entry = comparison_of(suite) or ComparisonEntry()
    rows = []
    for population in populations(suite, records, entry):
        for answers in population.answers:
            over = answers.over(entry.tolerance)
            for m, s in zip(*np.nonzero(answers.done), strict=True):
                for b, budget in enumerate(answers.budgets):
                    none = bool(np.isnan(answers.test[m, s, b]))
                    rows.append(
                        {
                            "dataset": answers.dataset,
                            "costs": answers.costs,
                            "prices": population.prices,
                            "task": population.task,
                            "method": answers.methods[m],
                            "seed": answers.seeds[s],
                            "quality": answers.quality.name,
                            "budget": budget,
                            "status": "no policy" if none else "over budget" if over[m, s, b] else "ok",
                            "validation": answers.validation[m, s, b],
                            "test": answers.test[m, s, b],
                            "cost": answers.cost[m, s, b],
                            "reference": answers.reference[s],
                            "full": answers.full[s],
                            "relative": answers.shares[m, s, b],
                            "area": answers.area[m, s],
                        }
                    )
    return pd.DataFrame(rows)
