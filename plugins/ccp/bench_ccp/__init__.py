"""Cost-complexity pruning of each tree of a forest, under one α."""
