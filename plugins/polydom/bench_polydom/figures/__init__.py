"""The paper's metrics as figures: a line per method (`by_method`), or several lines of one (`one_method`)."""
