"""Fixtures and markers of this plugin's tests."""

from __future__ import annotations

from real_data import real_split  # noqa: F401


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds, or needs the real data")
