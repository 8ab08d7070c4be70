"""One linear model on all features: the baseline with full acquisition (EMSCO §4.3)."""
