"""The contract kit on the four methods."""

from bench_qwyc.methods import EarlyStopping, Fan, Qwyc, SmallerEnsemble

from bench_core.testing import method_contract

test_qwyc = method_contract(Qwyc(size=12, max_depth=3, alphas=(0.05, 0.0)))
test_early_stopping = method_contract(
    EarlyStopping(size=12, max_depth=3, ordering="greedy-mse", alphas=(0.05,))
)
test_fan = method_contract(Fan(size=12, max_depth=3, widths=(0.1,), gammas=(1.0, 3.0)))
test_smaller_ensemble = method_contract(SmallerEnsemble(size=12, max_depth=3, sizes=(3, 6)))
test_forest = method_contract(
    Qwyc(ensemble="random-forest", size=9, max_depth=0, alphas=(0.05,), prices="path")
)
test_gradient_boosting = method_contract(
    EarlyStopping(
        ensemble="gradient-boosting", size=8, max_depth=2, ordering="individual-mse", alphas=(0.05,)
    )
)
test_lightgbm = method_contract(
    Qwyc(ensemble="lightgbm", size=8, max_depth=3, alphas=(0.05,), precision="float32")
)
test_joint_subsets = method_contract(
    Qwyc(
        ensemble="subsets-joint", size=6, subset=3, alphas=(0.05,), prices="features", stop="filter-and-score"
    ),
    tasks=["binary"],
)
test_independent_subsets = method_contract(
    Fan(ensemble="subsets-independent", size=6, subset=3, ordering="random"), tasks=["binary"]
)
