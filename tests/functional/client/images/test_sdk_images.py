"""Related images through openstacksdk, without the command line."""

import openstack
import pytest
from openstack import exceptions
from openstack.image.v2 import image as _image

from imprint.client import sdk
from imprint.relations import model

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000007"
OTHER_NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000008"
FILTER = f"nova_instance_uuid={SERVER}"


def ids(images):
    return [image.id for image in images]


def test_the_client_has_the_kinds_of_the_store():
    assert tuple(model.Kind) == sdk.KINDS


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ({}, FILTER),
        ({"installation": NOVA}, f"{FILTER}&nova_installation_uuid={NOVA}"),
        ({"kinds": ["backup"]}, f"{FILTER}&nova_image_kind=backup"),
        (
            {"kinds": ["backup", "shelve", "backup"]},
            f"{FILTER}&nova_image_kind=in%3Abackup%2Cshelve",
        ),
        # of openstacksdk, with its names
        (
            {"is_hidden": True, "sort": "created_at:desc", "owner": "p"},
            f"{FILTER}&owner=p&os_hidden=True&sort=created_at%3Adesc",
        ),
    ],
)
def test_the_filters_are_sent_by_their_exact_names(conn, glance, asked, query):
    list(sdk.list_related_images(conn, SERVER, **asked))

    assert glance.paths == [f"/images?{query}"]


def test_the_images_are_the_sdk_s(conn, glance):
    image = glance.add(1, "backup", backup_note="nightly")
    glance.add(2)

    (found,) = sdk.list_related_images(conn, SERVER, NOVA, ["backup"])

    assert type(found) is _image.Image
    assert (found.id, found.owner) == (image, conn.current_project_id)
    assert found.properties["backup_note"] == "nightly"
    conn.image.delete_image(found)
    assert glance.paths[-1] == f"/images/{image}"


def test_a_server_of_the_sdk_is_as_good_as_its_id(conn, glance):
    image = glance.add(1, "backup")
    server = conn.compute.get_server(SERVER)

    assert ids(sdk.list_related_images(conn, server)) == [image]
    (relation,) = sdk.list_server_relations(conn, NOVA, server)
    assert relation.server == SERVER


def test_every_page_is_followed_and_keeps_the_filters(conn, glance):
    glance.page = 2
    numbers = range(1, 6)
    images = [glance.add(number, "backup") for number in numbers]

    found = sdk.list_related_images(conn, SERVER, kinds=["backup", "image"])

    assert ids(found) == images[::-1]
    kinds = "nova_image_kind=in%3Abackup%2Cimage"
    assert glance.paths == [
        f"/images?{FILTER}&{kinds}",
        f"/images?{FILTER}&{kinds}&marker={images[3]}",
        f"/images?{FILTER}&{kinds}&marker={images[1]}",
    ]


def test_one_page_is_asked_for_where_one_is_wanted(conn, glance):
    images = [glance.add(number, "backup") for number in range(1, 4)]

    found = sdk.list_related_images(conn, SERVER, limit=1, paginated=False)

    assert ids(found) == images[2:]
    assert glance.paths == [f"/images?{FILTER}&limit=1"]


def test_a_limit_is_the_size_of_a_page(conn, glance):
    images = [glance.add(number, "backup") for number in range(1, 4)]

    found = sdk.list_related_images(conn, SERVER, limit=2)

    assert ids(found) == images[::-1]


def test_a_server_without_images_has_an_empty_list(conn, glance):
    assert list(sdk.list_related_images(conn, SERVER)) == []


def test_the_caller_s_client_is_left_as_it_was(conn, glance):
    list(sdk.list_related_images(conn, SERVER))
    glance.cloud.requests.clear()

    list(conn.image.images())

    assert glance.paths == ["/images"]


def test_answers_are_not_taken_from_a_cache(conn, glance):
    conn.enable_cache = conn.cache_enabled = True
    assert list(sdk.list_related_images(conn, SERVER)) == []

    image = glance.add(1, "backup")

    assert ids(sdk.list_related_images(conn, SERVER)) == [image]


def test_a_server_has_relations_also_with_images_that_are_deleted(
    conn, glance
):
    glance.add(1, "base")
    glance.add(2, "backup", source="backfill")
    glance.add(3, "backup", installation=OTHER_NOVA)
    first, second, _ = glance.relations
    glance.images.clear()

    found = sdk.list_server_relations(conn, NOVA, SERVER)

    assert found == [
        sdk.Relation(
            image=first["image_id"],
            installation=NOVA,
            server=SERVER,
            kind="base",
            source="nova",
            verified=True,
            created_at="2026-01-01T00:00:00Z",
        ),
        sdk.Relation(
            image=second["image_id"],
            installation=NOVA,
            server=SERVER,
            kind="backup",
            source="backfill",
            verified=False,
            created_at="2026-01-02T00:00:00Z",
        ),
    ]
    assert glance.paths == [f"/instances/{NOVA}/{SERVER}/relations"]


def test_an_image_has_its_servers(conn, glance):
    image = glance.add(1, "snapshot", installation=OTHER_NOVA)

    expected = [
        sdk.Relation(
            image=image,
            installation=OTHER_NOVA,
            server=SERVER,
            kind="snapshot",
            source="nova",
            verified=True,
            created_at="2026-01-01T00:00:00Z",
        )
    ]
    assert sdk.list_image_servers(conn, image) == expected
    assert glance.paths == [f"/images/{image}/instances"]
    assert sdk.list_image_servers(conn, conn.image.get_image(image)) == (
        expected
    )


def test_what_a_caller_gives_stays_in_its_place_of_the_path(conn, glance):
    glance.refusal = (400, "not a UUID")
    with pytest.raises(exceptions.HttpException):
        sdk.list_server_relations(conn, "../images", "a/b?c")
    with pytest.raises(exceptions.HttpException):
        sdk.list_image_servers(conn, "a/../b")

    assert glance.paths[0] == "/instances/..%2Fimages/a%2Fb%3Fc/relations"
    assert glance.paths[1] == "/images/a%2F..%2Fb/instances"


def test_a_cloud_with_imprint_is_instance_aware(conn, glance):
    assert sdk.is_instance_aware(conn) is True
    assert glance.paths == ["/info/instance-aware"]


def test_a_cloud_without_imprint_is_not_instance_aware(conn, glance):
    glance.aware = False

    assert sdk.is_instance_aware(conn) is False


def test_an_answer_without_the_signal_is_not_imprint_s(conn, glance):
    glance.answer = (200, {"instance_aware": {}})

    assert sdk.is_instance_aware(conn) is False


def test_a_cloud_that_cannot_answer_is_not_called_one_without(conn, glance):
    glance.answer = (500, {"message": "away"})

    with pytest.raises(exceptions.HttpException, match="away"):
        sdk.is_instance_aware(conn)


CALLS = {
    "list_related_images": lambda conn, _: list(
        sdk.list_related_images(conn, SERVER, NOVA, ["backup"])
    ),
    "list_server_relations": lambda conn, _: sdk.list_server_relations(
        conn, NOVA, SERVER
    ),
    "list_image_servers": sdk.list_image_servers,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_cloud_without_imprint_is_told_apart_from_an_empty_list(
    conn, glance, call
):
    image, glance.aware = glance.add(1, "backup"), False

    with pytest.raises(sdk.RelatedImagesNotOffered, match="not have Imprint"):
        call(conn, image)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, exceptions.BadRequestException),
        (403, exceptions.ForbiddenException),
        (503, exceptions.HttpException),
    ],
)
def test_a_refusal_is_the_sdk_s_own_exception(conn, glance, call, code, kind):
    image, glance.refusal = glance.add(1, "backup"), (code, "The reason.")

    with pytest.raises(kind) as refused:
        call(conn, image)

    assert refused.value.status_code == code
    assert refused.value.details == "The reason."


def test_an_unknown_image_is_not_taken_for_a_cloud_without_imprint(
    conn, glance
):
    with pytest.raises(exceptions.NotFoundException):
        sdk.list_image_servers(conn, "unknown")


def test_a_fault_of_glance_itself_is_not_taken_for_a_cloud_without(
    conn, glance
):
    glance.answer = (401, None)

    with pytest.raises(exceptions.HttpException) as refused:
        list(sdk.list_related_images(conn, SERVER))

    assert refused.value.status_code == 401


def test_the_connection_of_the_vendor_hook_works_too(glance, vendor_hook):
    image = glance.add(1, "backup")

    with openstack.connect(cloud="alice") as connection:
        found = ids(sdk.list_related_images(connection, SERVER))

    assert found == [image]
