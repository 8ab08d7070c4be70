"""Methods compared over data sets: ranks and tests, budgets, and the answer of the front page."""
