"""What the command line's verbs do, as functions; `bench_core.cli` only reads options and calls these."""
