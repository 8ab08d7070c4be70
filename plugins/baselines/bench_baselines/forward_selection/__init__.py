"""Budgeted greedy forward selection: one fixed set of features per budget."""
