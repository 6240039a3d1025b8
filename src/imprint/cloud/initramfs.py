"""Writes an initramfs: a cpio archive in the kernel's "newc" format.

Written here and not by cpio(1), so that equal input gives equal bytes and
device nodes need no privilege. It must not know what the archive is for.

The format: Documentation/driver-api/early-userspace/buffer-format.rst in
the kernel's source.
"""

import dataclasses
import stat
from collections.abc import Iterable, Iterator

_TRAILER = "TRAILER!!!"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One file, folder or device of the archive.

    The mode holds type and permissions, as in stat(2); device is the
    (major, minor) pair of a device node.
    """

    path: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder(path: str) -> Entry:
    """Build the entry of a folder."""
    return Entry(path=path, mode=stat.S_IFDIR | 0o755)


def file(path: str, content: bytes, *, executable: bool = False) -> Entry:
    """Build the entry of a regular file."""
    permissions = 0o755 if executable else 0o644
    return Entry(path=path, mode=stat.S_IFREG | permissions, content=content)


def link(path: str, to: str) -> Entry:
    """Build the entry of a symbolic link."""
    return Entry(path=path, mode=stat.S_IFLNK | 0o777, content=to.encode())


def character_device(path: str, major: int, minor: int) -> Entry:
    """Build the entry of a character device."""
    return Entry(path=path, mode=stat.S_IFCHR | 0o600, device=(major, minor))


def build(entries: Iterable[Entry]) -> bytes:
    """Build the archive: a folder must come before what lies in it."""
    records = [
        _record(number, entry) for number, entry in enumerate(entries, 1)
    ]
    records.append(_record(0, Entry(path=_TRAILER, mode=0)))
    return b"".join(part for record in records for part in record)


def _record(number: int, entry: Entry) -> Iterator[bytes]:
    name = entry.path.encode() + b"\0"
    fields = (
        number,  # inode
        entry.mode,
        0,  # user
        0,  # group
        1,  # links
        0,  # time of change: equal input, equal bytes
        len(entry.content),
        0,  # the device that holds the file
        0,
        *entry.device,
        len(name),
        0,  # checksum, unused in this format
    )
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    yield _padded(head)
    yield _padded(entry.content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
