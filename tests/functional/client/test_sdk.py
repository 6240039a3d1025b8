"""Overrides through openstacksdk, without the command line."""

import openstack
import pytest
from openstack import exceptions

from imprint.client import sdk

ATTRS = {"name": "s1", "image_id": "an-image", "flavor_id": "a-flavor"}


@pytest.fixture
def compute(cloud):
    with openstack.connect(cloud="alice") as connection:
        yield connection.compute


def test_a_server_is_created_with_its_overrides(cloud, compute):
    server = sdk.create_server(
        compute, image_props_override={"os_command_line": "a=b"}, **ATTRS
    )

    assert server.image_props_override == {"os_command_line": "a=b"}
    (creation,) = cloud.creations
    assert creation.json == {
        "server": {
            "name": "s1",
            "imageRef": "an-image",
            "flavorRef": "a-flavor",
            "image_props_override": {"os_command_line": "a=b"},
        }
    }
    assert creation.headers["x-openstack-imprint-api-version"] == "1.0"


def test_the_caller_s_client_is_left_as_it_was(cloud, compute):
    sdk.ensure_offered(compute)
    sdk.create_server(compute, image_props_override={}, **ATTRS)

    compute.create_server(**ATTRS)

    last = cloud.creations[-1]
    assert "image_props_override" not in last.json["server"]
    assert "x-openstack-imprint-api-version" not in last.headers


def test_a_refusal_is_the_sdk_s_own_exception(cloud, compute):
    cloud.refusal = (403, "denied: img_signature")

    with pytest.raises(exceptions.ForbiddenException, match="img_signature"):
        sdk.create_server(
            compute, image_props_override={"img_signature": "x"}, **ATTRS
        )


def test_a_cloud_without_imprint_is_told_apart(cloud, compute):
    cloud.imprint = None

    with pytest.raises(sdk.OverridesNotOffered, match=r"Imprint 1\.0"):
        sdk.ensure_offered(compute)
