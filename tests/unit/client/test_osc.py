import argparse
from importlib import metadata

import pytest
from keystoneauth1 import session
from openstack.compute.v2 import _proxy

from imprint.client import nova_shell, sdk
from imprint.client.osc import (
    columns,
    commands,
    plugin,
    server_create,
    server_rebuild,
    server_show,
    shadowing,
)


@pytest.mark.parametrize(
    ("group", "loaded"),
    [
        (
            "openstack.cli.server_create",
            {"imprint": server_create.ServerCreateHook},
        ),
        (
            "openstack.cli.server_rebuild",
            {"imprint": server_rebuild.ServerRebuildHook},
        ),
        (
            "openstack.cli.server_show",
            {"imprint": server_show.ServerShowHook},
        ),
        ("openstack.cli.extension", {"imprint": plugin}),
        (
            f"openstack.{plugin.API_NAME}.v{plugin.DEFAULT_API_VERSION}",
            {
                "server_image_property_set": commands.SetServerImageProperty,
                "server_image_property_show": (
                    commands.ShowServerImageProperty
                ),
                "server_image_property_unset": (
                    commands.UnsetServerImageProperty
                ),
            },
        ),
        ("novaclient.extension", {"imprint": nova_shell}),
    ],
)
def test_the_entry_points_of_the_installed_project_are_the_parts(
    group, loaded
):
    entry_points = metadata.distribution(
        "openstack-imprint"
    ).entry_points.select(group=group)

    assert {point.name: point.load() for point in entry_points} == loaded


def test_a_replacement_by_another_hook_comes_back():
    compute = _proxy.Proxy(session.Session())
    compute.create_server = "another hook's"

    def create_server():
        """Stand in for ours."""

    with shadowing.shadowed(compute, create_server):
        assert compute.create_server is create_server

    assert compute.create_server == "another hook's"


def test_the_client_is_its_own_again_after_an_action_that_fails():
    compute = _proxy.Proxy(session.Session())
    seen = []

    def create_server():
        """Stand in for ours."""

    def action(parsed_args):
        seen.append(compute.create_server)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        shadowing.during(action, compute, create_server)(argparse.Namespace())

    assert seen == [create_server]
    assert "create_server" not in vars(compute)


ACCEPTED = sdk.Verdict(accepted=True, code=202, message="")
DENIED = sdk.Refusal(
    property="img_signature", code=403, message="may not be\noverridden"
)


@pytest.mark.parametrize(
    ("verdict", "refused", "reasons"),
    [
        (ACCEPTED, (), []),
        (
            ACCEPTED,
            (DENIED,),
            ["img_signature: may not be overridden (HTTP 403)"],
        ),
        (
            sdk.Verdict(accepted=False, code=400, message="too\nsmall"),
            (DENIED,),
            [
                "too small (HTTP 400)",
                "img_signature: may not be overridden (HTTP 403)",
            ],
        ),
    ],
)
def test_a_preview_gives_the_reasons_of_a_refusal(verdict, refused, reasons):
    preview = sdk.Preview(
        image_properties={}, refused=refused, verdict=verdict
    )

    assert columns.reasons(preview) == reasons


def test_a_preview_reads_in_a_table_and_is_whole_elsewhere():
    preview = sdk.Preview(
        image_properties={
            "hw_video_model": sdk.ImageProperty(value="vga", origin="nova"),
            "hw_disk_bus": sdk.ImageProperty(
                value="ide", origin="override", image="sata"
            ),
        },
        refused=(DENIED,),
        verdict=ACCEPTED,
    )

    names, values = columns.preview(preview)

    assert names == ("image_properties", "refused", "verdict")
    assert [value.human_readable() for value in values] == [
        (
            "hw_disk_bus='ide' (override; image: 'sata')\n"
            "hw_video_model='vga' (nova)"
        ),
        "img_signature: may not be overridden (HTTP 403)",
        "accepted (HTTP 202)",
    ]
    assert [value.machine_readable() for value in values] == [
        {
            "hw_disk_bus": {
                "value": "ide",
                "origin": "override",
                "image": "sata",
            },
            "hw_video_model": {"value": "vga", "origin": "nova"},
        },
        [
            {
                "property": "img_signature",
                "code": 403,
                "message": "may not be\noverridden",
            }
        ],
        {"accepted": True, "code": 202, "message": ""},
    ]
