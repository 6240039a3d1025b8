"""The first process in a root's own namespaces: mounts, then becomes it.

Run as `python -m imprint.cloud.enter` by `unshare`, where mounts are
private: they vanish with the last process, however it ends.  Knows mounts,
not what is run.  Standard library only: it runs in the host's environment.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a namespace's first process is told to do by an Entry.
ENTER = (sys.executable, "-m", "imprint.cloud.enter")
# Put before a command: killed, this process takes the command with it.
WITH_ME = ("setpriv", "--pdeathsig", "KILL", "--")
# Administrators' programs may not be on the caller's.
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What to mount where in which root, and what to run there.

    Binds map places in the root to places on the host; a missing place in
    the root is made.
    """

    root: str
    command: list[str]
    environment: dict[str, str]
    binds: dict[str, str] = field(default_factory=dict)
    hostname: str | None = None
    directory: str = "/"

    def as_environment(self) -> dict[str, str]:
        """Return what `main` takes, beside the caller's environment.

        Not an argument: those show in every user's list of processes.
        """
        return {**os.environ, "IMPRINT_ENTRY": json.dumps(asdict(self))}


def build_unshare(*, hostname: bool, command: Sequence[str]) -> list[str]:
    """Build what starts a command in namespaces of its own.

    The command is the first process of its PID namespace: when it dies the
    kernel ends all others, and their mounts with them.
    """
    return [
        *("unshare", "--mount", "--propagation", "private", "--ipc"),
        *(["--uts"] if hostname else []),
        # The unshare that waits outside takes the namespace with it.
        *("--pid", "--fork", "--kill-child=KILL", "--"),
        *command,
    ]


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def mount_all(entry: Entry) -> None:
    """Make the root a place where programs feel at home."""
    root = entry.root
    # libvirt's own namespaces need the root to be a mount point.
    _mount("--bind", root, root)
    _mount("-t", "proc", "proc", f"{root}/proc")
    for place in ("sys", "dev"):
        _mount("--rbind", f"/{place}", f"{root}/{place}")
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", f"{root}/run")
    for place in ("dev/shm", "tmp"):
        _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{root}/{place}")
    for inside, outside in entry.binds.items():
        target = Path(root + inside)
        if Path(outside).is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.touch()
        _mount("--bind", outside, str(target))


def pivot(root: str) -> None:
    """Make the root that of the mount namespace; the host's files are gone.

    With chroot(2) whoever enters the namespace by a file that keeps it, as
    nsenter(1) does, would find itself in the host's root.
    """
    old = Path(root, "mnt")
    command = ["pivot_root", root, str(old)]
    subprocess.run(command, check=True, env={"PATH": _PATH})
    os.chdir("/")
    command = ["umount", "--lazy", "/mnt"]
    subprocess.run(command, check=True, env={"PATH": _PATH})


def main() -> None:
    """Mount, change the root and become the command."""
    entry = Entry(**json.loads(os.environ.pop("IMPRINT_ENTRY")))
    try:
        mount_all(entry)
        pivot(entry.root)
    except subprocess.CalledProcessError as error:
        message = f"cannot mount in {entry.root}: {error}"
        raise SystemExit(message) from error
    if entry.hostname:
        socket.sethostname(entry.hostname)
    os.chdir(entry.directory)
    try:
        os.execvpe(entry.command[0], entry.command, entry.environment)  # noqa: S606
    except OSError as error:
        message = f"cannot run {entry.command[0]}: {error.strerror}"
        raise SystemExit(message) from error


if __name__ == "__main__":
    main()
