"""Models that several methods are built on: a library that registers nothing.

`linear`: linear models on a set of features, Platt scaling, the constant policy. `trees`: decision trees as flat
arrays. `boosting`: LightGBM on some columns. `forest`: forests as flat arrays, for pruning. `threads`: compiled loops
over ranges of rows in a few threads. `columns`, `targets`, `answers`, `penalty`: shared by methods with real-valued
scores. `search`: choice of an SVM's parameters.
"""
