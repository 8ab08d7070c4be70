"""The command ``bench serve``."""

from __future__ import annotations

from pathlib import Path

import click

from bench_core import hookimpl
from bench_core.suites import cli_errors

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the command."""
    group.add_command(serve)


@click.command()
@click.argument("policy", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 chooses a free port.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME",
    help="A further name that clients use for this server, besides localhost; repeatable.",
)  # fmt: skip
@click.option(
    "--sessions", type=click.IntRange(1), default=10_000, show_default=True, help="The largest number of open sessions."
)
@click.option(
    "--expire", type=click.FloatRange(0, min_open=True), default=900.0, show_default=True,
    help="Seconds without use after which a session expires.",
)  # fmt: skip
@cli_errors
def serve(policy: Path, host: str, port: int, hosts: tuple[str, ...], sessions: int, expire: float) -> int:
    """Serve a saved policy over HTTP. The page /docs describes the interface."""
    import socket

    import uvicorn

    import bench_core
    from bench_core import RequestError
    from bench_serve.app import create_app
    from bench_serve.live import Limits

    fitted = bench_core.load_policy(policy)  # type: ignore[attr-defined]  # a name that bench_policies adds
    app = create_app(fitted, Limits(sessions=sessions, seconds=expire), ("localhost", "127.0.0.1", host, *hosts))
    # h11 limits the size of headers. Requests are not logged, since they hold the values of rows.
    config = uvicorn.Config(app, http="h11", log_level="warning", access_log=False, limit_concurrency=4096)
    try:
        listening = socket.create_server((host, port), backlog=1024)
    except (OSError, OverflowError) as error:
        raise RequestError(f"cannot listen at {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
    with listening:
        # Connections inherit this. Without it, an answer of two packets waits 40 ms for the client's acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        click.echo(f"serving {policy} at http://{host}:{listening.getsockname()[1]}/docs; press Ctrl-C to stop")
        uvicorn.Server(config).run([listening])
    return 0
