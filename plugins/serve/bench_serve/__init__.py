"""Serve a fitted policy over HTTP: `bench_serve.app.create_app`."""
