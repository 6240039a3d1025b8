import collections
import itertools

import pytest
from bench.relations.population import (
    BIG_TENANT,
    COLUMNS,
    LISTED,
    NULL,
    PROPERTIES,
    Population,
)

COUNT = 2000


@pytest.fixture(scope="module")
def cloud():
    return Population(COUNT)


def read(cloud, table):
    text = "".join(cloud.rows(table))
    return [
        dict(zip(COLUMNS[table], line.split("\t"), strict=True))
        for line in text.splitlines()
    ]


@pytest.mark.parametrize("table", COLUMNS)
def test_every_run_has_the_same_rows(table):
    one, other = Population(COUNT), Population(COUNT)
    assert list(one.rows(table)) == list(other.rows(table))


def test_images_come_in_the_order_of_their_key(cloud):
    ids = [row["id"] for row in read(cloud, "images")]
    assert len(set(ids)) == COUNT
    assert ids == sorted(ids)


def test_every_image_has_fifteen_properties_in_the_order_of_their_key(cloud):
    rows = read(cloud, "image_properties")
    keys = [(row["image_id"], row["name"]) for row in rows]
    assert len(PROPERTIES) == 15
    assert len(keys) == 15 * COUNT
    assert keys == sorted(keys)


def test_one_tenant_owns_a_tenth_of_the_images(cloud):
    owners = collections.Counter(r["owner"] for r in read(cloud, "images"))
    assert owners[BIG_TENANT] == COUNT // 10


def test_small_tenants_have_few_servers_each(cloud):
    servers = cloud.servers_of_small_tenants()
    each = collections.Counter(server.project for server in servers)
    assert max(each.values()) <= 60


def test_the_property_and_the_relations_name_the_same_images(cloud):
    deleted = {
        row["id"]: row["deleted_at"] != NULL for row in read(cloud, "images")
    }
    by_property = {
        (row["value"], row["image_id"])
        for row in read(cloud, "image_properties")
        if row["name"] == "instance_uuid" and not deleted[row["image_id"]]
    }
    by_relation = {
        (row["instance_uuid"], row["image_id"])
        for row in read(cloud, "imprint_image_instances")
    }
    assert by_property == by_relation


def test_a_server_has_the_images_that_lists_are_checked_for(cloud):
    relations = read(cloud, "imprint_image_instances")
    each = collections.Counter(row["instance_uuid"] for row in relations)
    assert set(each) == {server.uuid for server in cloud.servers}
    assert set(each.values()) == {LISTED}


def test_only_shared_images_have_members(cloud):
    shared = {
        row["id"]
        for row in read(cloud, "images")
        if row["visibility"] == "shared"
    }
    members = [row["image_id"] for row in read(cloud, "image_members")]
    assert set(members) == shared
    assert shared


def test_clouds_of_two_sizes_share_no_image():
    one, other = (
        {row["id"] for row in read(Population(count), "images")}
        for count in (1000, 2000)
    )
    assert not one & other


def test_no_image_has_the_id_of_a_server(cloud):
    servers = {server.uuid for server in cloud.servers}
    assert not servers & {row["id"] for row in read(cloud, "images")}


def test_images_are_made_one_by_one(cloud):
    first = list(itertools.islice(cloud.rows("image_properties"), 2))
    assert [text.count("\n") for text in first] == [15, 15]
