"""``openstack image list --server``: words to requests, and to rows."""

import pytest

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000007"
OTHER_NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000008"
GONE = "9da1d205-4444-4a0c-8a1a-00000000dead"
LIST = ("image", "list")
OF_SERVER = (*LIST, "--server", SERVER)
FILTER = f"nova_instance_uuid={SERVER}"


def names(rows):
    return [row["Name"] for row in rows]


@pytest.fixture
def many(glance):
    glance.add(1, "base", visibility="public")
    glance.add(2, "snapshot")
    glance.add(3, "backup")
    glance.add(4, "backup", server=GONE)
    glance.add(5, "backup", installation=OTHER_NOVA)
    glance.add(6)
    return glance


@pytest.mark.parametrize(
    ("options", "query"),
    [
        ((), FILTER),
        (("--kind", "backup"), f"{FILTER}&nova_image_kind=backup"),
        (
            ("--kind", "backup", "--kind", "snapshot", "--kind", "backup"),
            f"{FILTER}&nova_image_kind=in%3Abackup%2Csnapshot",
        ),
        (
            ("--installation", NOVA),
            f"{FILTER}&nova_installation_uuid={NOVA}",
        ),
        # options of the command itself
        (
            ("--status", "active", "--hidden", "--member-status", "all"),
            f"{FILTER}&member_status=all&status=active&os_hidden=True",
        ),
        (("--tag", "a", "--tag", "b"), f"{FILTER}&tag=a&tag=b"),
        (("--long", "--private"), f"{FILTER}&visibility=private"),
        (("--limit", "2"), f"{FILTER}&limit=2"),
        (("--max-items", "2"), f"{FILTER}&limit=2"),
    ],
)
def test_the_filters_are_sent_by_their_exact_names(
    openstack, glance, options, query
):
    outcome = openstack(*OF_SERVER, *options)

    assert outcome.status == 0, outcome.stderr
    assert glance.paths == [f"/images?{query}"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["image-1", "image-2", "image-3", "image-5"]),
        (("--kind", "backup"), ["image-3", "image-5"]),
        (("--kind", "backup", "--kind", "base"), ["1", "3", "5"]),
        (("--kind", "backup", "--installation", NOVA), ["image-3"]),
        (("--kind", "shelve"), []),
        (("--name", "image-2"), ["image-2"]),
        (("--sort", "name:desc", "--max-items", "2"), ["image-5", "image-3"]),
        (("--limit", "1"), ["image-5"]),
        (("--property", "image_type=snapshot"), ["image-2"]),
        (("--marker", "image-3"), ["image-1", "image-2"]),
    ],
)
def test_the_images_of_the_server_are_listed(rows, many, options, expected):
    found = rows(*LIST, "--server", "s1", *options)

    assert [name[-1] for name in names(found)] == [n[-1] for n in expected]


def test_all_pages_are_listed(rows, many):
    many.page = 1

    assert len(rows(*OF_SERVER)) == 4


def test_the_columns_are_those_of_the_command(rows, many):
    (row,) = rows(*OF_SERVER, "--kind", "snapshot")
    (long,) = rows(*OF_SERVER, "--kind", "snapshot", "--long")

    (plain,) = rows(*LIST, "--name", "image-2")
    (plain_long,) = rows(*LIST, "--name", "image-2", "--long")
    assert (row, long) == (plain, plain_long)


@pytest.mark.parametrize("given", [GONE, GONE.upper(), GONE.replace("-", "")])
def test_a_server_that_is_gone_is_given_by_its_id(rows, many, given):
    assert names(rows(*LIST, "--server", given)) == ["image-4"]


def test_a_name_that_no_server_has_is_told(openstack, many):
    outcome = openstack(*LIST, "--server", "unknown")

    assert (outcome.status, outcome.error) == (
        1,
        (
            "No server has the name or ID 'unknown'; one that is deleted is "
            "given by its ID"
        ),
    )
    assert not many.paths


@pytest.mark.parametrize(
    ("option", "value"), [("--kind", "backup"), ("--installation", NOVA)]
)
def test_a_filter_without_a_server_is_an_error(
    openstack, glance, option, value
):
    outcome = openstack(*LIST, option, value)

    assert (outcome.status, outcome.error) == (
        1,
        f"{option} is of the images of a server: --server is needed",
    )
    assert not glance.paths


def test_an_empty_server_is_not_taken_for_none(openstack, many):
    outcome = openstack(*LIST, "--server", "")

    assert outcome.status == 1
    assert not many.paths


def test_a_kind_that_is_none_is_an_error(openstack, glance):
    outcome = openstack(*OF_SERVER, "--kind", "backups")

    assert outcome.status == 2
    assert "argument --kind: invalid choice: 'backups'" in outcome.stderr
    assert not glance.paths


@pytest.mark.parametrize(
    "options", [(), ("--long", "--limit", "2"), ("--marker", "image-3")]
)
def test_without_a_server_every_request_is_the_plain_command_s(
    cloud, openstack, many, plain, options
):
    without, requests = plain(*LIST, *options)
    outcome = openstack(*LIST, *options)

    assert outcome == without
    assert cloud.requests == requests


def test_a_cloud_without_imprint_is_named(openstack, many):
    many.aware = False

    outcome = openstack(*OF_SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        (
            "The image service of this cloud does not know which images "
            "belong to a server (it does not have Imprint): no image was "
            "listed"
        ),
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "nova_installation_uuid 'x' is not a UUID"),
        (403, "policy does not allow imprint:image_instances:list"),
        (503, "the store of image relations\ndoes not answer"),
    ],
)
def test_the_refusal_of_the_service_is_one_line(
    openstack, many, code, message
):
    many.refusal = (code, message)

    outcome = openstack(*OF_SERVER)

    line = " ".join(message.splitlines())
    assert (outcome.status, outcome.error) == (1, f"{line} (HTTP {code})")


def test_the_next_command_of_a_session_lists_all_images(openstack, many):
    lines = [" ".join(OF_SERVER), "image list -c ID", "quit"]

    openstack(stdin="\n".join(lines) + "\n")

    assert many.paths[-2:] == [f"/images?{FILTER}", "/images"]


def test_a_command_that_fails_leaves_the_next_one_alone(openstack, many):
    many.refusal = (400, "no")
    lines = [" ".join(OF_SERVER), "image list -c ID", "quit"]

    openstack(stdin="\n".join(lines) + "\n")

    assert many.paths[-1] == "/images"
