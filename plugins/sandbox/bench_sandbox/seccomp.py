"""A seccomp filter (`seccomp(2)`) that refuses system calls by which a process could send information to another one.

The package ``pyseccomp`` needs the C library libseccomp, which pip does not install, and has had no release since 2021.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from bench_sandbox.system import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, check, libc, prctl, syscall

__all__ = ["available", "drop_capabilities", "refuse_calls"]


@dataclass(frozen=True)
class _Machine:
    """The numbers of system calls of a processor architecture.

    Attributes:
        audit: audit number of the architecture.
        refused: calls that fail with EPERM.
        absent: calls that fail with ENOSYS, so that the C library uses other calls.
        only: call → conditions (argument, mask, value); the call fails unless all of them hold.
        never: call → conditions (argument, mask, value); the call fails if one of them holds.
        capset: number of `capset(2)`.
    """

    audit: int
    refused: tuple[int, ...]
    absent: tuple[int, ...]
    only: Mapping[int, tuple[tuple[int, int, int], ...]]
    never: Mapping[int, tuple[tuple[int, int, int], ...]]
    capset: int


_WORD = 0xFFFFFFFF
_SELF = ((0, _WORD, 0),)
_TERMINALS = ((1, 0xFF00, 0x5400),)
_LOCKS = tuple((1, _WORD, command) for command in (5, 6, 7, 36, 37, 38, 1024, 1025, 1026))
_NEW_USER = ((0, 0x10000000, 0x10000000),)

_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        refused=(
            # Communication:
            # shmget, shmat, shmctl, socket, semget, semctl, semop, msgget, msgsnd, msgrcv, ptrace,
            # mq_open, add_key, request_key, keyctl, perf_event_open, process_vm_readv, process_vm_writev, bpf,
            # io_uring_setup, unshare, setns, kcmp, userfaultfd, pidfd_open, pidfd_getfd, pidfd_send_signal.
            29, 30, 31, 41, 64, 65, 66, 68, 69, 70, 101, 240, 248, 249, 250, 298, 310, 311, 321, 425, 272, 308, 312,
            323, 434, 438, 424,
            # Metadata of files: chmod, chown, utime, setxattr, removexattr, file_setattr and their variants.
            90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 452, 463, 466, 469,
            # Cached parts of files: mincore, preadv2, cachestat. Locks: flock. Notification of accesses to files:
            # inotify_init, inotify_init1, fanotify_init.
            27, 327, 451, 73, 253, 294, 300,
        ),
        absent=(435,),
        # Only for this process: sched_setparam, sched_setscheduler, sched_setaffinity, prlimit64, sched_setattr,
        # setpriority, ioprio_set. Only the commands of ioctl for terminals and descriptors.
        only={
            **dict.fromkeys((142, 144, 203, 302, 314), _SELF),
            141: ((0, _WORD, 0), (1, _WORD, 0)),
            251: ((0, _WORD, 1), (1, _WORD, 0)),
            16: _TERMINALS,
        },
        never={72: _LOCKS, 56: _NEW_USER},
        capset=126,
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        refused=(
            117, 180, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 198, 217, 218, 219, 241, 270, 271, 280,
            425, 97, 268, 272, 282, 434, 438, 424,
            5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 452, 463, 466, 469,
            232, 286, 451, 32, 26, 262,
        ),
        absent=(435,),
        only={
            **dict.fromkeys((118, 119, 122, 261, 274), _SELF),
            140: ((0, _WORD, 0), (1, _WORD, 0)),
            30: ((0, _WORD, 1), (1, _WORD, 0)),
            29: _TERMINALS,
        },
        never={25: _LOCKS, 220: _NEW_USER},
        capset=91,
    ),
}  # fmt: skip


def available() -> bool:
    """Return whether the numbers of the system calls are known for this machine."""
    return sys.platform == "linux" and platform.machine() in _MACHINES


def drop_capabilities() -> None:
    """Drop every capability of this process irrevocably; do nothing if `available` is False.

    Raises:
        OSError: the kernel refuses.
    """
    if not available():
        return
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    header = struct.pack("Ii", 0x20080522, 0)
    check(syscall(_MACHINES[platform.machine()].capset, header, bytes(24)), "capset")


def refuse_calls() -> None:
    """Install the filter irrevocably in this process and all that it starts; do nothing if `available` is False.

    Raises:
        OSError: the kernel refuses.
    """
    if not available():
        return
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    program = _program(_MACHINES[platform.machine()])
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(held))
    check(int(libc().prctl(PR_SET_SECCOMP, 2, header, 0, 0)), "seccomp")


_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ABSENT, _REFUSE, _ALLOW = -1, -2, -3
"""Targets of jumps: the last three lines of a program, counted from its end."""


def _program(machine: _Machine) -> list[tuple[int, int, int, int]]:
    """Return the lines of the filter as in `struct sock_filter`: code, jump if true, jump if false, value."""
    # struct seccomp_data: call number, architecture, instruction pointer, six arguments.
    lines = [
        (_LOAD, 0, 0, 4), (_EQUAL, 0, _REFUSE, machine.audit), (_LOAD, 0, 0, 0), (_AT_LEAST, _REFUSE, 0, 0x40000000),
    ]  # fmt: skip
    lines += [(_EQUAL, _ABSENT, 0, number) for number in machine.absent]
    lines += [(_EQUAL, _REFUSE, 0, number) for number in machine.refused]
    for number, conditions in machine.only.items():
        lines.append((_EQUAL, 0, 3 * len(conditions), number))
        for place, (argument, bits, value) in enumerate(conditions, 1):
            met = _ALLOW if place == len(conditions) else 0
            lines += [(_LOAD, 0, 0, 16 + 8 * argument), (_AND, 0, 0, bits), (_EQUAL, met, _REFUSE, value)]
    for number, conditions in machine.never.items():
        lines.append((_EQUAL, 0, 3 * len(conditions), number))
        for place, (argument, bits, value) in enumerate(conditions, 1):
            unmet = _ALLOW if place == len(conditions) else 0
            lines += [(_LOAD, 0, 0, 16 + 8 * argument), (_AND, 0, 0, bits), (_EQUAL, _REFUSE, unmet, value)]
    errno_of = 0x00050000
    lines += [(_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, errno_of | 1), (_RETURN, 0, 0, errno_of | 38)]

    def jump(to: int, at: int) -> int:
        return to if to >= 0 else len(lines) + to - at - 1

    return [(code, jump(true, at), jump(false, at), value) for at, (code, true, false, value) in enumerate(lines)]
