"""Models that several methods are built on, as libraries: nothing here is registered. Import what you need of a part.

`linear`: linear models on a set of features, Platt scaling, the constant policy. `trees`: decision trees as flat
arrays. `boosting`: LightGBM on some columns. `forest`: forests as flat arrays, to be pruned.
`threads`: compiled loops over ranges of rows in a few threads.
`columns`, `targets`, `answers`, `penalty`: what methods of real-valued scores share. `search`: an SVM's parameters.
"""
