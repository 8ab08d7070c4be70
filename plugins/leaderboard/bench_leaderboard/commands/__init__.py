"""What the leaderboard's commands do, as functions; `bench_leaderboard.cli` reads options and calls these."""
