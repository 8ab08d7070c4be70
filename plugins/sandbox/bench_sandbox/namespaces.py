"""Namespaces (`namespaces(7)`): hide other processes, make the file system read-only, and mount a private folder.

A new user namespace needs no privilege, but some distributions refuse it to unprivileged users
(`user.max_user_namespaces`, AppArmor). On a read-only mount, reading a file does not change its access time.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from bench_sandbox.system import check, libc, syscall

__all__ = ["mount_all", "unshare"]

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PIDS = 0x20000, 0x8000000, 0x10000000, 0x20000000
_MOUNT_SETATTR = 442
_RECURSIVE, _READ_ONLY, _PRIVATE = 0x8000, 1, 1 << 18
_BIND, _NOSUID_NODEV, _NOEXEC = 4096, 2 | 4, 8


def unshare() -> None:
    """Create namespaces of users, mounts and System V objects for this process, and of processes for its children.

    Raises:
        OSError: the system refuses.
    """
    user, group = os.getuid(), os.getgid()
    check(libc().unshare(_NEW_USER | _NEW_MOUNTS | _NEW_IPC | _NEW_PIDS), "unshare")
    # Map only this user and group, to the same ids.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def mount_all(folder: str, write: Iterable[str], size: int) -> None:
    """Make the file system read-only, and mount the namespace's ``/proc`` and an empty folder in memory.

    Args:
        folder: existing folder on which the one in memory is mounted.
        write: folders of the file system that stay writable.
        size: capacity of the folder in memory, in bytes.

    Raises:
        OSError: the system refuses.
    """
    kept = list(write)
    for path in kept:
        check(libc().mount(path.encode(), path.encode(), None, _BIND, None), f"bind {path}")
    _change_mounts("/", set_=_READ_ONLY, recursive=True)
    for path in kept:
        _change_mounts(path, clear=_READ_ONLY)
    options = f"size={size},mode=700".encode()
    check(libc().mount(b"tmpfs", folder.encode(), b"tmpfs", _NOSUID_NODEV, options), "mount tmpfs")
    check(libc().mount(b"proc", b"/proc", b"proc", _NOSUID_NODEV | _NOEXEC, None), "mount proc")


def _change_mounts(path: str, *, set_: int = 0, clear: int = 0, recursive: bool = False) -> None:
    attributes = struct.pack("QQQQ", set_, clear, _PRIVATE if recursive else 0, 0)
    flags = _RECURSIVE if recursive else 0
    check(syscall(_MOUNT_SETATTR, -100, path.encode(), flags, attributes, len(attributes)), f"mount_setattr {path}")
