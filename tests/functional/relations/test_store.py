"""The whole store, on every database that it may be in."""

import dataclasses
import datetime as dt
from concurrent import futures

import pytest
from tests.functional.relations.cases import (
    NOON,
    NOVA,
    OTHER,
    SECOND_NOVA,
    SERVER,
    image_id,
    relation,
)

from imprint.relations import schema
from imprint.relations.model import Filter, Kind, Source, State
from imprint.relations.store import Store


@pytest.fixture
def store(database_url):
    schema.sync(database_url)
    store = Store(lambda: database_url)
    yield store
    store.engine.dispose()


@pytest.fixture
def fill(store):
    def fill(*relations):
        assert all(store.insert(one) for one in relations)

    return fill


def every(store):
    return [one for chunk in store.walk() for one in chunk]


def test_an_installation_is_registered_renamed_and_disabled(store):
    assert store.list_installations() == []
    first = store.register(NOVA, name="one", service_user_id="user")
    assert (first.uuid, first.name, first.enabled) == (NOVA, "one", True)
    store.register(SECOND_NOVA, name="two", service_user_id="other")
    assert store.disable(NOVA)
    assert not store.find_installation(NOVA).enabled
    again = store.register(NOVA, name="new", service_user_id="another")
    assert again == dataclasses.replace(
        first, name="new", service_user_id="another"
    )
    assert [one.uuid for one in store.list_installations()] == [
        NOVA,
        SECOND_NOVA,
    ]


def test_registering_the_same_again_changes_nothing(store):
    first = store.register(NOVA, name="one", service_user_id="user")
    assert store.register(NOVA, name="one", service_user_id="user") == first
    assert store.list_installations() == [first]


def test_an_installation_that_is_not_there_is_none(store):
    assert store.find_installation(NOVA) is None
    assert not store.disable(NOVA)


def test_an_installation_is_disabled_twice(store):
    store.register(NOVA, name="one", service_user_id="user")
    assert store.disable(NOVA)
    assert store.disable(NOVA)


def test_a_relation_comes_back_as_it_was_inserted(store):
    there = relation(source=Source.BACKFILL, kind=Kind.SHELVE)
    assert store.insert(there)
    assert store.find(*there.key) == there


def test_a_relation_is_inserted_once(store):
    assert store.insert(relation())
    assert not store.insert(relation(kind=Kind.BACKUP))
    assert every(store) == [relation()]


def test_of_many_that_insert_the_same_one_does(store):
    with futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(store.insert, [relation()] * 24))
    assert done.count(True) == 1


def test_a_pending_relation_is_listed_once_it_is_active(store, fill):
    pending = relation(state=State.PENDING)
    fill(pending)
    wanted = Filter(instance_uuid=SERVER)
    assert store.list_image_ids(wanted, limit=10) == []
    assert store.list_of_image(pending.image_id) == []
    store.activate(pending)
    assert store.list_image_ids(wanted, limit=10) == [pending.image_id]
    assert store.list_of_image(pending.image_id) == [relation()]


def test_a_relation_whose_row_vanished_is_active_all_the_same(store):
    store.activate(relation(state=State.PENDING))
    assert every(store) == [relation()]


def test_only_a_pending_relation_is_discarded(store, fill):
    fill(relation(1), relation(2, state=State.PENDING))
    store.discard(relation(1))
    store.discard(relation(2))
    assert every(store) == [relation(1)]


def test_a_server_has_its_images_of_all_novas_or_of_one(store, fill):
    fill(
        relation(1),
        relation(2, kind=Kind.BACKUP),
        relation(2, installation_uuid=SECOND_NOVA),
        relation(3, instance_uuid=OTHER),
        relation(4, instance_project_id="bob", project_id="bob"),
    )

    def listed(**wanted):
        return sorted(
            store.list_image_ids(
                Filter(instance_uuid=SERVER, **wanted), limit=10
            )
        )

    assert listed() == [image_id(1), image_id(2), image_id(4)]
    assert listed(installation_uuid=SECOND_NOVA) == [image_id(2)]
    assert listed(kinds=frozenset({Kind.BACKUP})) == [image_id(2)]
    assert listed(kinds=frozenset({Kind.BASE})) == []
    assert listed(project_id="alice") == [image_id(1), image_id(2)]
    assert (
        len(store.list_image_ids(Filter(instance_uuid=SERVER), limit=2)) == 2
    )


@pytest.mark.parametrize("newest_first", [True, False])
def test_pages_have_every_image_once_in_the_order_of_their_age(
    store, fill, newest_first
):
    """Also where some are of the same second."""
    fill(
        *(relation(n) for n in range(1, 5)),
        *(relation(n, created_at=NOON) for n in range(5, 10)),
        relation(9, installation_uuid=SECOND_NOVA),
    )
    wanted = Filter(instance_uuid=SERVER)
    listed, after = [], None
    while page := store.page_image_ids(
        wanted, after=after, limit=2, newest_first=newest_first
    ):
        assert len(page) <= 2
        listed += page
        after = page[-1]
    expected = [image_id(n) for n in (5, 6, 7, 8, 9, 1, 2, 3, 4)]
    assert listed == (expected[::-1] if newest_first else expected)


def test_there_is_no_page_after_an_image_of_another_server(store, fill):
    fill(relation(1), relation(2, instance_uuid=OTHER))
    assert (
        store.page_image_ids(
            Filter(instance_uuid=SERVER), after=image_id(2), limit=2
        )
        is None
    )


def test_a_page_comes_after_an_image_whose_kind_changed(store, fill):
    fill(relation(1), relation(2, kind=Kind.IMAGE), relation(3))
    wanted = Filter(instance_uuid=SERVER, kinds=frozenset({Kind.SNAPSHOT}))
    assert store.page_image_ids(wanted, after=image_id(2), limit=5) == [
        image_id(1)
    ]


def test_what_is_known_of_a_server_is_listed_newest_first(store, fill):
    fill(relation(1), relation(3), relation(2, kind=Kind.BASE))
    listed = store.list_of_server(Filter(instance_uuid=SERVER), limit=2)
    assert listed == [relation(3), relation(2, kind=Kind.BASE)]


def test_an_image_has_its_servers(store, fill):
    fill(relation(1), relation(1, instance_uuid=OTHER, kind=Kind.BASE))
    assert store.list_of_image(image_id(1)) == [
        relation(1),
        relation(1, instance_uuid=OTHER, kind=Kind.BASE),
    ]


def test_a_relation_is_deleted_once(store, fill):
    fill(relation(1), relation(2))
    assert store.delete(relation(1))
    assert not store.delete(relation(1))
    assert every(store) == [relation(2)]


def test_an_image_is_forgotten_but_as_a_base(store, fill):
    base = relation(1, instance_uuid=OTHER, kind=Kind.BASE)
    kept = relation(1, installation_uuid=SECOND_NOVA)
    fill(relation(1), base, kept, relation(2))
    store.forget_image(image_id(1), keep=kept)
    assert every(store) == [relation(2), kept, base]
    store.forget_image(image_id(1))
    assert every(store) == [relation(2), base]


def test_the_kind_and_the_owner_follow_the_image(store, fill):
    fill(
        relation(1),
        relation(1, instance_uuid=OTHER, kind=Kind.BASE),
        relation(2),
    )
    store.follow_image(image_id(1), kind=Kind.IMAGE)
    store.follow_image(image_id(1), project_id="bob")
    assert every(store) == [
        relation(1, kind=Kind.IMAGE, project_id="bob"),
        relation(2),
        relation(1, instance_uuid=OTHER, kind=Kind.BASE, project_id="bob"),
    ]


def test_those_that_pend_for_long_are_listed_by_age(store, fill):
    fill(
        relation(3, state=State.PENDING),
        relation(1, state=State.PENDING),
        relation(2),
        relation(9, state=State.PENDING),
    )
    before = NOON + dt.timedelta(minutes=5)
    listed = store.list_pending(before)
    assert [one.image_id for one in listed] == [image_id(1), image_id(3)]
    assert store.list_pending(before, limit=1) == listed[:1]


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_a_walk_comes_by_every_relation_once(store, fill, chunk):
    there = [
        relation(number, instance_uuid=server, installation_uuid=nova)
        for server in (SERVER, OTHER)
        for nova in (NOVA, SECOND_NOVA)
        for number in (1, 2)
    ]
    fill(*there)
    chunks = list(store.walk(chunk=chunk))
    assert [one for chunk in chunks for one in chunk] == there
    assert max(map(len, chunks)) <= chunk


def test_a_walk_may_delete_behind_itself(store, fill):
    fill(*(relation(number) for number in range(7)))
    for chunk in store.walk(chunk=2):
        for one in chunk:
            store.delete(one)
    assert every(store) == []
