"""A line on the terminal while something takes long: first compiles and long uploads. Nothing where stderr is no
terminal, and nothing for what is done within half a second."""
from __future__ import annotations

import sys
import time

_PATIENCE_SECONDS = 0.5
_EVERY_SECONDS = 0.1


class Progress:
    """Use as a context; call ``show`` whenever there is something to say."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + _PATIENCE_SECONDS
        self._shown = 0
        self.enabled = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()

    def show(self, what: str) -> None:
        """Draws ``what`` and the seconds since the start, if it is time to."""
        now = time.monotonic()
        if not self.enabled or now < self._next:
            return
        self._next = now + _EVERY_SECONDS
        text = f"uopd: {what}, {now - self._start:.1f} s"
        sys.stderr.write("\r" + text.ljust(self._shown))
        self._shown = len(text)
        sys.stderr.flush()
