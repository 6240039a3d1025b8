"""Relations to fill a store with."""

import dataclasses
import datetime as dt
import uuid

from imprint.relations.model import Kind, Relation

SERVER, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
NOVA, SECOND_NOVA = str(uuid.UUID(int=101)), str(uuid.UUID(int=102))
NOON = dt.datetime(2026, 5, 4, 12)  # noqa: DTZ001 - as the store has them


def image_id(number):
    return str(uuid.UUID(int=1000 + number))


def relation(number=1, **changes):
    """Build the relation of an image that is the older the lower it is."""
    return dataclasses.replace(
        Relation(
            instance_uuid=SERVER,
            installation_uuid=NOVA,
            image_id=image_id(number),
            kind=Kind.SNAPSHOT,
            created_at=NOON + dt.timedelta(minutes=number),
            project_id="alice",
            instance_project_id="alice",
            request_id=f"req-{uuid.UUID(int=number)}",
        ),
        **changes,
    )
