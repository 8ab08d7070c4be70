"""The contract kit on the four methods."""

from bench_qwyc.methods import EarlyStopping, Fan, Qwyc, SmallerEnsemble

from bench_core.testing import method_contract

test_qwyc = method_contract(
    Qwyc(n_estimators=12, max_depth=3, alphas=(0.05, 0.0)),
    Qwyc(ensemble="random-forest", n_estimators=9, max_depth=0, alphas=(0.05,), prices="path"),
)
test_other_kernels = method_contract(
    Qwyc(ensemble="lightgbm", n_estimators=8, max_depth=3, alphas=(0.05,), precision="float32"),
    EarlyStopping(ensemble="gradient-boosting", n_estimators=8, max_depth=2, ordering="individual-mse", alphas=(0.05,)),
    slow=True,
)
test_early_stopping = method_contract(
    EarlyStopping(n_estimators=12, max_depth=3, ordering="greedy-mse", alphas=(0.05,))
)
test_fan = method_contract(Fan(n_estimators=12, max_depth=3, widths=(0.1,), gammas=(1.0, 3.0)))
test_smaller_ensemble = method_contract(SmallerEnsemble(n_estimators=12, max_depth=3, sizes=(3, 6)))
test_joint_subsets = method_contract(
    Qwyc(
        ensemble="subsets-joint", n_estimators=6, subset=3, alphas=(0.05,), prices="features", stop="filter-and-score"
    ),
    tasks=["binary"],
)
test_independent_subsets = method_contract(
    Fan(ensemble="subsets-independent", n_estimators=6, subset=3, ordering="random"), tasks=["binary"]
)
