"""BUDGETPRUNE (pruning random forests for prediction on a budget; Nan, Wang, Saligrama 2016) and its baselines."""
