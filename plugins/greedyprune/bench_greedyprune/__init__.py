"""GreedyPrune: a forest loses the tests of one feature after another."""
