"""l2 logistic regressions on many subsets of the same features, fitted by compiled code.

`models.SubsetModels` fits them; `sets` are the subsets as bits. Importing this loads neither.
"""
