"""EMSCO (Hamilton & Fulp): multi-stage classifiers evolved for accuracy, cost and coverage, and the exact front.

The modules in the order of the paper: `chromosome` (§3.1), `operators` (§3.2), `pareto` and `fitness` (§3.3),
`evolution` (§3.4), `exhaustive` (§4.2). `method` and `exhaustive_method` define the methods. The stage classifier (§2)
is `bench_models.subsets`.
"""
