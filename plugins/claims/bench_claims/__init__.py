"""Claims of papers: what they say, checked against a suite's records."""
