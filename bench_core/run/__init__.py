"""From a suite's file to records: suite, trials, plan, store, executors."""
