"""How the host's half speaks to the supervisor: lines of JSON on a socket.

One request, then any number of phases, then one answer or one error.  Knows
the protocol, not what is asked for.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from typing import TYPE_CHECKING, Any

from imprint.cloud.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Message = dict[str, Any]


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Give a name for a socket that is short enough for any directory."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listen(path: Path) -> socket.socket:
    """Listen where only the administrator may speak."""
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        with _short(path) as name:
            server.bind(name)
    finally:
        os.umask(before)
    server.listen()
    return server


def connect(path: Path) -> socket.socket:
    """Connect to the supervisor; raises OSError when none is there."""
    client = socket.socket(socket.AF_UNIX)
    try:
        with _short(path) as name:
            client.connect(name)
    except OSError:
        client.close()
        raise
    return client


def find_peer(client: socket.socket) -> int:
    """Return the process id of who listens, as this side sees it."""
    size = struct.calcsize("3i")
    peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = struct.unpack("3i", peer)[0]
    return pid


def ask(
    path: Path,
    request: Message,
    on_phase: Callable[[str, float], None] = lambda _name, _seconds: None,
    timeout: float | None = None,
) -> Message:
    """Send a request and return the answer; raises CloudError.

    The timeout, in seconds, is for each line of what comes back.
    """
    try:
        client = connect(path)
    except OSError as error:
        raise CloudError("the cloud's supervisor does not answer") from error
    client.settimeout(timeout)
    try:
        with client, client.makefile("rw") as stream:
            stream.write(json.dumps(request) + "\n")
            stream.flush()
            for line in stream:
                message: Message = json.loads(line)
                if "phase" not in message:
                    break
                on_phase(message["phase"], message["seconds"])
            else:
                raise CloudError(
                    "the cloud's supervisor ended before it answered"
                )
    except OSError as error:
        raise CloudError(f"the cloud's supervisor: {error}") from error
    if "error" in message:
        raise CloudError(message["error"])
    return message
