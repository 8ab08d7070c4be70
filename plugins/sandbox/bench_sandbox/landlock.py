"""Landlock (`landlock(7)`): restrict irrevocably which files a process, and all that it starts, may open.

The package ``landlock`` on PyPI supports the interface up to version 4 (signals and abstract sockets need 6) and has
development releases only, so this module calls the three system calls of Landlock itself.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

from bench_sandbox.system import PR_SET_NO_NEW_PRIVS, prctl, syscall

__all__ = ["allow_only", "version"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Version → number of access rights to files that it supports."""


def version() -> int:
    """Return the kernel's version of Landlock; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, syscall(_CREATE_RULESET, None, 0, 1))


def allow_only(read: Iterable[str], write: Iterable[str]) -> None:
    """Restrict this process, and all that it starts, to the given files, without TCP or signals to other processes.

    TCP needs version 4 of Landlock, signals version 6. Without Landlock, nothing is restricted.

    Args:
        read: files and folders that may be read and executed, folders with all their contents.
        write: folders with all access rights.

    Raises:
        OSError: the kernel refuses.
    """
    known = version()
    if not known:
        return
    rights = 2 ** _RIGHTS[max(number for number in _RIGHTS if number <= known)] - 1
    network, scoped = (3 if known >= 4 else 0), (3 if known >= 6 else 0)
    attributes = struct.pack("QQQ", rights, network, scoped)[: 8 if known < 4 else 16 if known < 6 else 24]
    ruleset = syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError("landlock_create_ruleset failed")
    try:
        for path in read:
            _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        _allow(ruleset, "/dev/null", rights & (_READ_FILE | _WRITE_FILE))
        for path in write:
            _allow(ruleset, path, rights)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        if syscall(_RESTRICT_SELF, ruleset, 0) < 0:
            raise OSError("landlock_restrict_self failed")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(OSError):  # a missing file needs no rule
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            syscall(
                _ADD_RULE,
                ruleset,
                1,
                struct.pack("=Qi", rights if os.path.isdir(path) else rights & _OF_FILES, file),
                0,
            )
        finally:
            os.close(file)
