"""What can go wrong, and how a process ended."""

from __future__ import annotations

import signal

__all__ = ["CallError", "EndedError", "MalformedError", "SandboxError", "StoppedError", "ending"]


class SandboxError(Exception):
    """No restricted process can be started here; the message says why."""


class EndedError(Exception):
    """The other side of a socket is gone."""


class MalformedError(Exception):
    """The other side sent something that it must not send."""


class StoppedError(Exception):
    """A restricted process was ended, or ended by itself.

    Attributes:
        kind: ``time`` (it took too long), ``exit`` (it left by itself), ``crash`` (a signal), ``killed`` (SIGKILL from
            outside, such as the kernel's out-of-memory killer), or ``malformed`` (it broke the protocol).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class CallError(Exception):
    """A call raised an error in the restricted process.

    Attributes:
        type: the name of the error's class.
        bases: ``module.name`` of that class and of its base classes. Sent by untrusted code, as all of this.
        trace: the traceback, for people.
    """

    def __init__(self, type: str, message: str, bases: tuple[str, ...], trace: str) -> None:
        super().__init__(message)
        self.type, self.bases, self.trace = type, bases, trace


def ending(code: int | None, memory: int | None) -> StoppedError:
    """The error for the exit code of a dead process; None where the code is not known."""
    if code is None:
        return StoppedError("killed", "its process is gone")
    if code >= 0:
        return StoppedError(
            "exit", f"its process died (exit code {code}): something in it called for the process to exit"
        )
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        reason = "killed from outside, when the machine is out of memory, perhaps"
        return StoppedError("killed", f"its process died ({name}): {reason}")
    limit = "" if memory is None else f"; memory was limited to {memory / 2**20:.0f} MiB"
    return StoppedError("crash", f"its process died ({name}): it crashed{limit}")
