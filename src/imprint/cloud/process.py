"""One service's process: started, watched, ended, its output in a log.

Knows processes and logs; what a service is for and in which order they
start is not its business.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imprint.cloud.errors import CloudError
from imprint.cloud.paths import SEARCH_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from imprint.cloud.model import Service

TAIL_LINES = 15
_POLL_SECONDS = 0.1
_LOG_BYTES = 16 << 20


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known of a service; `exit` is minus the signal, if by one."""

    name: str
    state: str
    pid: int | None = None
    exit: int | None = None


class Process:
    """The life of one service."""

    def __init__(self, service: Service, logs: Path) -> None:
        self.service = service
        self.log = logs / f"{service.name}.log"
        self._popen: subprocess.Popen[bytes] | None = None
        self._ready = False

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._popen is not None and self._popen.poll() is None

    def describe(self) -> State:
        """Return the state of today."""
        name = self.service.name
        if self._popen is None:
            return State(name=name, state="stopped")
        code = self._popen.poll()
        if code is None:
            state = "running" if self._ready else "starting"
            return State(name=name, state=state, pid=self._popen.pid)
        return State(name=name, state="dead", exit=code)

    def ensure(self, cancelled: threading.Event) -> bool:
        """Start unless it runs, wait until ready; return whether started."""
        if self.alive and self._ready:
            return False
        if not self.alive:
            self._start()
        self._wait_ready(cancelled)
        return True

    def _start(self) -> None:
        service = self.service
        service.prepare()
        environment = {
            "PATH": SEARCH_PATH,
            "LC_ALL": "C.UTF-8",
            "HOME": "/root",
            **service.environment,
        }
        self._ready = False
        self._rotate()
        with self.log.open("ab") as log:
            log.write(f"# {time.strftime('%F %T')} start\n".encode())
            log.flush()
            self._popen = subprocess.Popen(
                [*service.enter, *service.command],
                cwd="/",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own, so that its children end with it.
                start_new_session=True,
            )
        threading.Thread(
            target=self._reap, args=(self._popen,), daemon=True
        ).start()

    def _rotate(self) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))

    def _reap(self, popen: subprocess.Popen[bytes]) -> None:
        code = popen.wait()
        # What a killed service leaves would keep its ports and files.
        _signal_group(popen, signal.SIGKILL)
        with self.log.open("a") as log:
            log.write(f"# {time.strftime('%F %T')} end, exit code {code}\n")

    def _wait_ready(self, cancelled: threading.Event) -> None:
        name = self.service.name
        deadline = time.monotonic() + self.service.limit
        # The end first: what answers may be another's, at the same port.
        while True:
            if not self.alive:
                code = self.describe().exit
                raise CloudError(
                    f"{name} ended with exit code {code}:\n{self.read_tail()}"
                )
            if self.service.ready():
                break
            if cancelled.is_set():
                raise CloudError(f"{name} was not awaited")
            if time.monotonic() > deadline:
                raise CloudError(
                    f"{name} is not ready after {self.service.limit:.0f} s:\n"
                    f"{self.read_tail()}"
                )
            time.sleep(_POLL_SECONDS)
        self._ready = True

    def read_tail(self) -> str:
        """Return the last lines of the log."""
        with self.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - (1 << 16)))
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])

    def stop(self) -> None:
        """Ask the process to end, then end it."""
        popen = self._popen
        if popen is None or popen.poll() is not None:
            return
        popen.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(self.service.stop_seconds)
        _signal_group(popen, signal.SIGKILL)
        popen.wait()


def _signal_group(popen: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, number)
