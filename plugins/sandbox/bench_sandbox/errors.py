"""The package's errors, and the description of how a process ended."""

from __future__ import annotations

import signal

__all__ = ["CallError", "EndedError", "MalformedError", "SandboxError", "StoppedError", "ending"]


class SandboxError(Exception):
    """No restricted process can be started; the message gives the reason."""


class EndedError(Exception):
    """The other end of a socket is closed."""


class MalformedError(Exception):
    """The other end of a socket sent an invalid message."""


class StoppedError(Exception):
    """A restricted process was ended, or ended by itself.

    Attributes:
        kind: ``time`` (time limit), ``exit`` (it exited), ``crash`` (a signal), ``killed`` (SIGKILL from another
            process or the kernel's out-of-memory killer), or ``malformed`` (it sent an invalid message).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class CallError(Exception):
    """A call raised an error in the restricted process.

    Attributes:
        type: name of the error's class. All attributes are sent by untrusted code.
        bases: ``module.name`` of that class and of its base classes.
        trace: the traceback as text.
    """

    def __init__(self, type: str, message: str, bases: tuple[str, ...], trace: str) -> None:
        super().__init__(message)
        self.type, self.bases, self.trace = type, bases, trace


def ending(code: int | None, memory: int | None) -> StoppedError:
    """Return the error that describes how a process ended.

    Args:
        code: its exit code, negative for a signal; None if it is unknown.
        memory: its limit of memory in bytes, for the message; None: no limit.
    """
    if code is None:
        return StoppedError("killed", "its process is gone")
    if code >= 0:
        return StoppedError("exit", f"its process died (exit code {code}): its code ended the process")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        reason = "killed by another process or by the kernel, which may be out of memory"
        return StoppedError("killed", f"its process died ({name}): {reason}")
    limit = "" if memory is None else f"; memory was limited to {memory / 2**20:.0f} MiB"
    return StoppedError("crash", f"its process died ({name}): it crashed{limit}")
