"""Who sees which images of a server, and which relations."""

import json
import uuid

import pytest
from tests.functional.glance import server
from tests.functional.glance.server import ADMIN, ALICE, BOB, NOVA

SIGNAL = "OpenStack-Instance-Aware"


@pytest.fixture
def images(glance, instance):
    """One server's images: its owner's, an administrator's, another's."""
    owned = {"X_Nova_Instance_Project_Id": "alice"}
    glance.create(instance, name="b1", image_type="backup", **owned)
    glance.create(instance, name="b2", image_type="backup", **owned)
    glance.create(instance, name="s", **owned)
    made = glance.create(
        instance, name="by-admin", token=ADMIN, visibility="shared", **owned
    )
    glance.ask(
        "POST",
        f"/v2/images/{made.json['id']}/members",
        {"member": "alice"},
        token=ADMIN,
    )
    glance.create(instance, name="bobs", token=BOB)
    return {
        image["name"]: image["id"]
        for image in glance.list(instance, token=ADMIN).json["images"]
    }


def test_each_sees_what_glance_shows_him(glance, instance, images):
    assert glance.list(instance).names == ["b1", "b2", "by-admin", "s"]
    assert glance.list(instance, token=BOB).names == ["bobs"]
    assert glance.list(instance, token=ADMIN).names == sorted(images)
    stranger = glance.list(instance, token="eve:eve:member,reader")
    assert (stranger.status, stranger.names) == (200, [])


def test_a_stranger_cannot_tell_a_server_from_none(glance, instance, images):
    eve = "eve:eve:member,reader"
    for query in ("", "&sort=name:asc", f"&marker={images['s']}", "&limit=x"):
        asked = glance.list(instance, query, token=eve)
        none = str(uuid.uuid4())
        of_none = glance.list(none, query, token=eve)
        assert asked.status == of_none.status
        assert asked.body.replace(instance.encode(), none.encode()) == (
            of_none.body
        )
    one = f"/v2/instances/{NOVA}/{instance}/relations"
    assert glance.ask("GET", one, token=eve).json == {"relations": []}
    for image in images.values():
        assert glance.instances(image, token=eve).status == 404


def test_an_image_shared_with_a_stranger_is_not_listed_by_server(
    glance, instance, images
):
    # what Bob sees by another way says nothing of Alice's server
    image = images["s"]
    change = [{"op": "replace", "path": "/visibility", "value": "community"}]
    glance.ask(
        "PATCH",
        f"/v2/images/{image}",
        json.dumps(change).encode(),
        Content_Type="application/openstack-images-v2.1-json-patch",
    )
    assert glance.ask("GET", f"/v2/images/{image}", token=BOB).status == 200
    assert glance.list(instance, token=BOB).names == ["bobs"]
    assert glance.instances(image, token=BOB).json == {"instances": []}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("&nova_image_kind=backup", ["b1", "b2"]),
        ("&nova_image_kind=in:backup,snapshot", ["b1", "b2", "by-admin", "s"]),
        ("&nova_image_kind=shelve", []),
        (f"&nova_installation_uuid={NOVA}&name=s", ["s"]),
        (f"&nova_installation_uuid={server.OTHER_NOVA}", []),
        ("&name=in:b1,bobs", ["b1"]),
        ("&image_type=backup&status=queued", ["b1", "b2"]),
        ("&member_status=accepted", ["b1", "b2", "s"]),
        ("&nova%5Fimage%5Fkind=backup", ["b1", "b2"]),
        (f"&id={uuid.uuid4()}", []),
    ],
)
def test_every_filter_of_glance_counts(
    glance, instance, images, query, expected
):
    assert glance.list(instance, query).names == expected


@pytest.mark.parametrize(
    "form", ["{}", "in:{}", "in:{},00000000-0000-0000-0000-000000000001"]
)
def test_ids_of_the_caller_are_intersected(glance, instance, images, form):
    query = "&id=" + form.format(images["s"])
    assert glance.list(instance, query).names == ["s"]
    # an id is not a way around the server
    other = glance.create(str(uuid.uuid4())).json["id"]
    assert glance.list(instance, "&id=" + form.format(other)).names == []


@pytest.mark.parametrize("path", ["/v2.9/images", "/v2/images/"])
def test_every_address_of_the_list_is_known(glance, instance, images, path):
    listed = glance.ask("GET", f"{path}?nova_instance_uuid={instance}")
    assert listed.names == ["b1", "b2", "by-admin", "s"]


def test_pages_keep_the_callers_words_and_no_ids(glance, instance, images):
    query = "&limit=3&sort_key=name&sort_key=id&sort_dir=asc&tag="
    query = query.removesuffix("&tag=")
    listed = glance.list(instance, query)
    assert listed.names == ["b1", "b2", "by-admin"]
    page = f"/v2/images?nova_instance_uuid={instance}{query}"
    assert listed.json["first"] == page
    assert listed.json["next"] == f"{page}&marker={images['by-admin']}"
    last = glance.ask("GET", listed.json["next"])
    assert last.names == ["s"]
    assert last.json["first"] == page
    assert "next" not in last.json


def test_the_alias_is_the_same_list(glance, instance, images):
    path = f"/v2/instances/{NOVA}/{instance}/images"
    listed = glance.ask("GET", f"{path}?sort=name:asc&limit=2")
    assert [i["name"] for i in listed.json["images"]] == ["b1", "b2"]
    assert listed.json["first"] == f"{path}?sort=name%3Aasc&limit=2"
    assert glance.ask("GET", listed.json["next"]).names == ["by-admin", "s"]
    other = f"/v2/instances/{server.OTHER_NOVA}/{instance}/images"
    assert glance.ask("GET", other).names == []


def test_answers_say_that_somebody_filtered(glance, instance, images):
    path = f"/v2/instances/{NOVA}/{instance}"
    for answer in (
        glance.list(instance),
        glance.list("x"),
        glance.ask("GET", "/v2/info/instance-aware"),
        glance.ask("GET", f"{path}/images"),
        glance.ask("GET", f"{path}/relations"),
        glance.instances(images["s"]),
        glance.instances(str(uuid.uuid4())),
    ):
        assert answer.headers[SIGNAL] == "1"
    assert SIGNAL not in glance.ask("GET", "/v2/images").headers


def test_discovery_says_what_there_is(glance):
    assert glance.ask("GET", "/v2/info/instance-aware").json == {
        "instance_aware": {"version": "1.0", "max_ids": 500}
    }


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("nova_instance_uuid=", ["nova_instance_uuid"]),
        ("nova_instance_uuid=x", ["nova_instance_uuid", "'x'", "UUID"]),
        (f"nova_installation_uuid={NOVA}", ["nova_instance_uuid"]),
        ("nova_image_kind=backup", ["nova_instance_uuid"]),
        (
            f"nova_instance_uuid={NOVA}&nova_instance_uuid={NOVA}",
            ["nova_instance_uuid", "twice"],
        ),
        (
            f"nova_instance_uuid={NOVA}&nova_installation_uuid=y",
            ["nova_installation_uuid", "'y'"],
        ),
        (
            f"nova_instance_uuid={NOVA}&nova_image_kind=bak",
            ["nova_image_kind", "'bak'", "backup"],
        ),
    ],
)
def test_a_bad_filter_is_refused(glance, query, words):
    answer = glance.ask("GET", f"/v2/images?{query}")
    assert answer.status == 400
    for word in words:
        assert word in answer.json["message"]


@pytest.mark.parametrize(
    "query", ["sort_key=bogus", "limit=-1", "limit=x", "marker=x"]
)
def test_glance_refuses_what_it_always_did(glance, instance, images, query):
    assert glance.list(instance, f"&{query}").status == 400


@pytest.mark.parametrize(
    "name",
    ["nova_instance_uuids", "xnova_instance_uuid", "Nova_Instance_Uuid"],
)
def test_another_name_is_a_property_of_glances(glance, instance, images, name):
    answer = glance.ask("GET", f"/v2/images?{name}={instance}")
    assert answer.status == 200
    assert SIGNAL not in answer.headers


def test_servers_of_an_image_are_for_its_owner(glance, instance, images):
    expected = [instance]
    for token in (ALICE, ADMIN, "nova:service:service"):
        answer = glance.instances(images["s"], token=token)
        if token.startswith("nova"):
            # a service without a role in the image's project sees no image
            assert answer.status == 404
            continue
        found = answer.json["instances"]
        assert [each["nova_instance_uuid"] for each in found] == expected
    # whose server it is knows it too, the image is the administrator's
    found = glance.instances(images["by-admin"]).json["instances"]
    assert [each["nova_instance_uuid"] for each in found] == expected


def put(glance, image, instance, nova=NOVA, kind="base", **keywords):
    body = {"kind": kind, **keywords.pop("body", {})}
    return glance.ask(
        "PUT",
        f"/v2/images/{image}/instances/{nova}/{instance}",
        body,
        **keywords,
    )


SERVICE = {"service": server.SERVICE, "X_Nova_Installation_Uuid": NOVA}


@pytest.fixture
def public(glance):
    return glance.ask(
        "POST",
        "/v2/images",
        {**server.IMAGE, "name": "base", "visibility": "public"},
        token=ADMIN,
    ).json["id"]


def test_a_base_image_is_known_to_the_servers_project_alone(
    glance, instance, public
):
    bobs = str(uuid.uuid4())
    for token, server_, project in (
        (ALICE, instance, "alice"),
        (BOB, bobs, "bob"),
    ):
        owner = {"instance_project_id": project}
        answer = put(
            glance, public, server_, token=token, body=owner, **SERVICE
        )
        assert answer.status == 201, answer.body
        assert answer.json["source"] == "nova"
    (found,) = glance.instances(public).json["instances"]
    assert found["nova_instance_uuid"] == instance
    assert len(glance.instances(public, token=ADMIN).json["instances"]) == 2
    assert glance.list(instance, "&nova_image_kind=base").names == ["base"]
    assert glance.list(instance, token=BOB).names == []


def test_who_owns_a_public_image_does_not_see_who_boots_it(glance, instance):
    image = glance.ask(
        "POST",
        "/v2/images",
        {**server.IMAGE, "visibility": "community"},
        token=BOB,
    ).json["id"]
    owner = {"instance_project_id": "alice"}
    assert put(glance, image, instance, body=owner, **SERVICE).status == 201
    assert glance.instances(image, token=BOB).json == {"instances": []}
    path = f"/v2/instances/{NOVA}/{instance}/relations"
    assert glance.ask("GET", path, token=BOB).json == {"relations": []}
    # nor by asking for the server
    assert glance.list(instance, token=BOB).ids == []


def test_lineage_survives_the_image(glance, instance, public):
    owner = {"instance_project_id": "alice"}
    put(glance, public, instance, body=owner, **SERVICE)
    deleted = glance.ask("DELETE", f"/v2/images/{public}", token=ADMIN)
    assert deleted.status == 204
    assert glance.list(instance).ids == []
    path = f"/v2/instances/{NOVA}/{instance}/relations"
    (found,) = glance.ask("GET", path).json["relations"]
    assert (found["image_id"], found["kind"]) == (public, "base")


def test_relations_of_a_server_are_listed_by_kind(glance, instance, images):
    path = f"/v2/instances/{NOVA}/{instance}/relations"
    found = glance.ask("GET", f"{path}?nova_image_kind=backup").json
    assert {each["image_id"] for each in found["relations"]} == {
        images["b1"],
        images["b2"],
    }
    assert glance.ask("GET", f"{path}?limit=3").status == 400


def test_a_relation_is_added_once_and_removed(glance, instance, public):
    assert put(glance, public, instance, **SERVICE).status == 201
    again = put(glance, public, instance, kind="snapshot", **SERVICE)
    assert (again.status, again.json["kind"]) == (200, "base")
    path = f"/v2/images/{public}/instances/{NOVA}/{instance}"
    assert glance.ask("DELETE", path).status == 403
    assert glance.ask("DELETE", path, **SERVICE).status == 204
    assert glance.ask("DELETE", path, **SERVICE).status == 404
    image = glance.ask("GET", f"/v2/images/{public}")
    assert image.status == 200


def test_an_administrator_may_write_and_it_is_told(glance, instance, public):
    answer = put(glance, public, instance, token=ADMIN)
    assert (answer.status, answer.json["source"]) == (201, "api")
    unknown = put(glance, public, instance, str(uuid.uuid4()), token=ADMIN)
    assert unknown.status == 404
    path = f"/v2/images/{public}/instances/{NOVA}/{instance}"
    assert glance.ask("DELETE", path, token=ADMIN).status == 204


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"service": server.SERVICE},
        {"service": server.OTHER_SERVICE, "X_Nova_Installation_Uuid": NOVA},
        {"service": ALICE, "X_Nova_Installation_Uuid": NOVA},
        {
            "service": server.OTHER_SERVICE,
            "X_Nova_Installation_Uuid": server.OTHER_NOVA,
        },
    ],
)
def test_nobody_else_writes_relations(glance, instance, said):
    image = glance.ask("POST", "/v2/images", server.IMAGE).json["id"]
    assert put(glance, image, instance, **said).status == 403
    assert glance.list(instance, token=ADMIN).ids == []


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ([], "object"),
        ({}, "kind"),
        ({"kind": "x"}, "'x'"),
        ({"kind": "base", "a": 1}, "object"),
        ({"kind": "base", "instance_project_id": ""}, "instance_project_id"),
        ({"kind": "base", "instance_project_id": 3}, "instance_project_id"),
    ],
)
def test_a_bad_relation_is_refused(glance, instance, public, body, word):
    path = f"/v2/images/{public}/instances/{NOVA}/{instance}"
    answer = glance.ask("PUT", path, body, **SERVICE)
    assert answer.status == 400
    assert word in answer.json["message"]


def test_a_bad_address_of_a_relation_is_refused(glance, instance, public):
    for path in (
        f"/v2/images/{public}/instances/{NOVA}/x",
        f"/v2/images/{public}/instances/x/{instance}",
        f"/v2/images/x/instances/{NOVA}/{instance}",
    ):
        answer = glance.ask("PUT", path, {"kind": "base"}, token=ADMIN)
        assert answer.status == 400
        assert "'x'" in answer.json["message"]


def test_an_image_that_is_not_seen_gets_no_relation(glance, instance):
    image = glance.ask("POST", "/v2/images", server.IMAGE, token=BOB)
    answer = put(glance, image.json["id"], instance, **SERVICE)
    assert answer.status == 404
    assert glance.instances(image.json["id"], token=BOB).json == {
        "instances": []
    }


def test_other_methods_are_glances_to_refuse(glance, instance):
    path = f"/v2/instances/{NOVA}/{instance}/images"
    assert glance.ask("POST", path, {}).status == 404


def test_a_backfilled_relation_is_not_verified(glance, instance):
    image = glance.create(instance).json["id"]
    with glance.store.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE imprint_image_instances SET source = 'backfill' "
            "WHERE image_id = ?",
            (image,),
        )
    (found,) = glance.instances(image).json["instances"]
    assert (found["source"], found["verified"]) == ("backfill", False)
