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
    """A file of the database."""

    path: str
    size: int  # bytes; 0 removes an entity


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """The files of one entity in one directory of the search path."""

    rank: int  # the position of the directory, lowest priority first
    master: File | None = None  # ENTITY.xml
    extensions: tuple[File, ...] = ()  # ENTITY.d/*.xml, by name


#: what differs once somebody writes or replaces a file, or changes what a
#: directory holds; None: there is nothing
State = tuple[int, ...] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Listing:
    """The files of a database at one moment."""

    #: (OS or DEVICE, key of the entity) -> its places, lowest priority first
    entities: Mapping[tuple[str, str], tuple[Place, ...]]
    states: Mapping[str, State]  # of every path that was looked at

    def is_current(self) -> bool:
        """Tell whether no file has come, gone or changed since."""
        # one by one: a file written in place leaves its directory as it was
        return all(
            state_of(path) == known for path, known in self.states.items()
        )


def key_for(identifier: str) -> str:
    """Return where an entity's files must be: "ubuntu.com/ubuntu-22.04".

    libosinfo keeps letters, digits, '-', '.', '_' and the first slash, and
    makes every other byte a '-'.  Several identifiers can share a key: who
    reads the file has to compare.
    """
    plain = identifier.removeprefix("http://").encode(errors="replace")
    parts = [_OTHER_BYTES.sub(b"-", part) for part in plain.split(b"/", 1)]
    return b"/".join(parts).decode()


def scan(directories: Iterable[Path], warn: Warn) -> Listing:
    """List the files of every operating system and device, and their state.

    A directory that does not exist holds nothing; what cannot be read is
    left out after ``warn``.
    """
    scanner = _Scanner(warn)
    found: dict[tuple[str, str], list[Place]] = {}
    for rank, directory in enumerate(directories):
        for kind in (OS, DEVICE):
            for key, place in scanner.places(f"{directory}/{kind}", rank):
                found.setdefault((kind, key), []).append(place)
    return Listing(
        entities={entity: tuple(places) for entity, places in found.items()},
        states=scanner.states,
    )


def state_of(path: str) -> State:
    """Return the state of what is at ``path`` now."""
    try:
        found = os.stat(path)  # noqa: PTH116 a thousand at a time
    except OSError:
        return None
    return _state(found)


def _state(found: os.stat_result) -> State:
    return (
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_size,
        found.st_ino,
    )


class _Scanner:
    """Looks through directories and notes the state of what it sees."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self.states: dict[str, State] = {}

    def places(self, top: str, rank: int) -> Iterator[tuple[str, Place]]:
        """Yield what ``top`` and the directories of vendors in it hold.

        No deeper: no entity has its files there, and no link makes a circle.
        """
        entries = self._entries(top)
        yield from self._entities(entries, "", rank)
        for entry in entries:
            if not entry.name.endswith(
                (_SUFFIX, _EXTENSIONS)
            ) and self._is_directory(entry):
                inside = self._entries(entry.path)
                yield from self._entities(inside, f"{entry.name}/", rank)

    def _entities(
        self, entries: Iterable["os.DirEntry[str]"], prefix: str, rank: int
    ) -> Iterator[tuple[str, Place]]:
        """Yield the entities whose files are among ``entries``."""
        masters: dict[str, File] = {}
        extensions: dict[str, tuple[File, ...]] = {}
        for entry in entries:
            name = entry.name
            if name.endswith(_SUFFIX):
                if file := self._file(entry):
                    masters[name.removesuffix(_SUFFIX)] = file
            elif name.endswith(_EXTENSIONS) and self._is_directory(entry):
                files = [
                    self._file(each)
                    for each in self._entries(entry.path)
                    if each.name.endswith(_SUFFIX)
                ]
                extensions[name.removesuffix(_EXTENSIONS)] = tuple(
                    file for file in files if file
                )
        for name in masters.keys() | extensions.keys():
            yield (
                prefix + name,
                Place(
                    rank=rank,
                    master=masters.get(name),
                    extensions=extensions.get(name, ()),
                ),
            )

    def _entries(self, directory: str) -> list["os.DirEntry[str]"]:
        """Return what is in ``directory``, by name; nothing if it is none."""
        self.states[directory] = state_of(directory)  # before it is read
        try:
            with os.scandir(directory) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as exc:
            self._warn(directory, str(exc.strerror))
            return []

    def _is_directory(self, entry: "os.DirEntry[str]") -> bool:
        try:
            if entry.is_dir():
                return True
        except OSError as exc:  # a link to itself, or to where we may not
            self._warn(entry.path, str(exc.strerror))
        # a link may come to lead to a directory
        self.states[entry.path] = state_of(entry.path)
        return False

    def _file(self, entry: "os.DirEntry[str]") -> File | None:
        """Return a file that can be opened without harm."""
        try:
            found = entry.stat()
        except OSError as exc:
            self.states[entry.path] = None
            self._warn(entry.path, str(exc.strerror))
            return None
        self.states[entry.path] = _state(found)
        if stat.S_ISREG(found.st_mode):
            return File(entry.path, found.st_size)
        if stat.S_ISCHR(found.st_mode) and found.st_rdev == _NULL_DEVICE:
            return File(entry.path, 0)
        self._warn(entry.path, "not a file")  # to open a pipe would block
        return None
