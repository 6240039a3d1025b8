"""What is known of an image and a server.

A *relation* ties an image to an instance of a Nova installation.  Knows no
database and no HTTP.
"""

import dataclasses
import datetime as dt
import enum


class Kind(enum.StrEnum):
    """What an image is to a server."""

    SNAPSHOT = "snapshot"
    BACKUP = "backup"
    #: what a shelved server is made from again
    SHELVE = "shelve"
    #: what a server was made from; outlives the image
    BASE = "base"
    #: was a snapshot or a backup until its owner changed image_type
    IMAGE = "image"


class State(enum.StrEnum):
    """Whether the image of a relation is known to exist."""

    #: written before Glance was asked for the image; never listed
    PENDING = "pending"
    ACTIVE = "active"


class Source(enum.StrEnum):
    """Who said so."""

    #: the service user of a registered installation
    NOVA = "nova"
    #: an administrator
    API = "api"
    #: a property that a tenant can write; never shown as verified
    BACKFILL = "backfill"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Relation:
    """One image of one server.

    UUIDs are in Glance's and Nova's form, 36 characters with lower case hex
    digits; ``created_at`` is UTC without a time zone, to the second.
    """

    instance_uuid: str
    installation_uuid: str
    image_id: str
    kind: Kind
    created_at: dt.datetime
    state: State = State.ACTIVE
    source: Source = Source.NOVA
    #: who owns the image
    project_id: str | None = None
    #: who owns the server
    instance_project_id: str | None = None
    request_id: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells this relation from all others."""
        return (self.instance_uuid, self.installation_uuid, self.image_id)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Installation:
    """One Nova, and the user that it shows service tokens of."""

    uuid: str
    name: str
    service_user_id: str
    enabled: bool = True
    created_at: dt.datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class Filter:
    """Which relations of a server are wanted; active ones only."""

    instance_uuid: str
    #: None: of any Nova
    installation_uuid: str | None = None
    #: none: of every kind
    kinds: frozenset[Kind] = frozenset()
    #: only of this project's servers, or made into its images; None: all
    project_id: str | None = None
