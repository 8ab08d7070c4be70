"""l1-penalised linear models as budgeted methods: features with zero coefficients are not acquired (EMSCO §4.3)."""
