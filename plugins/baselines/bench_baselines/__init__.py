"""Baselines that any method must beat: the majority class, a stump, LightGBM on everything, forward selection."""
