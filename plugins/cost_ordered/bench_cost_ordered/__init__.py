"""CO-T: one stage per cost class, cheapest first, with early exit (EMSCO §4.3)."""
