"""Registers the plugin."""
