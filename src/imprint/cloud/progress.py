"""Says what is going on and how long each phase took.

One line per phase for people; the same facts as data for scripts.  Knows
nothing of what the phases do.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Something that was done and how long it took, in seconds."""

    name: str
    seconds: float


@dataclass(kw_only=True)
class Progress:
    """Collects phases; prints them where there is somewhere to print to."""

    out: TextIO | None = None
    phases: list[Phase] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done inside; a failure is not a phase."""
        started = time.monotonic()
        yield
        self.record(name, time.monotonic() - started)

    def record(self, name: str, seconds: float) -> None:
        """Add a phase that was timed elsewhere."""
        with self._lock:
            self.phases.append(Phase(name=name, seconds=round(seconds, 2)))
        self.say(f"{name:<28}{seconds:6.1f} s")

    def say(self, line: str) -> None:
        """Print one line."""
        if self.out:
            self.out.write(f"{line}\n")
            self.out.flush()

    @property
    def total(self) -> float:
        """Seconds since the start."""
        return round(time.monotonic() - self._started, 2)
