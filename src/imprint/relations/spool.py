"""Relations that wait on this host's disk for a store that was down.

One file per relation, written whole or not at all, so that two workers never
write into one file.  Reconciling puts them into the store.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator

from imprint.relations.model import Kind, Relation, Source, State

SUFFIX = ".relation"


class Spool:
    """The relations that wait in one directory, which need not exist."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory

    def add(self, relation: Relation) -> None:
        """Write a relation down; raises OSError."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=self._directory, prefix=".", delete=False
        ) as new:
            json.dump(_render(relation), new)
            new.flush()
            os.fsync(new.fileno())
        pathlib.Path(new.name).rename(self._directory / _name(relation))

    def __iter__(self) -> Iterator[tuple[pathlib.Path, Relation | None]]:
        """Yield each file and its relation; None: not one that we wrote."""
        for path in sorted(self._directory.glob(f"*{SUFFIX}")):
            try:
                yield path, _parse(json.loads(path.read_text()))
            except FileNotFoundError:  # another run was faster
                continue
            except (OSError, ValueError, TypeError, KeyError):
                yield path, None


def _name(relation: Relation) -> str:
    return "_".join(relation.key) + SUFFIX


def _render(relation: Relation) -> dict[str, str | None]:
    return {
        **dataclasses.asdict(relation),
        "created_at": relation.created_at.isoformat(),
    }


def _parse(kept: dict[str, str]) -> Relation:
    created_at = datetime.datetime.fromisoformat(kept["created_at"])
    return Relation(
        **{
            **kept,
            "created_at": created_at,
            "kind": Kind(kept["kind"]),
            "state": State(kept["state"]),
            "source": Source(kept["source"]),
        }
    )
