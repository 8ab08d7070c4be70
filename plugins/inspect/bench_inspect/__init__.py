"""Commands that only inspect: `bench list` (plugins), `bench plan` (a suite's trials), `bench doctor` (the store)."""
