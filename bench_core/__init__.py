"""budgetbench's core: the contract of data sets, cost schemes, methods and metrics, and what runs them.

The names below are all that a plugin needs, with `bench_core.testing`. They are loaded on first use, so that
``bench --help`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core.contract.lazy import lazy_names

if TYPE_CHECKING:
    from bench_core.builtin.default_policy import default_policy_first, validation_score
    from bench_core.builtin.metrics import BUILT_IN, accuracy, combined, mse, ndcg_at, precision_at
    from bench_core.cli.options import cli_errors, installed_plugins, warn, with_session, with_sessions
    from bench_core.cli.output import print_table
    from bench_core.contract.canonical import canonical_json, content_hash, plain, sha256_text
    from bench_core.contract.costs import Costs, CostScheme
    from bench_core.contract.dataset import DataContext, Dataset, DataSource, Part
    from bench_core.contract.decisions import Decisions, Outcome, Rows
    from bench_core.contract.errors import (
        BenchError,
        ContractError,
        DataError,
        DataUnavailable,
        RequestError,
        StoreError,
        did_you_mean,
    )
    from bench_core.contract.facts import DataFacts
    from bench_core.contract.method import Family, Method, Policy, Problem, as_family
    from bench_core.contract.metric import (
        DEFAULT_METRICS,
        Metric,
        default_metric,
        evaluate,
        resolve_metric,
        resolve_quantity,
    )
    from bench_core.contract.parameters import build, check_lambdas
    from bench_core.contract.task import Task
    from bench_core.plugins.hookspecs import (
        RegisterCostScheme,
        RegisterDataset,
        RegisterMethod,
        RegisterMetric,
        RegisterSuiteSection,
        hookimpl,
    )
    from bench_core.plugins.manager import load_registry
    from bench_core.plugins.registry import Registry
    from bench_core.plugins.sections import SectionRules, SuiteSection
    from bench_core.protocol.bill import outcome_of
    from bench_core.protocol.encode import fit_encoder
    from bench_core.protocol.prepare import Prepared, prepare
    from bench_core.protocol.split import SplitRule, make_split
    from bench_core.run.execute import Options, execute
    from bench_core.run.plan import Plan, Planned, definition_of
    from bench_core.run.run_trial import run_trial
    from bench_core.run.runner import DamagedRecordsError, FinishedRun
    from bench_core.run.sealed import seal, unseal
    from bench_core.run.session import SuiteSession
    from bench_core.run.store import Store
    from bench_core.run.stored import stored_records
    from bench_core.run.suite import Suite, load_suite
    from bench_core.run.suite_schema import seed_list, validated
    from bench_core.run.trial import Trial

__version__ = "0.1.0"

CONTRACT_VERSION = 1
"""Version of the contract between core and plugins: raised when a plugin has to be changed to go on working."""

_HOMES = {
    "BUILT_IN": "builtin.metrics",
    "BenchError": "contract.errors",
    "ContractError": "contract.errors",
    "CostScheme": "contract.costs",
    "Costs": "contract.costs",
    "DEFAULT_METRICS": "contract.metric",
    "DamagedRecordsError": "run.runner",
    "DataContext": "contract.dataset",
    "DataError": "contract.errors",
    "DataFacts": "contract.facts",
    "DataSource": "contract.dataset",
    "DataUnavailable": "contract.errors",
    "Dataset": "contract.dataset",
    "Decisions": "contract.decisions",
    "Family": "contract.method",
    "FinishedRun": "run.runner",
    "Method": "contract.method",
    "Metric": "contract.metric",
    "Options": "run.execute",
    "Outcome": "contract.decisions",
    "Part": "contract.dataset",
    "Plan": "run.plan",
    "Planned": "run.plan",
    "Policy": "contract.method",
    "Prepared": "protocol.prepare",
    "Problem": "contract.method",
    "RegisterCostScheme": "plugins.hookspecs",
    "RegisterDataset": "plugins.hookspecs",
    "RegisterMethod": "plugins.hookspecs",
    "RegisterMetric": "plugins.hookspecs",
    "RegisterSuiteSection": "plugins.hookspecs",
    "Registry": "plugins.registry",
    "RequestError": "contract.errors",
    "Rows": "contract.decisions",
    "SectionRules": "plugins.sections",
    "SplitRule": "protocol.split",
    "Store": "run.store",
    "StoreError": "contract.errors",
    "Suite": "run.suite",
    "SuiteSection": "plugins.sections",
    "SuiteSession": "run.session",
    "Task": "contract.task",
    "Trial": "run.trial",
    "accuracy": "builtin.metrics",
    "as_family": "contract.method",
    "build": "contract.parameters",
    "canonical_json": "contract.canonical",
    "check_lambdas": "contract.parameters",
    "cli_errors": "cli.options",
    "combined": "builtin.metrics",
    "content_hash": "contract.canonical",
    "default_metric": "contract.metric",
    "definition_of": "run.plan",
    "did_you_mean": "contract.errors",
    "evaluate": "contract.metric",
    "execute": "run.execute",
    "default_policy_first": "builtin.default_policy",
    "fit_encoder": "protocol.encode",
    "hookimpl": "plugins.hookspecs",
    "installed_plugins": "cli.options",
    "load_registry": "plugins.manager",
    "load_suite": "run.suite",
    "make_split": "protocol.split",
    "mse": "builtin.metrics",
    "outcome_of": "protocol.bill",
    "ndcg_at": "builtin.metrics",
    "plain": "contract.canonical",
    "precision_at": "builtin.metrics",
    "prepare": "protocol.prepare",
    "print_table": "cli.output",
    "resolve_metric": "contract.metric",
    "resolve_quantity": "contract.metric",
    "run_trial": "run.run_trial",
    "seal": "run.sealed",
    "seed_list": "run.suite_schema",
    "sha256_text": "contract.canonical",
    "stored_records": "run.stored",
    "unseal": "run.sealed",
    "warn": "cli.options",
    "with_session": "cli.options",
    "with_sessions": "cli.options",
    "validated": "run.suite_schema",
    "validation_score": "builtin.default_policy",
}

__all__ = [
    "BUILT_IN",
    "CONTRACT_VERSION",
    "DEFAULT_METRICS",
    "BenchError",
    "ContractError",
    "CostScheme",
    "Costs",
    "DamagedRecordsError",
    "DataContext",
    "DataError",
    "DataFacts",
    "DataSource",
    "DataUnavailable",
    "Dataset",
    "Decisions",
    "Family",
    "FinishedRun",
    "Method",
    "Metric",
    "Options",
    "Outcome",
    "Part",
    "Plan",
    "Planned",
    "Policy",
    "Prepared",
    "Problem",
    "RegisterCostScheme",
    "RegisterDataset",
    "RegisterMethod",
    "RegisterMetric",
    "RegisterSuiteSection",
    "Registry",
    "RequestError",
    "Rows",
    "SectionRules",
    "SplitRule",
    "Store",
    "StoreError",
    "Suite",
    "SuiteSection",
    "SuiteSession",
    "Task",
    "Trial",
    "__version__",
    "accuracy",
    "as_family",
    "build",
    "canonical_json",
    "check_lambdas",
    "cli_errors",
    "combined",
    "content_hash",
    "default_metric",
    "default_policy_first",
    "definition_of",
    "did_you_mean",
    "evaluate",
    "execute",
    "fit_encoder",
    "hookimpl",
    "installed_plugins",
    "lazy_names",
    "load_registry",
    "load_suite",
    "make_split",
    "mse",
    "ndcg_at",
    "outcome_of",
    "plain",
    "precision_at",
    "prepare",
    "print_table",
    "resolve_metric",
    "resolve_quantity",
    "run_trial",
    "seal",
    "seed_list",
    "sha256_text",
    "stored_records",
    "unseal",
    "validated",
    "validation_score",
    "warn",
    "with_session",
    "with_sessions",
]

__getattr__ = lazy_names(__name__, _HOMES)
