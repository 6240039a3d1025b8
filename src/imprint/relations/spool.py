"""Relations that wait on this host's disk for a store that was down.

The store has the registry of installations too, so they are claims yet:
reconciling believes those whose installation is registered for the service
user that came with them.  One file per claim, written whole or not at all, so
that two workers never write into one file.
"""

import dataclasses
import datetime as dt
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from imprint.relations.model import Kind, Relation, Source, State

SUFFIX = ".relation"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """A relation, and the user of the service token that came with it."""

    relation: Relation
    service_user_id: str


class Spool:
    """The claims that wait in one directory, which need not exist."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory

    def add(self, claim: Claim) -> None:
        """Write a claim down; raises OSError."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=self._directory, prefix=".", delete=False
        ) as new:
            json.dump(_render(claim), new)
            new.flush()
            os.fsync(new.fileno())
        pathlib.Path(new.name).rename(self._directory / _name(claim.relation))

    def __iter__(self) -> Iterator[tuple[pathlib.Path, Claim | None]]:
        """Yield each file and its claim; None: not one that we wrote."""
        for path in sorted(self._directory.glob(f"*{SUFFIX}")):
            try:
                yield path, _parse(json.loads(path.read_text()))
            except FileNotFoundError:  # another run was faster
                continue
            except (OSError, ValueError, TypeError, KeyError):
                yield path, None


def _name(relation: Relation) -> str:
    return "_".join(relation.key) + SUFFIX


def _render(claim: Claim) -> dict[str, Any]:
    relation = {
        **dataclasses.asdict(claim.relation),
        "created_at": claim.relation.created_at.isoformat(),
    }
    return {"relation": relation, "service_user_id": claim.service_user_id}


def _parse(kept: dict[str, Any]) -> Claim:
    relation = kept["relation"]
    created_at = dt.datetime.fromisoformat(relation["created_at"])
    return Claim(
        relation=Relation(
            **{
                **relation,
                "created_at": created_at,
                "kind": Kind(relation["kind"]),
                "state": State(relation["state"]),
                "source": Source(relation["source"]),
            }
        ),
        service_user_id=kept["service_user_id"],
    )
