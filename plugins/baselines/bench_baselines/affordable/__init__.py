"""LightGBM, logistic regression or their blend on the best set of features that a budget affords."""
