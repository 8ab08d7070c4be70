"""BUDGETPRUNE (pruning random forests for prediction on a budget; Nan, Wang, Saligrama, NIPS 2016), and baselines."""
