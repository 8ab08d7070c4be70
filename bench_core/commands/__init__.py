"""What the command line's verbs do, as functions; `bench_core.cli.main` only reads options and calls these."""
