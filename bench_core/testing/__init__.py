"""The contract kit: what a plugin's own tests run to know that the core will accept its work.

One line tests a method against the whole contract, one case per check and task::

    from bench_core.testing import method_contract

    test_contract = method_contract(SingleStage())

`dataset_contract` and `cost_scheme_contract` do the same for data sources and cost schemes. Names are loaded on
first use: pytest imports this package at every start, through `bench_core.testing.pytest_plugin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core.contract.lazy import lazy_names

if TYPE_CHECKING:
    from bench_core.testing.checks import CHECKS, Check
    from bench_core.testing.contracts import (
        CheckResult,
        check_cost_scheme,
        check_dataset,
        check_method,
        cost_scheme_contract,
        dataset_contract,
        method_contract,
    )
    from bench_core.testing.fitting import changed_rows, policy_audit
    from bench_core.testing.plain_toml import toml_text
    from bench_core.testing.problems import VARIANTS, Case, make_case, make_dataset, make_problem

_HOMES = {
    "CHECKS": "checks",
    "Case": "problems",
    "Check": "checks",
    "CheckResult": "contracts",
    "VARIANTS": "problems",
    "changed_rows": "fitting",
    "check_cost_scheme": "contracts",
    "check_dataset": "contracts",
    "check_method": "contracts",
    "cost_scheme_contract": "contracts",
    "dataset_contract": "contracts",
    "make_case": "problems",
    "make_dataset": "problems",
    "make_problem": "problems",
    "method_contract": "contracts",
    "policy_audit": "fitting",
    "toml_text": "plain_toml",
}

__all__ = [
    "CHECKS",
    "VARIANTS",
    "Case",
    "Check",
    "CheckResult",
    "changed_rows",
    "check_cost_scheme",
    "check_dataset",
    "check_method",
    "cost_scheme_contract",
    "dataset_contract",
    "make_case",
    "make_dataset",
    "make_problem",
    "method_contract",
    "policy_audit",
    "toml_text",
]

__getattr__ = lazy_names(__name__, _HOMES)
