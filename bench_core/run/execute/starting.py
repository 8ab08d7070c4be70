"""How processes of the judge begin: interpreters that import the core and nothing of a plugin, and forks of them."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys

from bench_core.run.threads import BLAS_VARIABLES

__all__ = ["keep_one_file", "new_interpreter"]


def new_interpreter(code: str, theirs: socket.socket) -> subprocess.Popen[bytes]:
    """A new interpreter in a session of its own, with one thread and no output.

    Args:
        code: what it runs; ``sys.argv`` holds the number of the socket, and ``sys.path`` as JSON.
        theirs: its end of a socket.
    """
    return subprocess.Popen(
        [sys.executable, "-c", code, str(theirs.fileno()), json.dumps(sys.path)],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Threads do not survive a fork: OpenMP makes none before a fork allows it more.
        env={**os.environ, **dict.fromkeys((*BLAS_VARIABLES, "OMP_NUM_THREADS"), "1")},
    )


def keep_one_file(fd: int, *, again: bool = False) -> None:
    """Close every file but one; nothing can be read or printed any more.

    Args:
        fd: the file to keep.
        again: whether a process that this one is a fork of did it before: ``sys.stdout`` and the like are there.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, fd)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(fd + 1, most if most > fd else 2**20)  # −1: there is no limit
    if not again:
        # A fork of a fork does this again: what stood here before must not close these when it goes.
        sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115
