"""What maintenance reads of Glance's own tables, and nothing else.

Glance's API would do only one image at a time, and does not show those that
are deleted.  Nothing is written here.  The columns are compared with Glance's
models by a contract test.
"""

import contextlib
import dataclasses
import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from imprint import exceptions
from imprint.relations.engine import build_engine

#: How many images one statement reads.
CHUNK = 500
#: Seconds that a connect may take, and one statement.
_CONNECT, _STATEMENT = 30, 600
#: Deleted with ``delayed_delete``: the row is marked as deleted, but until the
#: scrubber has been there the image can be restored.
PENDING_DELETE = "pending_delete"

METADATA = sa.MetaData()
IMAGES = sa.Table(
    "images",
    METADATA,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("owner", sa.String(255)),
    sa.Column("status", sa.String(30), nullable=False),
    sa.Column("created_at", sa.DateTime, nullable=False),
    sa.Column("deleted", sa.Boolean, nullable=False),
)
PROPERTIES = sa.Table(
    "image_properties",
    METADATA,
    sa.Column("image_id", sa.String(36), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("value", sa.Text),
    sa.Column("deleted", sa.Boolean, nullable=False),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Image:
    """What is known of an image that Glance has.

    One with the status PENDING_DELETE is still there.
    """

    id: str
    owner: str | None
    status: str
    #: UTC without a time zone, to the second
    created_at: dt.datetime
    properties: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )


class Images:
    """Glance's images, in its own database.

    Every method raises StoreError when the database does not answer, or is
    none of Glance's.
    """

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url
        self._engine: sa.Engine | None = None

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sa.Connection]:
        if self._engine is None:
            self._engine = build_engine(
                self._url(), _CONNECT, patience=_STATEMENT
            )
        try:
            with self._engine.connect() as connection:
                yield connection
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as exc:
            origin = getattr(exc, "orig", None) or exc
            raise exceptions.StoreError(
                f"[database] connection is no database of Glance that "
                f"answers: {type(origin).__name__}"
            ) from exc

    def close(self) -> None:
        """Give back the connections."""
        if self._engine is not None:
            self._engine.dispose()

    def is_empty(self) -> bool:
        """Whether there was never an image, or all of them are purged."""
        with self._connect() as connection:
            found = connection.scalar(sa.select(IMAGES.c.id).limit(1))
        return found is None

    def find(self, image_ids: Collection[str]) -> dict[str, Image]:
        """Return those of some images that Glance has, by id."""
        found = {}
        wanted = sorted(set(image_ids))
        with self._connect() as connection:
            for start in range(0, len(wanted), CHUNK):
                chunk = wanted[start : start + CHUNK]
                query = _select().where(IMAGES.c.id.in_(chunk))
                for row in connection.execute(query).mappings():
                    found[row["id"]] = _build_image(row, {})
        return found

    def walk(
        self, names: Collection[str], *, chunk: int = CHUNK
    ) -> Iterator[list[Image]]:
        """Yield all images with some of their properties, in windows by id.

        Glance indexes neither the name nor the value of a property.
        """
        window = _select().order_by(IMAGES.c.id).limit(chunk)
        query = window
        while True:
            with self._connect() as connection:
                rows = connection.execute(query).mappings().all()
                if not rows:
                    return
                properties = _list_properties(
                    connection, [row["id"] for row in rows], names
                )
            yield [_build_image(row, properties[row["id"]]) for row in rows]
            query = window.where(IMAGES.c.id > rows[-1]["id"])


def _select() -> sa.Select[Any]:
    return sa.select(IMAGES).where(
        sa.or_(
            IMAGES.c.deleted == sa.false(), IMAGES.c.status == PENDING_DELETE
        )
    )


def _list_properties(
    connection: sa.Connection, image_ids: list[str], names: Collection[str]
) -> defaultdict[str, dict[str, str | None]]:
    query = sa.select(PROPERTIES).where(
        PROPERTIES.c.image_id.in_(image_ids),
        PROPERTIES.c.name.in_(sorted(names)),
        PROPERTIES.c.deleted == sa.false(),
    )
    listed: defaultdict[str, dict[str, str | None]] = defaultdict(dict)
    for row in connection.execute(query).mappings():
        listed[row["image_id"]][row["name"]] = row["value"]
    return listed


def _build_image(
    row: sa.RowMapping, properties: Mapping[str, str | None]
) -> Image:
    return Image(
        id=row["id"],
        owner=row["owner"],
        status=row["status"],
        created_at=row["created_at"].replace(microsecond=0),
        properties=properties,
    )
