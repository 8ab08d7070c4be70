"""Ctrl-C, told from a `KeyboardInterrupt` that a plugin raises by itself."""

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

    @property
    def possible(self) -> bool:
        """Whether a `KeyboardInterrupt` may be the user's: where none is noted, each may."""
        return self.seen or not self._noting

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        self._noting = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._noting:
            signal.signal(signal.SIGINT, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        if self._noting:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.default_int_handler(number, frame)
