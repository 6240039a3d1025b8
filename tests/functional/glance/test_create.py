"""Who is believed when an image is created."""

import json
import uuid

import pytest
from tests.functional.glance import server

NAMES = {"nova_instance_uuid", "nova_installation_uuid", "nova_image_kind"}


def assert_refused(answer, status, *words):
    assert answer.status == status, answer.body
    assert answer.json["code"] == status
    for word in words:
        assert word in answer.json["message"]


def test_what_nova_creates_is_listed_and_has_no_property_of_ours(
    glance, instance
):
    image = glance.create(instance, name="one", instance_uuid=instance)
    assert image.status == 201
    assert not NAMES & image.json.keys()
    assert image.json["instance_uuid"] == instance
    listed = glance.list(instance)
    assert listed.names == ["one"]
    assert not NAMES & listed.json["images"][0].keys()


def test_an_image_of_no_server_is_created_as_ever(glance):
    answer = glance.ask("POST", "/v2/images", server.IMAGE)
    assert answer.status == 201
    assert "OpenStack-Instance-Aware" not in answer.headers


FORGED = {
    "no service token": {"service": None},
    "own token as service token": {"service": server.ALICE},
    "administrator as service": {"service": server.ADMIN},
    "no header": {"X_Nova_Installation_Uuid": None},
    "header of another": {"X_Nova_Installation_Uuid": server.OTHER_NOVA},
    "another registered nova": {"service": server.OTHER_SERVICE},
    "not registered": {"nova": str(uuid.UUID(int=7))},
    "service of another name": {"service": "other:service:service"},
}


@pytest.mark.parametrize("said", FORGED.values(), ids=FORGED.keys())
def test_a_forged_claim_is_refused_and_nothing_is_created(
    glance, instance, said
):
    name = str(uuid.uuid4())
    assert_refused(glance.create(instance, name=name, **said), 403, "nova_")
    assert glance.ask("GET", f"/v2/images?name={name}").ids == []
    assert glance.list(instance, token=server.ADMIN).ids == []


def test_a_disabled_installation_is_refused(glance, instance):
    nova = str(uuid.uuid4())
    glance.store.register(nova, name="n", service_user_id="nova")
    assert glance.create(instance, nova=nova).status == 201
    glance.store.disable(nova)
    assert_refused(glance.create(instance, nova=nova), 403, nova)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_one_of_the_names_alone_is_refused(glance, instance, name):
    answer = glance.ask("POST", "/v2/images", {**server.IMAGE, name: instance})
    assert_refused(answer, 403, "nova_")


@pytest.mark.parametrize("value", ["", "x", 7, None, {"a": 1}, "A" * 36])
def test_what_is_no_uuid_is_refused(glance, value):
    answer = glance.create(value)
    assert_refused(answer, 400, "nova_instance_uuid", "UUID")


def test_a_kind_that_no_create_has_is_refused(glance, instance):
    answer = glance.create(instance, X_Nova_Image_Kind="base")
    assert_refused(answer, 400, "X-Nova-Image-Kind", "snapshot")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({}, "snapshot"),
        ({"image_type": "backup"}, "backup"),
        ({"image_type": "backup", "X_Nova_Image_Kind": "shelve"}, "shelve"),
    ],
)
def test_the_kind_is_recorded(glance, instance, said, kind):
    image = glance.create(instance, **said).json["id"]
    (found,) = glance.instances(image).json["instances"]
    assert found == {
        "nova_instance_uuid": instance,
        "nova_installation_uuid": server.NOVA,
        "kind": kind,
        "source": "nova",
        "verified": True,
        "created_at": found["created_at"],
    }


def test_what_glance_refuses_leaves_no_relation(glance, instance):
    before = glance.rows()
    assert glance.create(instance, disk_format="none").status == 400
    assert glance.create(instance, visibility="public").status == 403
    assert glance.rows() == before


def test_an_id_that_is_taken_keeps_its_relation(glance, instance):
    image = glance.create(instance).json["id"]
    assert glance.create(str(uuid.uuid4()), id=image).status == 409
    assert glance.create(instance, id=image).status == 409
    assert glance.list(instance).ids == [image]


def test_an_id_that_is_no_uuid_is_refused(glance, instance):
    answer = glance.create(instance, id=str(uuid.uuid4()).upper())
    assert_refused(answer, 400, "id")


def test_chunks_are_read_as_a_body(glance, instance):
    body = json.dumps(
        {
            **server.IMAGE,
            "nova_instance_uuid": instance,
            "nova_installation_uuid": server.NOVA,
        }
    ).encode()
    answer = glance.ask(
        "POST",
        "/v2/images",
        iter([body[:10], body[10:]]),
        service=server.SERVICE,
        Content_Type="application/json",
        X_Nova_Installation_Uuid=server.NOVA,
    )
    assert answer.status == 201, answer.body
    assert glance.list(instance).ids == [answer.json["id"]]


@pytest.mark.parametrize("body", [b"", b"{", b"7"])
def test_what_is_no_image_is_glances_to_refuse(glance, body):
    answer = glance.ask(
        "POST", "/v2/images", body, Content_Type="application/json"
    )
    assert answer.status == 400, answer.body


def test_a_huge_body_is_refused(glance):
    body = b'{"name": "' + b"x" * 17 * 1024**2 + b'"}'
    assert_refused(glance.ask("POST", "/v2/images", body), 413, "body")


@pytest.mark.parametrize(
    ("media", "change"),
    [
        ("v2.1", {"op": "add", "path": "/{}", "value": "x"}),
        ("v2.1", {"op": "replace", "path": "//{}", "value": "x"}),
        ("v2.1", {"op": "remove", "path": "/ {} "}),
        ("v2.0", {"add": "/{}", "value": "x"}),
        ("v2.0", {"replace": "/{}", "value": "x"}),
        ("v2.0", {"remove": "/{}"}),
    ],
)
@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_patch_sets_a_name_of_ours(glance, instance, media, change, name):
    image = glance.create(instance).json["id"]
    change = {key: value.format(name) for key, value in change.items()}
    answer = patch(glance, image, [change], media)
    assert_refused(answer, 403, name)


def patch(glance, image, changes, media="v2.1", **keywords):
    return glance.ask(
        "PATCH",
        f"/v2/images/{image}",
        json.dumps(changes).encode(),
        Content_Type=f"application/openstack-images-{media}-json-patch",
        **keywords,
    )


def test_other_patches_pass(glance, instance):
    image = glance.create(instance).json["id"]
    changes = [{"op": "add", "path": "/nova~1x~0", "value": "y"}]
    answer = patch(glance, image, changes)
    assert answer.status == 200
    assert answer.json["nova/x~"] == "y"


def test_a_snapshot_that_becomes_a_base_image_is_listed_as_none(
    glance, instance
):
    image = glance.create(instance, image_type="snapshot").json["id"]
    kinds = "&nova_image_kind=in:snapshot,backup"
    assert glance.list(instance, kinds).ids == [image]
    changes = [{"op": "replace", "path": "/image_type", "value": "base"}]
    assert patch(glance, image, changes).status == 200
    assert glance.list(instance, kinds).ids == []
    assert glance.list(instance).ids == [image]
    assert glance.list(instance, "&nova_image_kind=image").ids == [image]
    assert (
        patch(glance, image, [{"op": "remove", "path": "/image_type"}]).status
        == 200
    )
    assert glance.list(instance, kinds).ids == []
    changes = [{"op": "add", "path": "/image_type", "value": "backup"}]
    assert patch(glance, image, changes).status == 200
    assert glance.list(instance, kinds).ids == [image]


def test_an_image_that_another_project_gets_is_its_own(glance, instance):
    image = glance.create(instance).json["id"]
    assert glance.list(instance, token=server.BOB).ids == []
    changes = [{"op": "replace", "path": "/owner", "value": "bob"}]
    assert patch(glance, image, changes, token=server.ADMIN).status == 200
    assert glance.list(instance, token=server.BOB).ids == [image]
    assert glance.list(instance).ids == []


def test_a_deleted_image_is_forgotten(glance, instance):
    image = glance.create(instance).json["id"]
    assert glance.ask("DELETE", f"/v2/images/{image}").status == 204
    assert glance.list(instance).ids == []
    assert not [row for row in glance.rows() if row[0] == image]


def test_a_delete_that_glance_refuses_changes_nothing(glance, instance):
    image = glance.create(instance, protected=True).json["id"]
    assert glance.ask("DELETE", f"/v2/images/{image}").status == 403
    assert glance.list(instance).ids == [image]


def test_data_that_comes_later_leaves_the_relation(glance, instance):
    image = glance.create(instance).json["id"]
    data = b"x" * 3_000_000
    answer = glance.ask(
        "PUT",
        f"/v2/images/{image}/file",
        iter([data[:1_000_000], data[1_000_000:]]),
        Content_Type="application/octet-stream",
    )
    assert answer.status == 204, answer.body
    assert glance.ask("GET", f"/v2/images/{image}/file").body == data
    (listed,) = glance.list(instance).json["images"]
    assert listed["status"] == "active"
    assert listed["size"] == len(data)


def test_an_id_that_comes_back_has_no_relation_of_before(glance, instance):
    image = glance.create(instance).json["id"]
    relation = glance.store.find(instance, server.NOVA, image)
    assert glance.ask("DELETE", f"/v2/images/{image}").status == 204
    # as a purge and a worker that died before it cleaned up leave it
    assert glance.store.insert(relation)
    other = str(uuid.uuid4())
    with glance.store.engine.begin() as connection:
        connection.exec_driver_sql(
            "DELETE FROM image_properties WHERE image_id = ?", (image,)
        )
        connection.exec_driver_sql("DELETE FROM images WHERE id = ?", (image,))
    assert glance.create(other, id=image).status == 201
    assert glance.list(instance).ids == []
    assert glance.list(other).ids == [image]
