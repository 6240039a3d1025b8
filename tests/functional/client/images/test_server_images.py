"""``openstack server image list`` and ``openstack image server list``."""

import pytest

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
GONE = "9da1d205-4444-4a0c-8a1a-00000000dead"
NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000007"
OTHER_NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000008"
LIST = ("server", "image", "list")
SERVERS = ("image", "server", "list")
FILTER = f"nova_instance_uuid={SERVER}"
WITHOUT = (
    "The image service of this cloud does not know which images belong to a "
    "server (it does not have Imprint): there is nothing to show"
)


@pytest.mark.parametrize("server", [SERVER, "s1"])
def test_the_images_of_a_server_are_listed_newest_first(rows, glance, server):
    first, second = glance.add(1, "snapshot"), glance.add(2, "backup")
    glance.add(3, "backup", server=GONE)

    assert rows(*LIST, server) == [
        {
            "ID": second,
            "Name": "image-2",
            "Status": "active",
            "Created At": "2026-01-02T00:00:00Z",
        },
        {
            "ID": first,
            "Name": "image-1",
            "Status": "active",
            "Created At": "2026-01-01T00:00:00Z",
        },
    ]
    assert glance.paths == [f"/images?{FILTER}"]


@pytest.mark.parametrize(
    ("options", "query"),
    [
        (("--kind", "shelve"), f"{FILTER}&nova_image_kind=shelve"),
        (
            ("--kind", "base", "--kind", "image", "--installation", NOVA),
            (
                f"{FILTER}&nova_installation_uuid={NOVA}"
                "&nova_image_kind=in%3Abase%2Cimage"
            ),
        ),
    ],
)
def test_the_filters_are_sent_by_their_exact_names(
    rows, glance, options, query
):
    assert rows(*LIST, *options, SERVER) == []
    assert glance.paths == [f"/images?{query}"]


def kinds(found):
    return [(row["Name"], row["Kind"], row["Verified"]) for row in found]


def test_an_image_tells_the_installation_and_that_the_kinds(rows, glance):
    glance.add(1, "snapshot", source="backfill")
    newest = [glance.add(number, "backup") for number in (2, 3)][-1]

    assert kinds(rows(*LIST, "--long", SERVER)) == [
        ("image-3", "backup", True),
        ("image-2", "backup", True),
        ("image-1", "snapshot", False),
    ]
    assert glance.paths == [
        f"/images?{FILTER}",
        f"/images/{newest}/instances",
        f"/instances/{NOVA}/{SERVER}/relations",
    ]


def test_one_request_tells_the_kinds_in_one_installation(rows, glance):
    glance.add(1, "snapshot")
    glance.add(2, "backup", installation=OTHER_NOVA)

    found = rows(*LIST, "--long", "--installation", NOVA, SERVER)

    assert kinds(found) == [("image-1", "snapshot", True)]
    assert glance.paths[1:] == [f"/instances/{NOVA}/{SERVER}/relations"]


def test_the_kinds_in_two_installations_are_told(rows, glance):
    glance.add(1, "snapshot")
    glance.add(2, "backup", installation=OTHER_NOVA)

    assert kinds(rows(*LIST, "--long", SERVER)) == [
        ("image-2", "backup", True),
        ("image-1", "snapshot", True),
    ]


def test_the_kind_is_of_this_server_where_an_image_has_several(rows, glance):
    image = glance.add(1, "base")
    (relation,) = glance.relations
    glance.relations.insert(
        0, {**relation, "nova_instance_uuid": GONE, "kind": "snapshot"}
    )

    (row,) = rows(*LIST, "--long", SERVER)

    assert (row["ID"], row["Kind"]) == (image, "base")


def test_a_kind_that_may_not_be_known_is_an_empty_cell(
    openstack, rows, glance, monkeypatch
):
    glance.add(1, "base")
    monkeypatch.setattr(glance, "_told", lambda name, *_: (200, S, {name: []}))

    (row,) = rows(*LIST, "--long", SERVER)

    assert (row["Kind"], row["Verified"]) == (None, None)
    assert "None" not in openstack(*LIST, "--long", SERVER).stdout


S = {"OpenStack-Instance-Aware": "1"}


def test_the_images_of_a_server_that_is_gone_are_listed(rows, glance):
    image = glance.add(1, "backup", server=GONE)

    assert [row["ID"] for row in rows(*LIST, GONE)] == [image]


def test_a_server_without_images_has_no_rows(rows, glance):
    glance.add(1)

    assert rows(*LIST, "--long", SERVER) == []


def test_a_name_that_no_server_has_is_told(openstack, glance):
    outcome = openstack(*LIST, "unknown")

    assert (outcome.status, outcome.error) == (
        1,
        (
            "No server has the name or ID 'unknown'; one that is deleted is "
            "given by its ID"
        ),
    )


@pytest.mark.parametrize("by", ["id", "name"])
def test_the_servers_of_an_image_are_listed(rows, glance, by):
    image = glance.add(1, "image", source="backfill")
    (relation,) = glance.relations
    glance.relations.append({**relation, "nova_instance_uuid": GONE})

    found = rows(*SERVERS, image if by == "id" else "image-1")

    expected = {
        "Installation": NOVA,
        "Server": SERVER,
        "Kind": "image",
        "Verified": False,
        "Created At": "2026-01-01T00:00:00Z",
    }
    assert found == [expected, {**expected, "Server": GONE}]
    assert glance.paths[-1] == f"/images/{image}/instances"


def test_an_image_of_no_server_has_no_rows(rows, glance):
    assert rows(*SERVERS, glance.add(1)) == []


def test_an_unknown_image_is_told(openstack, glance):
    outcome = openstack(*SERVERS, "unknown")

    assert outcome.status == 1
    assert outcome.error == "No Image found for unknown"


@pytest.mark.parametrize(
    "arguments",
    [(*LIST, "s1"), (*LIST, "--long", "s1"), (*SERVERS, "image-1")],
)
def test_a_cloud_without_imprint_is_named(openstack, glance, arguments):
    glance.add(1, "backup")
    glance.aware = False

    outcome = openstack(*arguments)

    assert (outcome.status, outcome.error) == (1, WITHOUT)


@pytest.mark.parametrize("arguments", [(*LIST, "s1"), (*SERVERS, "image-1")])
@pytest.mark.parametrize("code", [400, 403, 503])
def test_the_refusal_of_the_service_is_one_line(
    openstack, glance, arguments, code
):
    glance.add(1, "backup")
    glance.refusal = (code, "The reason.")

    outcome = openstack(*arguments)

    assert (outcome.status, outcome.error) == (
        1,
        f"The reason. (HTTP {code})",
    )
