"""Which files make up an operating system or a device of the database.

A database is several directories of the same layout, where a later one
replaces, adds to or removes what the earlier ones say.  This part knows paths
and the state of files, never what they hold.
"""

import dataclasses
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

Warn = Callable[[str, str], None]  # path, what is wrong

OS = "os"
DEVICE = "device"

_SUFFIX = ".xml"
_EXTENSIONS = ".d"
_NULL_DEVICE = os.makedev(1, 3)
_OTHER_BYTES = re.compile(rb"[^A-Za-z0-9._-]")


class File(NamedTuple):
    """A file, and what changes when somebody writes or replaces it."""

    path: str
    size: int  # bytes; 0 removes an entity
    modified: int  # ns
    changed: int  # ns
    inode: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """The files of one entity in one directory of the search path."""

    rank: int  # the position of the directory, lowest priority first
    master: File | None = None  # ENTITY.xml
    extensions: tuple[File, ...] = ()  # ENTITY.d/*.xml, by name


#: (OS or DEVICE, key of the entity) -> its places, lowest priority first
Listing = Mapping[tuple[str, str], tuple[Place, ...]]


def key_for(identifier: str) -> str:
    """Return where an entity's files must be: "ubuntu.com/ubuntu-22.04".

    libosinfo keeps letters, digits, '-', '.', '_' and the first slash, and
    makes every other byte a '-'.  Several identifiers can share a key: who
    reads the file has to compare.
    """
    vendor, slash, name = (
        identifier.removeprefix("http://").encode().partition(b"/")
    )
    kept = [_OTHER_BYTES.sub(b"-", part) for part in (vendor, name)]
    return slash.join(kept).decode() if slash else kept[0].decode()


def scan(directories: Iterable[Path], warn: Warn) -> Listing:
    """List the files of every operating system and device, and their state.

    Two listings are equal if and only if no file has come, gone or changed.
    A directory that does not exist holds nothing; what cannot be read is
    left out after ``warn``.
    """
    found: dict[tuple[str, str], list[Place]] = {}
    for rank, directory in enumerate(directories):
        for kind in (OS, DEVICE):
            top = f"{directory}/{kind}"
            for key, place in _places(top, rank, warn):
                found.setdefault((kind, key), []).append(place)
    return {entity: tuple(places) for entity, places in found.items()}


def _places(top: str, rank: int, warn: Warn) -> Iterator[tuple[str, Place]]:
    """Yield what ``top`` and the directories of vendors in it hold."""
    yield from _entities(top, "", rank, warn)
    for entry in _entries(top, warn):
        if not entry.name.endswith(_EXTENSIONS) and entry.is_dir():
            prefix = f"{entry.name}/"
            yield from _entities(entry.path, prefix, rank, warn)


def _entities(
    directory: str, prefix: str, rank: int, warn: Warn
) -> Iterator[tuple[str, Place]]:
    """Yield the entities whose files are in ``directory`` itself."""
    masters: dict[str, File] = {}
    extensions: dict[str, tuple[File, ...]] = {}
    for entry in _entries(directory, warn):
        if entry.name.endswith(_SUFFIX):
            if file := _file(entry, warn):
                masters[entry.name.removesuffix(_SUFFIX)] = file
        elif entry.name.endswith(_EXTENSIONS) and entry.is_dir():
            files = [
                _file(each, warn)
                for each in _entries(entry.path, warn)
                if each.name.endswith(_SUFFIX)
            ]
            name = entry.name.removesuffix(_EXTENSIONS)
            extensions[name] = tuple(file for file in files if file)
    for name in masters.keys() | extensions.keys():
        yield (
            prefix + name,
            Place(
                rank=rank,
                master=masters.get(name),
                extensions=extensions.get(name, ()),
            ),
        )


def _entries(directory: str, warn: Warn) -> list["os.DirEntry[str]"]:
    """Return what is in ``directory``, by name; nothing if it is none."""
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as exc:
        warn(directory, str(exc.strerror))
        return []


def _file(entry: "os.DirEntry[str]", warn: Warn) -> File | None:
    """Return the state of a file that can be opened without harm."""
    try:
        state = entry.stat()
    except OSError as exc:
        warn(entry.path, str(exc.strerror))
        return None
    if stat.S_ISCHR(state.st_mode) and state.st_rdev == _NULL_DEVICE:
        return File(entry.path, 0, 0, 0, state.st_ino)
    if not stat.S_ISREG(state.st_mode):
        if not stat.S_ISDIR(state.st_mode):  # opening a pipe would block
            warn(entry.path, "not a regular file")
        return None
    return File(
        entry.path,
        state.st_size,
        state.st_mtime_ns,
        state.st_ctime_ns,
        state.st_ino,
    )
