"""Overrides through openstacksdk, without the command line."""

import openstack
import pytest
from openstack import connection as _connection
from openstack import exceptions
from openstack.compute.v2 import _proxy

from imprint.client import sdk

IMAGE = "6a7ea9d2-1111-4a0c-8a1a-000000000001"
SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
ATTRS = {"name": "s1", "image_id": "an-image", "flavor_id": "a-flavor"}
OVERRIDES = {"os_command_line": "a=b"}


def ours(request):
    return request.headers.get("x-openstack-imprint-api-version")


@pytest.fixture
def compute(cloud):
    with openstack.connect(cloud="alice") as connection:
        yield connection.compute


@pytest.fixture
def hooked(cloud, vendor_hook):
    """A connection to a cloud whose clouds.yaml names our hook."""
    with openstack.connect(cloud="alice") as connection:
        yield connection


def test_a_server_is_created_with_its_overrides(cloud, compute):
    server = sdk.create_server(
        compute, image_props_override=OVERRIDES, **ATTRS
    )

    assert server.image_props_override == OVERRIDES
    (creation,) = cloud.creations
    assert creation.json == {
        "server": {
            "name": "s1",
            "imageRef": "an-image",
            "flavorRef": "a-flavor",
            "image_props_override": OVERRIDES,
        }
    }
    assert ours(creation) == "1.0"


@pytest.mark.parametrize("overrides", [OVERRIDES, {}])
def test_a_rebuild_replaces_the_overrides(cloud, compute, overrides):
    server = compute.get_server(SERVER)

    rebuilt = sdk.rebuild_server(
        compute, server, IMAGE, image_props_override=overrides, name="s2"
    )

    assert rebuilt.image_props_override == overrides
    (rebuild,) = cloud.rebuilds
    assert rebuild.json == {
        "rebuild": {
            "imageRef": IMAGE,
            "name": "s2",
            "image_props_override": overrides,
        }
    }
    assert ours(rebuild) == "1.1"


def test_a_server_may_be_rebuilt_by_its_id(cloud, compute):
    rebuilt = sdk.rebuild_server(
        compute, SERVER, IMAGE, image_props_override=OVERRIDES
    )

    assert (rebuilt.id, rebuilt.status) == (SERVER, "ACTIVE")
    assert len(cloud.rebuilds) == 1


def test_the_caller_s_client_is_left_as_it_was(cloud, compute):
    sdk.ensure_offered(compute)
    sdk.create_server(compute, image_props_override={}, **ATTRS)
    sdk.rebuild_server(compute, SERVER, IMAGE, image_props_override={})
    sdk.get_image_properties(compute, SERVER)
    cloud.requests.clear()

    compute.create_server(**ATTRS)
    compute.rebuild_server(SERVER, IMAGE)

    create, rebuild = cloud.requests
    assert "image_props_override" not in create.json["server"]
    assert "image_props_override" not in rebuild.json["rebuild"]
    assert not ours(create)
    assert not ours(rebuild)


def test_a_refusal_is_the_sdk_s_own_exception(cloud, compute):
    cloud.refusal = (403, "denied: img_signature")

    with pytest.raises(exceptions.ForbiddenException, match="img_signature"):
        sdk.create_server(
            compute, image_props_override={"img_signature": "x"}, **ATTRS
        )
    with pytest.raises(exceptions.ForbiddenException, match="img_signature"):
        sdk.set_overrides(compute, SERVER, {"img_signature": "x"})


def test_every_property_has_its_origin(cloud, compute):
    cloud.image_properties = {
        "hw_disk_bus": {"value": "ide", "origin": "override", "image": "sata"},
        "hw_video_model": {"value": "vga", "origin": "nova"},
    }

    found = sdk.get_image_properties(compute, compute.get_server(SERVER))

    assert found == {
        "hw_disk_bus": sdk.ImageProperty(
            value="ide", origin="override", image="sata"
        ),
        "hw_video_model": sdk.ImageProperty(value="vga", origin="nova"),
    }


@pytest.mark.parametrize("recorded", [{"a": "1"}, {}, None])
def test_the_overrides_are_what_is_recorded_or_not_to_be_seen(
    cloud, compute, recorded
):
    cloud.overrides = recorded

    assert sdk.get_overrides(compute, SERVER) == recorded


def test_the_whole_set_is_replaced(cloud, compute):
    cloud.image_properties = {"b": {"value": "2", "origin": "override"}}

    found = sdk.set_overrides(compute, SERVER, {"b": "2"})

    assert found == {"b": sdk.ImageProperty(value="2", origin="override")}
    (change,) = cloud.requests[-1:]
    assert change.method == "PUT"
    assert change.path.endswith(
        f"/servers/{SERVER}/image-properties/overrides"
    )
    assert change.json == {"image_props_override": {"b": "2"}}
    assert ours(change) == "1.1"


@pytest.mark.parametrize("key", ["hw_disk_bus", "trait:CUSTOM_A", "a/b c"])
def test_one_override_is_removed_whatever_its_name(cloud, compute, key):
    cloud.overrides = {key: "1", "other": "2"}

    sdk.unset_override(compute, SERVER, key)

    assert cloud.overrides == {"other": "2"}


def test_a_key_that_is_not_overridden_is_not_found(cloud, compute):
    cloud.overrides = {}

    with pytest.raises(exceptions.NotFoundException, match="hw_disk_bus is"):
        sdk.unset_override(compute, SERVER, "hw_disk_bus")


def test_a_preview_sends_what_create_would(cloud, compute):
    cloud.preview = {
        "image_properties": {"hw_disk_bus": {"value": "", "origin": "nova"}},
        "refused": [
            {"property": "img_signature", "code": 403, "message": "denied"}
        ],
        "verdict": {"accepted": False, "code": 400, "message": "too small"},
    }
    attrs = {**ATTRS, "scheduler_hints": {"group": "g"}, "config_drive": True}

    found = sdk.preview_server(
        compute, image_props_override=OVERRIDES, **attrs
    )

    assert found == sdk.Preview(
        image_properties={
            "hw_disk_bus": sdk.ImageProperty(value="", origin="nova")
        },
        refused=(
            sdk.Refusal(property="img_signature", code=403, message="denied"),
        ),
        verdict=sdk.Verdict(accepted=False, code=400, message="too small"),
    )
    (preview,) = cloud.requests[-1:]
    assert preview.path.endswith("/image-properties/preview")
    assert ours(preview) == "1.1"
    sdk.create_server(compute, image_props_override=OVERRIDES, **attrs)
    (creation,) = cloud.creations
    assert preview.json == creation.json
    assert (
        preview.headers["openstack-api-version"]
        == creation.headers["openstack-api-version"]
    )


CALLS = {
    "get_image_properties": lambda compute: sdk.get_image_properties(
        compute, SERVER
    ),
    "set_overrides": lambda compute: sdk.set_overrides(compute, SERVER, {}),
    "unset_override": lambda compute: sdk.unset_override(compute, SERVER, "a"),
    "preview_server": lambda compute: sdk.preview_server(compute, **ATTRS),
}


@pytest.mark.parametrize("path", ["v2.1", "v2"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_each_call_tells_a_cloud_without_imprint_apart(
    cloud, compute, call, path
):
    cloud.compute, cloud.imprint = path, ()

    with pytest.raises(sdk.OverridesNotOffered, match=r"Imprint 1\.1"):
        call(compute)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_cloud_with_the_first_version_only_is_told_in_its_own_words(
    cloud, compute, call
):
    cloud.imprint = ("1.0",)

    with pytest.raises(exceptions.HttpException, match=r"1\.1 is not") as told:
        call(compute)

    assert told.value.status_code == 406


def test_asking_for_the_overrides_needs_the_first_version_only(cloud, compute):
    cloud.imprint, cloud.overrides = ("1.0",), {}
    assert sdk.get_overrides(compute, SERVER) == {}

    cloud.imprint = ()
    with pytest.raises(sdk.OverridesNotOffered, match=r"Imprint 1\.0"):
        sdk.get_overrides(compute, SERVER)


def test_an_unknown_server_is_not_taken_for_a_cloud_without_imprint(
    cloud, compute
):
    with pytest.raises(exceptions.NotFoundException, match=r"Not found\."):
        sdk.get_image_properties(compute, "unknown")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_cloud_without_imprint_is_told_apart(cloud, compute, version):
    cloud.imprint = ()

    with pytest.raises(sdk.OverridesNotOffered, match=f"Imprint {version}"):
        sdk.ensure_offered(compute, version)


def test_with_the_hook_the_proxy_takes_overrides(cloud, hooked):
    hooked.compute.create_server(image_props_override=OVERRIDES, **ATTRS)
    hooked.compute.rebuild_server(
        SERVER, IMAGE, image_props_override=OVERRIDES
    )

    (creation,), (rebuild,) = cloud.creations, cloud.rebuilds
    assert creation.json["server"]["image_props_override"] == OVERRIDES
    assert rebuild.json["rebuild"]["image_props_override"] == OVERRIDES
    assert (ours(creation), ours(rebuild)) == ("1.0", "1.1")


def test_with_the_hook_the_cloud_layer_takes_overrides(cloud, hooked):
    server = hooked.create_server(
        "s1",
        image=IMAGE,
        flavor="tiny",
        auto_ip=False,
        nics=[{"net-id": "a-network"}],
        image_props_override=OVERRIDES,
    )

    hooked.rebuild_server(SERVER, IMAGE, image_props_override={})
    assert server.id == SERVER
    (creation,), (rebuild,) = cloud.creations, cloud.rebuilds
    assert creation.json["server"]["image_props_override"] == OVERRIDES
    assert rebuild.json["rebuild"]["image_props_override"] == {}
    hooked.compute.create_server(**ATTRS)
    assert "image_props_override" not in cloud.creations[-1].json["server"]


def test_with_the_hook_plain_calls_are_the_sdk_s(cloud, compute, hooked):
    for one in (compute, hooked.compute):
        one.create_server(**ATTRS)
        one.rebuild_server(SERVER, IMAGE, name="s2")

    first, second = cloud.creations
    assert first == second
    first, second = cloud.rebuilds
    assert first == second


@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_with_the_hook_a_cloud_without_imprint_gets_nothing(
    cloud, hooked, path
):
    cloud.compute, cloud.imprint = path, ()

    with pytest.raises(sdk.OverridesNotOffered, match=r"Imprint 1\.0"):
        hooked.compute.create_server(image_props_override=OVERRIDES, **ATTRS)
    with pytest.raises(sdk.OverridesNotOffered, match=r"Imprint 1\.1"):
        hooked.compute.rebuild_server(SERVER, IMAGE, image_props_override={})

    assert not cloud.creations
    assert not cloud.rebuilds


def test_the_hook_sends_nothing_and_changes_its_connection_only(
    cloud, compute, hooked
):
    before = dict(vars(_connection.Connection))
    cloud.requests.clear()

    with openstack.connect(cloud="alice") as fresh:
        assert not cloud.requests
        assert isinstance(fresh, _connection.Connection)
        assert isinstance(fresh.compute, sdk.Proxy)

    assert dict(vars(_connection.Connection)) == before
    assert type(compute) is _proxy.Proxy


def test_the_hook_may_run_twice(cloud, hooked):
    class_of_its_own = type(hooked)

    sdk.hook(hooked)

    assert type(hooked) is class_of_its_own
    assert isinstance(hooked.compute, sdk.Proxy)


def test_the_hook_goes_with_the_connection_of_another_project(cloud, hooked):
    with hooked.connect_as_project("other") as other:
        assert isinstance(other.compute, sdk.Proxy)
