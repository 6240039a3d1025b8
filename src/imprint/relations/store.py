"""Reads and writes relations and installations.

Every call is one short transaction.  Knows neither Glance nor HTTP; whether
somebody may do what he asks for is his caller's business.
"""

import contextlib
import dataclasses
import datetime as dt
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from imprint import exceptions
from imprint.relations.engine import build_engine
from imprint.relations.model import (
    Filter,
    Installation,
    Kind,
    Relation,
    Source,
    State,
)
from imprint.relations.tables import INSTALLATIONS, RELATIONS

#: How many rows one statement of a maintenance run touches.
CHUNK = 1000
#: What tells one relation from all others, in the order of the primary key.
_KEY = (
    RELATIONS.c.instance_uuid,
    RELATIONS.c.installation_uuid,
    RELATIONS.c.image_id,
)


def now() -> dt.datetime:
    """Return the time as the store keeps it: UTC, to the second."""
    utc = dt.datetime.now(dt.UTC)
    return utc.replace(tzinfo=None, microsecond=0)


class Store:
    """The relations in one database.

    ``url`` is asked for at the first use: a process that forks must not
    share connections, and Glance reads its configuration late.
    Every method raises StoreError when the database does not do what it is
    asked for within ``timeout`` seconds.
    """

    def __init__(self, url: Callable[[], str], *, timeout: int = 5) -> None:
        self._url = url
        self._timeout = timeout
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None

    @property
    def engine(self) -> sa.Engine:
        """The engine, made when it is first needed."""
        with self._lock:
            if self._engine is None:
                self._engine = build_engine(self._url(), self._timeout)
            return self._engine

    @contextlib.contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        try:
            with self.engine.begin() as connection:
                yield connection
        except sa.exc.IntegrityError:
            raise
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as exc:
            # not its text, which has the statement and its values
            origin = getattr(exc, "orig", None) or exc
            raise exceptions.StoreError(
                f"the store of image relations does not answer: "
                f"{type(origin).__name__}"
            ) from exc

    # Installations

    def register(
        self, uuid: str, *, name: str, service_user_id: str
    ) -> Installation:
        """Register an installation, or give it a name and a user anew.

        One that was disabled is enabled by that.
        """
        values = {
            "name": name,
            "service_user_id": service_user_id,
            "enabled": True,
        }
        where = INSTALLATIONS.c.uuid == uuid
        with self._begin() as connection:
            found = connection.execute(
                INSTALLATIONS.update().where(where).values(values)
            ).rowcount
            # MySQL counts rows that changed, not rows that were found
            if not found and not connection.scalar(
                sa.select(INSTALLATIONS.c.id).where(where)
            ):
                connection.execute(
                    INSTALLATIONS.insert().values(
                        uuid=uuid, created_at=now(), **values
                    )
                )
        registered = self.find_installation(uuid)
        if registered is None:
            raise exceptions.StoreError(f"installation {uuid} is gone again")
        return registered

    def disable(self, uuid: str) -> bool:
        """Believe an installation no longer; False: there is none."""
        where = INSTALLATIONS.c.uuid == uuid
        with self._begin() as connection:
            connection.execute(
                INSTALLATIONS.update().where(where).values(enabled=False)
            )
            return bool(
                connection.scalar(sa.select(INSTALLATIONS.c.id).where(where))
            )

    def find_installation(self, uuid: str) -> Installation | None:
        """Return the installation of a UUID, disabled or not."""
        query = sa.select(INSTALLATIONS).where(INSTALLATIONS.c.uuid == uuid)
        with self._begin() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _build_installation(row)

    def list_installations(self) -> list[Installation]:
        """List them in the order of their registration."""
        query = sa.select(INSTALLATIONS).order_by(INSTALLATIONS.c.id)
        with self._begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [_build_installation(row) for row in rows]

    # Recording: pending, then Glance, then active or gone

    def insert(self, relation: Relation) -> bool:
        """Insert a relation; False: there is one of the same key already."""
        try:
            with self._begin() as connection:
                connection.execute(
                    RELATIONS.insert().values(_build_values(relation))
                )
        except sa.exc.IntegrityError:
            return False
        return True

    def activate(self, relation: Relation) -> None:
        """Make a relation active, also where its row vanished meanwhile."""
        where = _where(relation)
        with self._begin() as connection:
            connection.execute(
                RELATIONS.update()
                .where(where)
                .values(state=State.ACTIVE, project_id=relation.project_id)
            )
            there = connection.scalar(
                sa.select(RELATIONS.c.image_id).where(where)
            )
        if there is None:
            self.insert(dataclasses.replace(relation, state=State.ACTIVE))

    def discard(self, relation: Relation) -> None:
        """Delete a relation that is still pending."""
        with self._begin() as connection:
            connection.execute(
                RELATIONS.delete().where(
                    _where(relation), RELATIONS.c.state == State.PENDING
                )
            )

    # Listing

    def list_image_ids(self, wanted: Filter, *, limit: int) -> list[str]:
        """List the images of a server, in no order, ``limit`` at most.

        One image comes once, also where two installations know it.
        """
        query = (
            sa.select(RELATIONS.c.image_id)
            .distinct()
            .where(*_match(wanted))
            .limit(limit)
        )
        with self._begin() as connection:
            return list(connection.scalars(query))

    def page_image_ids(
        self,
        wanted: Filter,
        *,
        after: str | None,
        limit: int,
        newest_first: bool = True,
    ) -> list[str] | None:
        """List the images of a server by age, ``limit`` after an image.

        The order is (created_at, image_id); None: ``after`` is no image of
        the server.
        """
        age = sa.func.min(RELATIONS.c.created_at)
        image = RELATIONS.c.image_id
        query = sa.select(image).where(*_match(wanted)).group_by(image)
        with self._begin() as connection:
            if after is not None:
                # of any kind: it may have changed since the page before
                any_kind = dataclasses.replace(wanted, kinds=frozenset())
                since = connection.scalar(
                    sa.select(age).where(*_match(any_kind), image == after)
                )
                if since is None:
                    return None
                query = query.having(
                    sa.or_(
                        age < since if newest_first else age > since,
                        sa.and_(
                            age == since,
                            image < after if newest_first else image > after,
                        ),
                    )
                )
            order = (
                [age.desc(), image.desc()] if newest_first else [age, image]
            )
            return list(
                connection.scalars(query.order_by(*order).limit(limit))
            )

    def list_of_server(self, wanted: Filter, *, limit: int) -> list[Relation]:
        """List what is known of a server's images, the newest first."""
        query = (
            sa.select(RELATIONS)
            .where(*_match(wanted))
            .order_by(
                RELATIONS.c.created_at.desc(), RELATIONS.c.image_id.desc()
            )
            .limit(limit)
        )
        return self._list(query)

    def list_of_image(self, image_id: str) -> list[Relation]:
        """List the servers of an image."""
        query = (
            sa.select(RELATIONS)
            .where(
                RELATIONS.c.image_id == image_id,
                RELATIONS.c.state == State.ACTIVE,
            )
            .order_by(
                RELATIONS.c.created_at,
                RELATIONS.c.installation_uuid,
                RELATIONS.c.instance_uuid,
            )
        )
        return self._list(query)

    def find(
        self, instance_uuid: str, installation_uuid: str, image_id: str
    ) -> Relation | None:
        """Return one relation, pending or active."""
        found = self._list(
            sa.select(RELATIONS).where(
                RELATIONS.c.instance_uuid == instance_uuid,
                RELATIONS.c.installation_uuid == installation_uuid,
                RELATIONS.c.image_id == image_id,
            )
        )
        return found[0] if found else None

    # Changing

    def delete(self, relation: Relation) -> bool:
        """Delete one relation; False: it was gone."""
        with self._begin() as connection:
            return bool(
                connection.execute(
                    RELATIONS.delete().where(_where(relation))
                ).rowcount
            )

    def forget_image(
        self, image_id: str, *, keep: Relation | None = None
    ) -> None:
        """Delete the relations of an image that is gone, ``keep`` aside.

        Lineage stays: relations of the kind base outlive their image.
        """
        where = [
            RELATIONS.c.image_id == image_id,
            RELATIONS.c.kind != Kind.BASE,
        ]
        if keep is not None:
            where.append(sa.not_(_where(keep)))
        with self._begin() as connection:
            connection.execute(RELATIONS.delete().where(*where))

    def follow_image(
        self,
        image_id: str,
        *,
        kind: Kind | None = None,
        project_id: str | None = None,
    ) -> None:
        """Follow a change of an image: what it is, whose it is.

        ``kind`` is for what was a snapshot or a backup; None: not changed.
        """
        of_image = RELATIONS.c.image_id == image_id
        with self._begin() as connection:
            if kind is not None:
                changeable = [Kind.SNAPSHOT, Kind.BACKUP, Kind.IMAGE]
                connection.execute(
                    RELATIONS.update()
                    .where(of_image, RELATIONS.c.kind.in_(changeable))
                    .values(kind=kind)
                )
            if project_id is not None:
                connection.execute(
                    RELATIONS.update()
                    .where(of_image)
                    .values(project_id=project_id)
                )

    # Maintenance

    def list_pending(
        self,
        before: dt.datetime,
        *,
        after: Relation | None = None,
        limit: int = CHUNK,
    ) -> list[Relation]:
        """List relations that are pending since before a time, by age.

        ``after`` is the last one of the list before.
        """
        order = (RELATIONS.c.created_at, *_KEY)
        query = (
            sa.select(RELATIONS)
            .where(
                RELATIONS.c.state == State.PENDING,
                RELATIONS.c.created_at < before,
            )
            .order_by(*order)
            .limit(limit)
        )
        if after is not None:
            last = (after.created_at, *after.key)
            query = query.where(_after(order, last))
        return self._list(query)

    def list_of_images(self, image_ids: Collection[str]) -> list[Relation]:
        """List what is known of some images, pending or active."""
        return self._list(
            sa.select(RELATIONS)
            .where(RELATIONS.c.image_id.in_(sorted(image_ids)))
            .order_by(*_KEY)
        )

    def insert_all(self, relations: Collection[Relation]) -> int:
        """Insert those whose key is not there yet; how many there were."""
        if not relations:
            return 0
        try:
            with self._begin() as connection:
                connection.execute(
                    RELATIONS.insert(), [_build_values(r) for r in relations]
                )
        except sa.exc.IntegrityError:
            # somebody inserts one of them at this time
            return sum(map(self.insert, relations))
        return len(relations)

    def delete_all(self, relations: Collection[Relation]) -> None:
        """Delete relations, but not what came under their key since."""
        if not relations:
            return
        statement = RELATIONS.delete().where(
            *(column == sa.bindparam(f"_{column.name}") for column in _KEY),
            RELATIONS.c.created_at == sa.bindparam("_created_at"),
        )
        with self._begin() as connection:
            connection.execute(
                statement,
                [
                    {
                        "_instance_uuid": one.instance_uuid,
                        "_installation_uuid": one.installation_uuid,
                        "_image_id": one.image_id,
                        "_created_at": one.created_at,
                    }
                    for one in relations
                ],
            )

    def walk(self, *, chunk: int = CHUNK) -> Iterator[list[Relation]]:
        """Yield all relations in chunks by key, each read for itself."""
        query = sa.select(RELATIONS).order_by(*_KEY).limit(chunk)
        found = self._list(query)
        while found:
            yield found
            found = self._list(query.where(_after(_KEY, found[-1].key)))

    def _list(self, query: sa.Select[Any]) -> list[Relation]:
        with self._begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [_build_relation(row) for row in rows]


def _match(wanted: Filter) -> list[sa.ColumnElement[bool]]:
    where = [
        RELATIONS.c.instance_uuid == wanted.instance_uuid,
        RELATIONS.c.state == State.ACTIVE,
    ]
    if wanted.installation_uuid is not None:
        where.append(RELATIONS.c.installation_uuid == wanted.installation_uuid)
    if wanted.kinds:
        where.append(RELATIONS.c.kind.in_(sorted(wanted.kinds)))
    if wanted.project_id is not None:
        where.append(
            sa.or_(
                RELATIONS.c.instance_project_id == wanted.project_id,
                # whose image it is knows what it was made of, not who boots it
                sa.and_(
                    RELATIONS.c.project_id == wanted.project_id,
                    RELATIONS.c.kind != Kind.BASE,
                ),
            )
        )
    return where


def _after(
    columns: Sequence[sa.Column[Any]], values: Sequence[Any]
) -> sa.ColumnElement[bool]:
    """Build what comes after a key, so that every database uses its index.

    MariaDB reads the whole table for a comparison of tuples.
    """
    last = len(columns) - 1
    return sa.and_(
        columns[0] >= values[0],
        sa.or_(
            *(
                sa.and_(
                    *(columns[j] == values[j] for j in range(i)),
                    columns[i] > values[i],
                )
                for i in range(last + 1)
            )
        ),
    )


def _where(relation: Relation) -> sa.ColumnElement[bool]:
    return sa.and_(
        RELATIONS.c.instance_uuid == relation.instance_uuid,
        RELATIONS.c.installation_uuid == relation.installation_uuid,
        RELATIONS.c.image_id == relation.image_id,
    )


def _build_values(relation: Relation) -> dict[str, Any]:
    return {
        field.name: getattr(relation, field.name)
        for field in dataclasses.fields(relation)
    }


def _build_relation(row: sa.RowMapping) -> Relation:
    return Relation(
        **{
            **row,
            "kind": Kind(row["kind"]),
            "state": State(row["state"]),
            "source": Source(row["source"]),
        }
    )


def _build_installation(row: sa.RowMapping) -> Installation:
    return Installation(**{k: v for k, v in row.items() if k != "id"})
