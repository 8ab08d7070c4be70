"""What the command line's verbs share: options, units, exit codes, tables and progress."""
