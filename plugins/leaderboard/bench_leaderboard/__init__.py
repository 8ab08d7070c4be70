"""The leaderboard: from a suite's records to tables, claims, figures, pages and a site."""
