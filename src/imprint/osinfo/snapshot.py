"""The database as it was when its files were listed.

Reads a file when it is asked for the first time and keeps what it said.  When
a file changes, the whole snapshot is replaced: see
:mod:`imprint.osinfo.database`.
"""

import re
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar
from xml.etree import ElementTree as ET

from imprint.hardware import facts
from imprint.osinfo import document, listing, model

_T = TypeVar("_T", bound=model.Entry | model.Device)
#: root, path and the name of the extension ("" for a master) -> what it says
_Build = Callable[[ET.Element, str, str], list[_T]]

# What a short id looks like where nothing unusual is written (a comment, a
# character reference); a file with another start tag of it is parsed.
_START = b"<short-id"
_PLAIN = re.compile(rb"<short-id>\s*([^<>&\s]+)\s*</short-id\s*>")


class Snapshot:
    """What the listed files say; safe in threads."""

    def __init__(self, files: listing.Listing, warn: listing.Warn) -> None:
        self.files = files
        self._entities = files.entities
        self._warn = warn
        self._lock = threading.RLock()
        self._entries: dict[str, tuple[model.Entry, ...]] = {}
        self._names: dict[str, str] = {}
        self._facts: dict[str, facts.OsFacts] = {}
        self._short_ids: dict[str, tuple[str, ...]] | None = None

    def has_systems(self) -> bool:
        """Tell whether there are files of any operating system."""
        return any(kind == listing.OS for kind, _ in self._entities)

    def find_facts(self, uri: str) -> facts.OsFacts | None:
        """Return the system ``uri`` with all it inherits."""
        known = self._facts.get(uri)
        if known is not None:
            return known
        with self._lock:
            entry = self.find_entry(uri)
            if entry is None:
                return None
            built = model.build_facts(entry, self.find_entry, self._name_of)
            return self._facts.setdefault(uri, built)

    def find_entry(self, uri: str) -> model.Entry | None:
        """Return what the database says of ``uri`` itself."""
        for entry in self.entries(listing.key_for(uri)):
            if entry.id == uri:
                return entry
        return None

    def entries(self, key: str) -> tuple[model.Entry, ...]:
        """Return the systems of the files of ``key``: one, as a rule."""
        entity = (listing.OS, key)
        # what is not there is not remembered: anybody may ask for anything
        if entity not in self._entities:
            return ()
        known = self._entries.get(key)
        if known is None:
            with self._lock:
                if key not in self._entries:
                    self._entries[key] = self._read_entries(entity)
                known = self._entries[key]
        return known

    def find_short_id(
        self, short_id: str, *, any_case: bool = False
    ) -> facts.OsFacts | None:
        """Return the system with ``short_id``.

        Of several, the one in the directory of the highest priority.
        """
        folded = short_id.lower()
        for key in self.short_ids().get(folded, ()):
            for entry in self.entries(key):
                names = entry.short_ids
                if short_id in names or (
                    any_case and folded in map(str.lower, names)
                ):
                    return self.find_facts(entry.id)
        return None

    def short_ids(self) -> dict[str, tuple[str, ...]]:
        """Return every short id, in lower case, and the keys it is in.

        The best key comes first.  Some are of files that do not count, or
        stand in a comment: the entries have the last word.
        """
        if self._short_ids is None:
            with self._lock:
                if self._short_ids is None:
                    self._short_ids = self._index()
        return self._short_ids

    def list_keys(self) -> list[str]:
        """Return the keys of all operating systems."""
        return sorted(
            key for kind, key in self._entities if kind == listing.OS
        )

    def list_entries(self) -> list[model.Entry]:
        """Return all operating systems, by their keys."""
        return [
            entry for key in self.list_keys() for entry in self.entries(key)
        ]

    def _read_entries(
        self, entity: tuple[str, str]
    ) -> tuple[model.Entry, ...]:
        def build(
            root: ET.Element, path: str, extension: str
        ) -> list[model.Entry]:
            return document.build_entries(
                root, extension, lambda what: self._warn(path, what)
            )

        parts: dict[str, list[model.Entry]] = {}
        for entry in self._parts(entity, build):
            parts.setdefault(entry.id, []).append(entry)
        return tuple(model.merge(each) for each in parts.values())

    def _name_of(self, uri: str) -> str:
        """Return a device's name; one without a name goes by its URI."""
        if uri not in self._names:
            name = uri
            entity = (listing.DEVICE, listing.key_for(uri))
            for device in self._parts(
                entity, lambda root, *_: document.build_devices(root)
            ):
                if device.id == uri:
                    name = device.name or name
            self._names[uri] = name
        return self._names[uri]

    def _parts(self, entity: tuple[str, str], build: _Build[_T]) -> list[_T]:
        """Return what the files of ``entity`` say, the strongest last."""
        parts: list[_T] = []
        for place in reversed(self._entities.get(entity, ())):
            extensions: list[_T] = []
            for file in place.extensions:
                name = file.path.rpartition("/")[2]
                extensions += self._read(file, name, entity[1], build) or ()
            master: list[_T] | None = None
            if place.master is not None:
                master = self._read(place.master, "", entity[1], build)
            parts = [*(master or ()), *extensions, *parts]
            if master is not None:
                break  # it replaces what comes before it
        return parts

    def _read(
        self,
        file: listing.File,
        extension: str,
        key: str,
        build: _Build[_T],
    ) -> list[_T] | None:
        """Return what ``file`` says of ``key``; None: it is of no use."""
        if file.size == 0:
            return []
        try:
            root = document.parse(document.read(file.path, file.size))
            parts = build(root, file.path, extension)
        except OSError as exc:
            self._warn(file.path, str(exc.strerror))
            return None
        except document.InvalidDocumentError as exc:
            self._warn(file.path, str(exc))
            return None
        fitting = []
        for part in parts:
            if listing.key_for(part.id) == key:
                fitting.append(part)
            else:
                self._warn(file.path, f"{part.id} does not belong here")
        return fitting

    def _index(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, int]] = {}
        for (kind, key), places in self._entities.items():
            if kind != listing.OS:
                continue
            for rank, short_id in self._short_ids_of(places, key):
                found.setdefault(short_id.lower(), {})[key] = rank
        return {
            short_id: tuple(sorted(ranks, key=lambda key: (-ranks[key], key)))
            for short_id, ranks in found.items()
        }

    def _short_ids_of(
        self, places: tuple[listing.Place, ...], key: str
    ) -> Iterator[tuple[int, str]]:
        """Yield the short ids of an entity and the rank of their place.

        Also some of files that do not count in the end: see keys_of().
        """
        for place in places:
            for file in (place.master, *place.extensions):
                if file is None or file.size == 0:
                    continue
                try:
                    data = document.read(file.path, file.size)
                except (OSError, document.InvalidDocumentError):
                    continue  # told when somebody needs the file
                plain = _PLAIN.findall(data)
                if len(plain) == data.count(_START):
                    for short_id in plain:
                        yield place.rank, short_id.decode(errors="replace")
                else:
                    for entry in self.entries(key):
                        for name in entry.short_ids:
                            yield place.rank, name
