"""Reconcile, gc and backfill on Glance's own tables, on every database."""

import datetime as dt
import uuid

import pytest
import sqlalchemy as sa
from glance.db.sqlalchemy import models
from tests.functional.relations.cases import (
    NOON,
    NOVA,
    OTHER,
    SECOND_NOVA,
    SERVER,
    image_id,
    relation,
)

from imprint import exceptions
from imprint.relations import maintenance, schema
from imprint.relations.images import Images
from imprint.relations.model import Kind, Source, State
from imprint.relations.spool import Claim, Spool
from imprint.relations.store import Store, now

HOUR = dt.timedelta(hours=1)
USER = "5e7c1ce0"


class Glance:
    """Glance's tables, written as Glance writes them."""

    def __init__(self, url):
        self.engine = sa.create_engine(url)
        # all of them take a second each time
        models.BASE.metadata.create_all(
            self.engine,
            tables=[models.Image.__table__, models.ImageProperty.__table__],
        )

    def add(self, number=1, *, properties=None, **changes):
        values = {
            "id": image_id(number),
            "owner": "alice",
            "status": "active",
            "visibility": "private",
            "created_at": NOON + dt.timedelta(minutes=number),
            "updated_at": NOON,
            "deleted": False,
            "min_disk": 0,
            "min_ram": 0,
            "protected": False,
            "os_hidden": False,
            **changes,
        }
        with self.engine.begin() as connection:
            connection.execute(models.Image.__table__.insert(), values)
            for name, value in (properties or {}).items():
                connection.execute(
                    models.ImageProperty.__table__.insert(),
                    {
                        "image_id": values["id"],
                        "name": name,
                        "value": value,
                        "created_at": NOON,
                        "deleted": values["deleted"],
                    },
                )


@pytest.fixture
def glance(database_url):
    glance = Glance(database_url)
    yield glance
    glance.engine.dispose()


@pytest.fixture
def images(glance, database_url):
    images = Images(lambda: database_url)
    yield images
    images.close()


@pytest.fixture
def store(database_url, glance):
    """The store in the database of Glance."""
    schema.sync(database_url)
    store = Store(lambda: database_url)
    store.register(NOVA, name="one", service_user_id=USER)
    yield store
    store.engine.dispose()


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "spool")


@pytest.fixture
def reconcile(store, images, spool):
    def reconcile(older_than=HOUR, **keywords):
        return maintenance.reconcile(
            store, images, spool, older_than=older_than, **keywords
        )

    return reconcile


@pytest.fixture
def collect(store, images):
    return lambda **keywords: maintenance.collect(store, images, **keywords)


@pytest.fixture
def backfill(store, images):
    return lambda uuid=NOVA, **keywords: maintenance.backfill(
        store, images, uuid, **keywords
    )


def every(store):
    return [one for chunk in store.walk() for one in chunk]


def counts(**expected):
    return {
        **dict.fromkeys(("recorded", "promoted", "dropped", "refused"), 0),
        **expected,
    }


def collected(**expected):
    return {**dict.fromkeys(("kept", "gone", "reused", "base"), 0), **expected}


def pending(number=1, **changes):
    return relation(number, state=State.PENDING, **changes)


def claim(number=1, user=USER, **changes):
    return Claim(relation=pending(number, **changes), service_user_id=user)


# Reconcile


def test_a_pending_relation_whose_image_is_there_becomes_active(
    glance, store, reconcile
):
    glance.add(1)
    store.insert(pending(1))
    assert reconcile() == counts(promoted=1)
    assert every(store) == [relation(1)]
    assert reconcile() == counts()


@pytest.mark.parametrize(
    "image",
    [
        None,
        {"owner": "bob"},
        {"deleted": True, "status": "deleted"},
        {"created_at": NOON + dt.timedelta(days=1)},
    ],
    ids=["purged", "of another", "deleted", "of the same id"],
)
def test_a_pending_relation_is_dropped_without_its_image(
    glance, store, reconcile, image
):
    if image is not None:
        glance.add(1, **image)
    store.insert(pending(1))
    assert reconcile() == counts(dropped=1)
    assert every(store) == []


def test_what_pends_for_less_than_the_limit_is_left(store, reconcile):
    young = pending(1, created_at=now() - dt.timedelta(minutes=50))
    store.insert(young)
    assert reconcile() == counts()
    assert every(store) == [young]
    assert reconcile(older_than=dt.timedelta(minutes=40)) == counts(dropped=1)


def test_many_that_pend_are_settled_in_chunks(
    glance, store, reconcile, monkeypatch
):
    numbers = range(1, 12)
    for number in numbers:
        store.insert(pending(number, created_at=NOON))
        if number % 2:
            glance.add(number, created_at=NOON)
    listed = store.list_pending
    monkeypatch.setattr(
        store, "list_pending", lambda *a, **k: listed(*a, limit=3, **k)
    )
    assert reconcile(dry_run=True) == counts(promoted=6, dropped=5)
    assert len(store.list_pending(now())) == 3
    assert reconcile() == counts(promoted=6, dropped=5)
    assert len(every(store)) == 6
    assert reconcile() == counts()


def test_a_claim_of_the_spool_is_recorded_once(
    glance, store, spool, reconcile
):
    glance.add(1)
    spool.add(claim(1))
    assert reconcile(dry_run=True) == counts(recorded=1)
    assert every(store) == []
    assert reconcile() == counts(recorded=1)
    assert every(store) == [relation(1)]
    assert reconcile() == counts()
    assert every(store) == [relation(1)]


def test_a_claim_settles_its_pending_row(glance, store, spool, reconcile):
    glance.add(1)
    store.insert(pending(1))
    spool.add(claim(1))
    assert reconcile() == counts(recorded=1)
    assert every(store) == [relation(1)]


def test_a_claim_whose_image_is_gone_is_dropped(store, spool, reconcile):
    spool.add(claim(1))
    assert reconcile() == counts(dropped=1)
    assert every(store) == []
    assert list(spool) == []


@pytest.mark.parametrize(
    "changes",
    [{"user": "another"}, {"installation_uuid": SECOND_NOVA}],
    ids=["another user", "not registered"],
)
def test_a_claim_that_is_not_to_be_believed_stays_on_the_disk(
    glance, store, spool, reconcile, changes
):
    glance.add(1)
    spool.add(claim(1, **changes))
    assert reconcile() == counts(refused=1)
    assert every(store) == []
    assert len(list(spool)) == 1


def test_a_claim_of_a_disabled_installation_waits_for_it(
    glance, store, spool, reconcile
):
    glance.add(1)
    spool.add(claim(1))
    store.disable(NOVA)
    assert reconcile() == counts(refused=1)
    store.register(NOVA, name="one", service_user_id=USER)
    assert reconcile() == counts(recorded=1)


def test_a_file_that_is_no_claim_is_left(spool, reconcile, tmp_path):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/broken.relation").write_text("{")
    assert reconcile() == counts(refused=1)
    assert (tmp_path / "spool/broken.relation").exists()


# Garbage


def test_relations_of_images_that_are_gone_are_deleted(glance, store, collect):
    glance.add(1)
    glance.add(2, status="deleted", deleted=True)
    for number in (1, 2, 3):
        store.insert(relation(number))
    assert collect(dry_run=True) == collected(kept=1, gone=2)
    assert len(every(store)) == 3
    assert collect() == collected(kept=1, gone=2)
    assert every(store) == [relation(1)]
    assert collect() == collected(kept=1)


@pytest.mark.parametrize(
    "image",
    [
        {"visibility": "community"},
        {"visibility": "shared"},
        {"os_hidden": True},
        {"status": "queued"},
        {"status": "deactivated"},
        {"status": "pending_delete", "deleted": True},
    ],
    ids=str,
)
def test_an_image_that_no_list_shows_keeps_its_relations(
    glance, store, collect, image
):
    glance.add(1, **image)
    store.insert(relation(1))
    assert collect() == collected(kept=1)


def test_lineage_outlives_the_image_until_it_is_asked_for(
    glance, store, collect
):
    glance.add(9)
    base = relation(1, kind=Kind.BASE)
    store.insert(base)
    store.insert(relation(9, kind=Kind.BASE))
    assert collect() == collected(kept=2)
    assert collect(with_base=True) == collected(kept=1, base=1)
    assert every(store) == [relation(9, kind=Kind.BASE)]


def test_an_image_with_the_id_of_a_purged_one_has_no_relations_of_it(
    glance, store, collect
):
    glance.add(1, created_at=NOON + dt.timedelta(minutes=3))
    glance.add(2, created_at=NOON + dt.timedelta(minutes=2, seconds=59))
    glance.add(3, created_at=NOON + dt.timedelta(days=3))
    base = relation(3, kind=Kind.BASE)
    for one in (relation(1), relation(2), base):
        store.insert(one)
    assert collect() == collected(kept=2, reused=1)
    assert every(store) == [relation(2), base]


def test_what_pends_is_left_for_reconciling(glance, store, collect):
    glance.add(9)
    store.insert(pending(1))
    assert collect() == collected(kept=1)


def test_a_glance_without_any_image_is_not_believed(store, collect):
    store.insert(relation(1))
    with pytest.raises(exceptions.StoreError, match=r"\[database\]"):
        collect()
    assert every(store) == [relation(1)]


def test_many_are_collected_in_chunks(glance, store, collect, monkeypatch):
    for number in range(1, 11):
        store.insert(relation(number))
        if number % 3 == 0:
            glance.add(number)
    walk = store.walk
    monkeypatch.setattr(store, "walk", lambda: walk(chunk=2))
    monkeypatch.setattr("imprint.relations.images.CHUNK", 1)
    assert collect() == collected(kept=3, gone=7)
    assert [one.image_id for one in every(store)] == [
        image_id(number) for number in (3, 6, 9)
    ]


# Backfill


def of_nova(server=SERVER, kind="snapshot", **more):
    return {"instance_uuid": server, "image_type": kind, **more}


def test_snapshots_and_backups_of_before_are_recorded(glance, store, backfill):
    glance.add(1, properties=of_nova())
    glance.add(2, properties=of_nova(OTHER, "backup"), owner="bob")
    expected = [
        relation(
            1,
            source=Source.BACKFILL,
            instance_project_id=None,
            request_id=None,
        ),
        relation(
            2,
            instance_uuid=OTHER,
            kind=Kind.BACKUP,
            source=Source.BACKFILL,
            project_id="bob",
            instance_project_id=None,
            request_id=None,
        ),
    ]
    assert backfill(dry_run=True) == {"added": 2, "known": 0}
    assert every(store) == []
    assert backfill() == {"added": 2, "known": 0}
    assert every(store) == expected
    assert backfill() == {"added": 0, "known": 2}
    assert every(store) == expected


@pytest.mark.parametrize(
    ("properties", "image"),
    [
        ({"instance_uuid": SERVER}, {}),
        (of_nova(kind="image"), {}),
        (of_nova(kind="Snapshot "), {}),
        (of_nova(kind=None), {}),
        ({"image_type": "snapshot"}, {}),
        (of_nova("x" * 36), {}),
        (of_nova(SERVER + "\n"), {}),
        (of_nova(""), {}),
        (of_nova(None), {}),
        (of_nova(block_device_mapping="[]"), {}),
        (of_nova(), {"status": "deleted", "deleted": True}),
        (of_nova(), {"status": "pending_delete", "deleted": True}),
    ],
    ids=str,
)
def test_what_is_not_certainly_made_of_a_server_is_left(
    glance, store, backfill, properties, image
):
    glance.add(1, properties=properties, **image)
    assert backfill() == {"added": 0, "known": 0}
    assert every(store) == []


def test_an_image_that_is_known_of_is_left(glance, store, backfill):
    """Also as another Nova's, or as one that its owner promoted."""
    there = [
        relation(1, installation_uuid=SECOND_NOVA),
        relation(2, kind=Kind.IMAGE),
        pending(3),
    ]
    for number in (1, 2, 3):
        glance.add(number, properties=of_nova())
    for one in there:
        store.insert(one)
    assert backfill() == {"added": 0, "known": 3}
    assert sorted(every(store), key=str) == sorted(there, key=str)


def test_a_snapshot_that_a_server_was_made_from_is_recorded_too(
    glance, store, backfill
):
    glance.add(1, properties=of_nova())
    store.insert(relation(1, instance_uuid=OTHER, kind=Kind.BASE))
    assert backfill() == {"added": 1, "known": 0}


def test_many_images_are_read_in_windows(
    glance, store, images, backfill, monkeypatch
):
    for number in range(1, 8):
        glance.add(number, properties=of_nova() if number != 4 else {})
    walk = images.walk
    monkeypatch.setattr(images, "walk", lambda names: walk(names, chunk=2))
    assert backfill() == {"added": 6, "known": 0}


def test_of_two_runs_at_once_each_image_is_recorded_once(store):
    """The other one was faster with one of a chunk."""
    store.insert(relation(2))
    assert store.insert_all([relation(1), relation(2), relation(3)]) == 2
    assert len(every(store)) == 3


def test_what_came_under_a_key_since_is_not_deleted(store):
    later = relation(1, created_at=NOON + dt.timedelta(days=1))
    store.insert(later)
    store.insert(relation(2))
    store.delete_all([relation(1), relation(2), relation(3)])
    assert every(store) == [later]


def test_a_database_that_is_not_glances_is_told(database_url):
    images = Images(lambda: database_url)
    with pytest.raises(exceptions.StoreError, match=r"\[database\]"):
        images.is_empty()
    images.close()


def test_two_databases_may_be_far_apart(glance, images, tmp_path, spool):
    """The store need not be in Glance's database."""
    url = f"sqlite:///{tmp_path / uuid.uuid4().hex}"
    schema.sync(url)
    store = Store(lambda: url)
    store.insert(relation(1))
    store.insert(relation(2))
    glance.add(1)
    assert maintenance.collect(store, images) == collected(kept=1, gone=1)
    store.engine.dispose()
