"""Ask the libosinfo database about an operating system.

Reads the XML itself, lazily: a process that asks about one system parses the
files of that system, its ancestors and their devices.
"""

import logging
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from imprint.hardware import facts
from imprint.osinfo import listing, matching, model, snapshot
from imprint.osinfo.matching import Match

__all__ = ["Database", "Match"]

LOG = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
MAX_REASON = 200  # characters of a warning that a file can fill


class Database:
    """The libosinfo database in some directories; safe in threads.

    ``directories`` come with the lowest priority first, see
    :func:`imprint.osinfo.search_path.build_search_path`.  Changed files are
    noticed within ``check_seconds``.
    """

    def __init__(
        self,
        directories: Iterable[Path],
        *,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        self._directories = tuple(directories)
        self._check_seconds = check_seconds
        self._lock = threading.Lock()
        self._snapshot: snapshot.Snapshot | None = None
        self._check_at = 0.0
        self._warned: set[tuple[str, listing.State]] = set()

    def exists(self) -> bool:
        """Tell whether some directory holds an operating system."""
        return self._current().has_systems()

    def find(self, name: str) -> facts.OsFacts | None:
        """Return the system with this URI or short id, exactly."""
        current = self._current()
        if "://" in name:
            return current.find_facts(name)
        return current.find_short_id(name)

    def find_entry(self, uri: str) -> model.Entry | None:
        """Return what the database says of ``uri`` itself, not inherited."""
        return self._current().find_entry(uri)

    def list_all(self) -> list[facts.OsFacts]:
        """Return every operating system, by its URI."""
        current = self._current()
        found = (
            current.find_facts(entry.id) for entry in current.list_entries()
        )
        return sorted(filter(None, found), key=lambda each: each.id)

    def resolve(
        self,
        name: str,
        *,
        distro: str | None = None,
        version: str | None = None,
        family: str | None = None,
    ) -> Match | None:
        """Return the system that fits best, None if nothing does.

        ``name`` is a URI or a short id, known or not; ``distro``,
        ``version`` and ``family`` say what else is known, in Glance's words
        or libosinfo's.
        """
        wanted = matching.Wanted.of(name, distro, version, family)
        return matching.match(self._current(), wanted)

    def _current(self) -> snapshot.Snapshot:
        """Return the database as it is now, or was a moment ago."""
        known = self._snapshot
        if known is not None and time.monotonic() < self._check_at:
            return known
        with self._lock:
            known = self._snapshot
            if known is not None and time.monotonic() < self._check_at:
                return known
            if known is None or not known.files.is_current():
                known = self._take_snapshot()
                self._snapshot = known
            self._check_at = time.monotonic() + self._check_seconds
            return known

    def _take_snapshot(self) -> snapshot.Snapshot:
        taken = snapshot.Snapshot(
            listing.scan(self._directories, self._warn), self._warn
        )
        if not taken.has_systems():
            LOG.warning(
                "There is no libosinfo database in %s",
                ", ".join(map(str, self._directories)),
            )
        return taken

    def _warn(self, path: str, what: str) -> None:
        """Log what is wrong with a file, once until the file changes."""
        told = (path, listing.state_of(path))
        if told not in self._warned:
            self._warned.add(told)
            LOG.warning(
                "Skipping %s of the libosinfo database: %s",
                _one_line(path),
                _one_line(what)[:MAX_REASON],
            )


def _one_line(text: str) -> str:
    """Return ``text``, which is from a file or its name, fit for a log."""
    return "".join(
        each if each.isprintable() else ascii(each)[1:-1] for each in text
    )
