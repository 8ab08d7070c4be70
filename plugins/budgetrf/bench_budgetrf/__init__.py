"""BudgetRF: random forests whose growth stops at an impurity threshold."""
