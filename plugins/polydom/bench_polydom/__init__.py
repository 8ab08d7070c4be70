"""PolyDom: an index of models under a run-time budget."""
