"""l1-penalised linear models as budgeted methods: what has a zero coefficient need not be acquired (EMSCO §4.3)."""
