"""The contract kit: tests for plugins that show whether the core will accept them.

One line tests a method against the complete contract, one case per check and task::

    from bench_core.testing import method_contract

    test_contract = method_contract(SingleStage())

`dataset_contract`, `cost_scheme_contract` and `metric_contract` do the same for data sources, cost schemes and
metrics. Names are loaded on first use: pytest imports this package at every start, through
`bench_core.testing.pytest_plugin`.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
