"""Which processes keep a cloud's namespaces, and how these are ended.

The keeper waits outside; the first process inside is the namespace's init.
When it dies the kernel ends all others, and only then lets it go: to wait
for it is to wait for all of them.  Knows processes, not what they do.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process; with its start, in ticks, it is named for good."""

    pid: int
    start: str

    @property
    def exists(self) -> bool:
        """Whether it is still there, and more than a name."""
        found = _read(self.pid)
        return found is not None and found == (self.start, True)

    def kill(self) -> None:
        """Kill it, unless another one has its number by now."""
        if self.exists:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def record(path: Path, *, keeper: int, init: int | None = None) -> None:
    """Write down who must end for the namespaces to end."""
    found = {pid: _read(pid) for pid in (keeper, init) if pid is not None}
    processes = [
        {"pid": pid, "start": facts[0]}
        for pid, facts in found.items()
        if facts
    ]
    path.write_text(json.dumps(processes))


def load(path: Path) -> list[Process]:
    """Read who was written down; none when nothing can be read."""
    try:
        return [Process(**process) for process in json.loads(path.read_text())]
    except (FileNotFoundError, ValueError, TypeError):
        return []


def end(path: Path, seconds: float) -> bool:
    """Kill who was written down and wait; return whether all have ended."""
    processes = load(path)
    # The innermost that is known: the keeper sees its end, takes note of it
    # for the kernel, and ends itself.
    for process in processes[-1:]:
        process.kill()
    deadline = time.monotonic() + seconds
    while any(process.exists for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _read(pid: int) -> tuple[str, bool] | None:
    """Read when a process started and whether it lives; proc_pid_stat(5)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return fields[19], fields[0] not in "ZX"
