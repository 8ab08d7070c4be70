"""The command line. Its modules read options, call the core and print."""
