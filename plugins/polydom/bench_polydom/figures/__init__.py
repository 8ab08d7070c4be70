"""Figures of the paper's metrics: one line per method (`by_method`), or several lines of one method (`one_method`)."""
