"""The hook specs, the plugin manager and the registry of what plugins offer."""
