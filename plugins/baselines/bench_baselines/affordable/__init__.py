"""A stack of LightGBM and logistic regression on sets of features that a budget affords together."""
