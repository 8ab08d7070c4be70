"""Find out which of the kernel's restrictions this machine supports."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache

from bench_sandbox import landlock, namespaces, seccomp

__all__ = ["layers", "missing_layers"]

_NAMES = ("namespaces", "landlock", "seccomp")


@cache
def layers() -> tuple[str, ...]:
    """Return those of ``namespaces``, ``landlock`` and ``seccomp`` that this process can use; cached."""
    found = _has_namespaces(), landlock.version() > 0, seccomp.available()
    return tuple(name for name, is_supported in zip(_NAMES, found, strict=True) if is_supported)


def missing_layers() -> str:
    """Return a sentence on the layers that this system lacks; empty if it has all three."""
    missing = [name for name in _NAMES if name not in layers()]
    if not missing:
        return ""
    names = ", ".join(missing)
    hint = "; user namespaces may be switched off (sysctl user.max_user_namespaces, AppArmor)" * (
        "namespaces" in missing
    )
    return f"this system has no {names} for this user{hint}"


def _has_namespaces() -> bool:
    """Return whether a child process can create namespaces."""
    if sys.platform != "linux":
        return False
    folder = tempfile.mkdtemp(prefix="sandbox-")
    try:
        child = os.fork()
        if not child:
            _try(folder)
        return os.waitpid(child, 0)[1] == 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _try(folder: str) -> None:
    """Create the namespaces, and exit with 0 if that succeeds; never returns."""
    try:
        namespaces.unshare()
        child = os.fork()
        if not child:
            try:
                namespaces.mount_all(folder, [], 2**20)
                os._exit(0)
            finally:
                os._exit(1)
        os._exit(0 if os.waitpid(child, 0)[1] == 0 else 1)
    finally:
        os._exit(1)
