"""Starts a server of the benchmark, waits for it, and ends only that."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from bench.relations.errors import BenchmarkError

START_SECONDS = 120
STOP_SECONDS = 300  # a database writes what it has in memory


@contextlib.contextmanager
def running(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: pathlib.Path,
    answers: Callable[[], bool],
    stop: signal.Signals = signal.SIGTERM,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server from when it answers until the block is left."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment
        )
    try:
        _wait(process, answers, log)
        yield process
    finally:
        process.send_signal(stop)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: pathlib.Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a command to its end; raises BenchmarkError where it fails."""
    with log.open("ab") as output:
        done = subprocess.run(
            command, stdout=output, stderr=output, env=environment, check=False
        )
    if done.returncode:
        raise BenchmarkError(f"{command[0]} failed:\n{_tail(log)}")


def _wait(
    process: subprocess.Popen[bytes],
    answers: Callable[[], bool],
    log: pathlib.Path,
) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        if process.poll() is not None:
            raise BenchmarkError(f"{process.args!r} ended:\n{_tail(log)}")
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{process.args!r} does not answer")
        time.sleep(0.1)


def _tail(log: pathlib.Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])
