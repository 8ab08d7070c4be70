"""One classifier on all features: what a budgeted method is measured against (EMSCO §4.3)."""
