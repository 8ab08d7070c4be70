"""What the kernel keeps a method's process from: files, the network, other processes, memory that outlives it.

On Linux, for every user: Landlock (`landlock(7)`) for files, signals, tracing and abstract sockets; a seccomp filter
(`seccomp(2)`) for sockets, System V and POSIX shared objects and keys, what files are marked with (times, permissions,
attributes), and limits and priorities of other processes. What a kernel does not have is left out
(`layers` says what there is); elsewhere a method's process is a process of its own and no more.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = [
    "confine", "drop_privileges", "hide_memory", "importable", "layers", "libc", "readable", "shared_memory",
    "unshare_memory",
]  # fmt: skip

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CAPSET = {"x86_64": 126, "aarch64": 91}

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Landlock's version → how many rights to files it knows."""

_DENIED = {
    "x86_64": (
        0xC000003E,
        (29, 30, 31, 41, 64, 66, 68, 101, 240, 248, 249, 250, 298, 310, 311, 321, 425),
        (90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 452, 463, 466, 469),
        (27, 327, 451),
    ),
    "aarch64": (
        0xC00000B7,
        (117, 180, 186, 187, 190, 191, 194, 195, 196, 198, 217, 218, 219, 241, 270, 271, 280, 425),
        (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 452, 463, 466, 469),
        (232, 286, 451),
    ),
}  # fmt: skip
"""Machine → the audit number of its system calls, and those that are refused with EPERM, because they let a process say
something to one that comes later, or to one outside.

First those that reach other processes: shmget, shmat, shmctl, socket, semget, semctl, msgget, ptrace, mq_open, add_key,
request_key, keyctl, perf_event_open, process_vm_readv, process_vm_writev, bpf and io_uring_setup (and some that do more
of the same). Then those that mark a file, which Landlock leaves to its owner: chmod, chown, utime, setxattr,
removexattr and file_setattr in all their forms. Then those that tell which parts of a file are in memory: mincore,
preadv2 and cachestat."""

_SELF = ((0, 0xFFFFFFFF, 0),)
_ONLY: dict[str, dict[int, tuple[tuple[int, int, int], ...]]] = {
    "x86_64": {
        **dict.fromkeys((142, 144, 203, 302, 314), _SELF),
        141: ((0, 0xFFFFFFFF, 0), (1, 0xFFFFFFFF, 0)),
        251: ((0, 0xFFFFFFFF, 1), (1, 0xFFFFFFFF, 0)),
        16: ((1, 0xFF00, 0x5400),),
    },
    "aarch64": {
        **dict.fromkeys((118, 119, 122, 261, 274), _SELF),
        140: ((0, 0xFFFFFFFF, 0), (1, 0xFFFFFFFF, 0)),
        30: ((0, 0xFFFFFFFF, 1), (1, 0xFFFFFFFF, 0)),
        29: ((1, 0xFF00, 0x5400),),
    },
}
"""Machine → system call → argument, mask and value that it must have, or is refused with EPERM.

Limits, scheduling and priority may be set of the calling process alone (what its parent has, later forks have, too):
sched_setparam, sched_setscheduler, sched_setaffinity, prlimit64, sched_setattr, setpriority, ioprio_set. Of ioctl, what
terminals and descriptors need: others mark files (`ioctl_iflags(2)`)."""


_SHARED = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) .(.).s \S+ \S+ \S+ *(.*)$", re.MULTILINE)
"""A line of `proc_pid_maps(5)` of memory that is shared: its start and end, whether it can be written to, its path."""


@cache
def libc() -> ctypes.CDLL:
    """The C library, opened once: a fork finds it, and the functions that were called before, at hand."""
    return ctypes.CDLL(None)


def layers() -> list[str]:
    """What this machine has of it: ``landlock N``, ``seccomp``."""
    version = _version()
    seccomp = sys.platform == "linux" and platform.machine() in _DENIED
    return [*([f"landlock {version}"] if version else []), *(["seccomp"] if seccomp else [])]


def importable() -> list[Path]:
    """Where modules are imported from, but for the working directory; also those installed to be edited."""
    editable = [
        getattr(module, "MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")
    ]
    roots = [Path(root) for root in sys.path if root and Path(root) != Path.cwd()]
    return roots + [Path(folder) for mapping in editable for folder in mapping.values()]


def readable(needed: Iterable[Path], closed: Iterable[Path]) -> list[Path]:
    """What a method's process may read: the system's and the interpreter's folders and what else is needed.

    Args:
        needed: further folders and files.
        closed: what it must not read; where one is in a folder that is needed, what stands beside it is given.
    """
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys"]
    devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    shut = [path.resolve() for path in closed]
    paths = dict.fromkeys(path.resolve() for path in [*map(Path, prefixes + devices), *needed])
    return [allowed for path in paths for allowed in _beside(path, shut)]


def _beside(path: Path, closed: list[Path]) -> list[Path]:
    if any(path == closed_path or closed_path in path.parents for closed_path in closed):
        return []
    if not any(path in closed_path.parents for closed_path in closed):
        return [path] if path.exists() else []
    with suppress(OSError):
        return [allowed for child in sorted(path.iterdir()) for allowed in _beside(child.resolve(), closed)]
    return []


def confine(read: Iterable[str] | None, write: Iterable[str]) -> None:
    """Leave this process, and what it starts, no files but these; for good.

    Args:
        read: what may be read and executed; None leaves that as it is. Folders may be listed everywhere.
        write: folders in which everything may be done.
    """
    version = _version()
    if not version:
        return
    every = 2 ** _RIGHTS[max(known for known in _RIGHTS if known <= version)] - 1
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    handled = every if read is not None else every & ~reading
    network, scoped = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    attributes = struct.pack("QQQ", handled, network, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = libc().syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return
    try:
        _allow(ruleset, "/", handled & _READ_DIR)
        for path in read or ():
            _allow(ruleset, path, reading)
        _allow(ruleset, "/dev/null", handled & _WRITE_FILE)
        for path in write:
            _allow(ruleset, path, handled)
        libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc().syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(OSError):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = rights if os.path.isdir(path) else rights & _OF_FILES
            if allowed:
                libc().syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
        finally:
            os.close(fd)


def drop_privileges() -> None:
    """Give up root's capabilities, core dumps, and the system calls that reach past this process; for good."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _DENIED:
        return
    libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc().syscall(_CAPSET[machine], struct.pack("Ii", 0x20080522, 0), bytes(24))
    program = _filter(machine)
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(code, len(code))
    whole = struct.pack("HxxxxxxP", len(program), ctypes.addressof(held))
    libc().prctl(_PR_SET_SECCOMP, 2, whole, 0, 0)


def _filter(machine: str) -> list[tuple[int, int, int, int]]:
    """The lines of a seccomp filter, each as `struct sock_filter`: code, jump if true, jump if false, value."""
    arch, *denied = _DENIED[machine]
    load, equal, at_least, mask, give = 0x20, 0x15, 0x35, 0x54, 0x06
    refuse, allow = -1, -2  # the line that a jump leads to, from the end; 0 and more: so many lines are left out
    # struct seccomp_data: the number, the architecture, the instruction's place, six arguments.
    lines = [(load, 0, 0, 4), (equal, 0, refuse, arch), (load, 0, 0, 0), (at_least, refuse, 0, 0x40000000)]
    lines += [(equal, refuse, 0, number) for numbers in denied for number in numbers]
    for number, conditions in _ONLY[machine].items():
        lines.append((equal, 0, 3 * len(conditions), number))
        for place, (argument, bits, value) in enumerate(conditions, 1):
            met = allow if place == len(conditions) else 0
            lines += [(load, 0, 0, 16 + 8 * argument), (mask, 0, 0, bits), (equal, met, refuse, value)]
    lines += [(give, 0, 0, 0x7FFF0000), (give, 0, 0, 0x00050001)]

    def jump(to: int, at: int) -> int:
        return to if to >= 0 else len(lines) + to - at - 1

    return [(code, jump(true, at), jump(false, at), value) for at, (code, true, false, value) in enumerate(lines)]


def hide_memory() -> None:
    """Where Landlock does not keep other processes of this user from this one's memory, ask the kernel to."""
    if sys.platform == "linux" and not _version():
        libc().prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def shared_memory(process: int) -> list[tuple[int, int]] | None:
    """Start and end of the memory that a process has and others can read or write, but for what the system maps for
    everyone; None where it cannot be told."""
    if sys.platform != "linux":
        return []
    try:
        maps = Path(f"/proc/{process}/maps").read_bytes()
    except OSError:
        return None
    return [
        (int(start, 16), int(end, 16))
        for start, end, writable, path in _SHARED.findall(maps)
        if writable == b"w" or not path.startswith(b"/usr/")
    ]


def unshare_memory() -> bool:
    """Let go of memory that this fork shares with the process it comes from (`multiprocessing`'s locks); whether
    there is none any more. Nothing of it may be used afterwards."""
    for start, end in shared_memory(os.getpid()) or ():
        libc().munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
    return shared_memory(os.getpid()) == []


def _version() -> int:
    """Landlock's version; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))
