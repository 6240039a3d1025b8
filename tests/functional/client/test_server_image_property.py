"""``openstack server image property show, set, unset``."""

import json

import pytest

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
IMAGE_PROPERTY = ("server", "image", "property")
SHOW = (*IMAGE_PROPERTY, "show")
SET = (*IMAGE_PROPERTY, "set")
UNSET = (*IMAGE_PROPERTY, "unset")
OVERRIDES = f"/servers/{SERVER}/image-properties/overrides"


@pytest.fixture(params=[SERVER, "s1"])
def server(request):
    """How a user may call the server."""
    return request.param


def cells(outcome):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in outcome.stdout.splitlines()
        if line.startswith("|")
    ]


def test_the_properties_are_a_table_with_their_origins(
    cloud, openstack, server
):
    cloud.image_properties = {
        "hw_video_model": {"value": "vga", "origin": "nova"},
        "hw_disk_bus": {"value": "ide", "origin": "override", "image": "sata"},
    }

    outcome = openstack(*SHOW, server)

    assert outcome.status == 0, outcome.stderr
    assert cells(outcome) == [
        ["Property", "Value", "Origin", "Image"],
        ["hw_disk_bus", "ide", "override", "sata"],
        ["hw_video_model", "vga", "nova", ""],
    ]


def test_the_properties_are_structured(cloud, openstack):
    cloud.image_properties = {
        "hw_disk_bus": {"value": "ide", "origin": "override", "image": ""},
        "hw_video_model": {"value": "vga", "origin": "nova"},
    }

    outcome = openstack(*SHOW, "-f", "json", SERVER)

    assert json.loads(outcome.stdout) == [
        {
            "Property": "hw_disk_bus",
            "Value": "ide",
            "Origin": "override",
            "Image": "",
        },
        {
            "Property": "hw_video_model",
            "Value": "vga",
            "Origin": "nova",
            "Image": None,
        },
    ]


def test_set_adds_to_the_overrides_and_sends_them_whole(
    cloud, openstack, server
):
    cloud.overrides = {"hw_disk_bus": "ide", "hw_video_model": "vga"}

    outcome = openstack(
        *SET,
        "--property",
        "os_command_line=a=b=c",
        "--property",
        "hw_disk_bus=scsi",
        server,
    )

    assert outcome.status == 0, outcome.stderr
    assert outcome.stdout == ""
    (change,) = cloud.sent("PUT", OVERRIDES)
    assert change.json == {
        "image_props_override": {
            "hw_disk_bus": "scsi",
            "hw_video_model": "vga",
            "os_command_line": "a=b=c",
        }
    }
    assert change.headers["x-openstack-imprint-api-version"] == "1.1"


def test_unset_of_one_key_names_no_other(cloud, openstack, server):
    cloud.overrides = {"hw_disk_bus": "ide", "hw_video_model": "vga"}

    outcome = openstack(*UNSET, "--property", "hw_disk_bus", server)

    assert outcome.status == 0, outcome.stderr
    assert outcome.stdout == ""
    assert len(cloud.sent("DELETE", f"{OVERRIDES}/hw_disk_bus")) == 1
    assert not cloud.sent("PUT", OVERRIDES)
    assert cloud.overrides == {"hw_video_model": "vga"}


def test_unset_of_several_keys_is_one_change(cloud, openstack):
    cloud.overrides = {"a": "1", "b": "2", "c": "3"}

    outcome = openstack(*UNSET, "--property", "a", "--property", "c", SERVER)

    assert outcome.status == 0, outcome.stderr
    assert not cloud.sent("DELETE", "")
    (change,) = cloud.sent("PUT", OVERRIDES)
    assert change.json == {"image_props_override": {"b": "2"}}


@pytest.mark.parametrize(
    ("recorded", "known"),
    [({"a": "1", "c": "2"}, "a, c are"), ({}, "none is")],
)
def test_unset_of_several_keys_changes_nothing_if_one_is_wrong(
    cloud, openstack, recorded, known
):
    cloud.overrides = recorded

    outcome = openstack(*UNSET, "--property", "b", "--property", "a", SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        (
            f"Image property 'b' of server {SERVER} is not overridden, "
            f"{known}: nothing was changed"
        ),
    )
    assert cloud.overrides == recorded


def test_unset_of_one_wrong_key_is_told_by_the_server(cloud, openstack):
    cloud.overrides = {}

    outcome = openstack(*UNSET, "--property", "hw_disk_bus", SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        "hw_disk_bus is not overridden. (HTTP 404)",
    )


CHANGES = {
    "set": (*SET, "--property", "hw_disk_bus=scsi"),
    "unset one": (*UNSET, "--property", "hw_disk_bus"),
    "unset both": (
        *UNSET,
        "--property",
        "hw_disk_bus",
        "--property",
        "os_command_line",
    ),
}


@pytest.mark.parametrize("command", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("refusal", "line"),
    [
        (
            (409, "hw_numa_nodes needs a resize or a rebuild"),
            "hw_numa_nodes needs a resize or a rebuild (HTTP 409)",
        ),
        (
            (409, f"Cannot change {SERVER}\nwhile it is in vm_state active"),
            (
                f"Cannot change {SERVER} while it is in vm_state active "
                "(HTTP 409)"
            ),
        ),
    ],
)
def test_a_refusal_is_shown_as_the_server_says_it(
    cloud, openstack, command, refusal, line
):
    cloud.overrides = {"hw_disk_bus": "ide", "os_command_line": "quiet"}
    cloud.refusal = refusal

    outcome = openstack(*command, SERVER)

    assert (outcome.status, outcome.error) == (1, line)


COMMANDS = {"show": (SHOW, "there is nothing to show")} | {
    name: (command, "nothing was changed") for name, command in CHANGES.items()
}


@pytest.mark.parametrize(
    ("command", "consequence"), COMMANDS.values(), ids=COMMANDS
)
@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_a_cloud_without_imprint_is_named(
    cloud, openstack, command, consequence, path
):
    cloud.compute, cloud.imprint = path, ()

    outcome = openstack(*command, SERVER)

    assert outcome.status == 1
    assert outcome.error.startswith(
        "The compute service of this cloud does not offer image property "
        "overrides (Imprint 1."
    )
    assert outcome.error.endswith(f"): {consequence}")
    assert not cloud.sent("PUT", "")


@pytest.mark.parametrize(
    "command", [command for command, _ in COMMANDS.values()], ids=COMMANDS
)
def test_a_cloud_with_the_first_version_only_says_so(
    cloud, openstack, command
):
    cloud.imprint = ("1.0",)
    cloud.overrides = {"hw_disk_bus": "ide", "os_command_line": "quiet"}

    outcome = openstack(*command, SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        "Version 1.1 is not supported by imprint. (HTTP 406)",
    )


@pytest.mark.parametrize(
    "command", [command for command, _ in COMMANDS.values()], ids=COMMANDS
)
def test_an_unknown_server_is_told_as_by_other_commands(
    cloud, openstack, command
):
    other = openstack("server", "stop", "unknown")

    outcome = openstack(*command, "unknown")

    assert outcome == other
    assert outcome.status == 1


@pytest.mark.parametrize("command", [CHANGES["set"], CHANGES["unset both"]])
def test_overrides_that_may_not_be_seen_are_not_changed_by_parts(
    cloud, openstack, command
):
    cloud.overrides = None

    outcome = openstack(*command, SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        (
            f"The overrides of server {SERVER} may not be seen, so they "
            "cannot be changed by parts: nothing was changed"
        ),
    )
    assert not cloud.sent("PUT", OVERRIDES)


def test_an_argument_that_cannot_be_read_reaches_no_compute_service(
    cloud, openstack
):
    outcome = openstack(*SET, "--property", "hw_disk_bus", SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        (
            "Image property override 'hw_disk_bus' has no '=': KEY=VALUE is "
            "expected"
        ),
    )
    assert not [r for r in cloud.requests if r.path.startswith("/nova")]


@pytest.mark.parametrize("command", [SET, UNSET])
def test_a_change_of_nothing_is_an_error(cloud, openstack, command):
    outcome = openstack(*command, SERVER)

    assert outcome.status == 2
    assert "required: --property" in outcome.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (SHOW, "Show the image properties of a server and where each comes"),
        (SET, "Override image properties of a stopped or shelved server."),
        (UNSET, "Remove overrides of image properties of a stopped"),
    ],
)
def test_the_help_says_what_the_command_does(openstack, cloud, command, words):
    outcome = openstack(*command, "--help")

    text = " ".join(outcome.stdout.split())
    assert words in text
    assert "Server (name or ID)" in text
    assert not outcome.stderr
