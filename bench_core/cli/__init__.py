"""The command line: modules that read options, call the core and print results."""
