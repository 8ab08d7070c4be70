"""Ctrl-C, told from a `KeyboardInterrupt` that a plugin raises by itself.

Where SIGINT is ignored, no `KeyboardInterrupt` is the user's: a shell script starts what it puts into the background
(``bench run … &``) like that, and so does everything that is started from there.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["Interrupts"]


class Interrupts:
    """Notes that the user asked to stop, while it is entered (in the main thread, with Python's own handler).

    Attributes:
        seen: the user asked.
    """

    def __init__(self) -> None:
        self.seen = False
        self._noting = False
        self._unheard = False

    @property
    def possible(self) -> bool:
        """Whether a `KeyboardInterrupt` may be the user's: where another handler raises them, each may."""
        return self.seen or not (self._noting or self._unheard)

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        handler = signal.getsignal(signal.SIGINT)
        self._noting = main and handler is signal.default_int_handler
        self._unheard = handler in (signal.SIG_IGN, signal.SIG_DFL)
        if self._noting:
            signal.signal(signal.SIGINT, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        if self._noting:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.default_int_handler(number, frame)
