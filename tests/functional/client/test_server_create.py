"""``openstack server create --image-prop-override``: words to requests."""

import json

import pytest
from cliff import command

from imprint.client import versions

CREATE = ("server", "create", "--image", "tiny", "--flavor", "tiny")
OVERRIDE = ("--image-prop-override", "hw_disk_bus=scsi")


def ours(request):
    return versions.REQUEST_HEADER.lower() in request.headers


def test_overrides_are_sent_beside_what_the_command_sends(cloud, openstack):
    openstack(*CREATE, "s1")
    outcome = openstack(
        *CREATE,
        *OVERRIDE,
        "--image-prop-override",
        "hw_scsi_model=virtio-scsi",
        "s1",
    )

    assert outcome.status == 0, outcome.stderr
    plain, overriding = cloud.creations
    expected = plain.json
    expected["server"]["image_props_override"] = {
        "hw_disk_bus": "scsi",
        "hw_scsi_model": "virtio-scsi",
    }
    assert overriding.json == expected
    headers = dict(overriding.headers)
    assert headers.pop("x-openstack-imprint-api-version") == "1.0"
    headers["content-length"] = plain.headers["content-length"]
    assert headers == plain.headers


def test_without_the_option_every_request_is_the_plain_command_s(
    cloud, openstack, monkeypatch
):
    openstack(*CREATE, "--wait", "s1")
    with_hook, cloud.requests = cloud.requests, []

    def load_no_hooks(self):
        self._hooks = []

    monkeypatch.setattr(command.Command, "_load_hooks", load_no_hooks)
    refused = openstack(*CREATE, *OVERRIDE, "s1")
    assert refused.status == 2, "the hook is still there"
    cloud.requests = []
    openstack(*CREATE, "--wait", "s1")

    assert len(cloud.creations) == 1
    assert with_hook == cloud.requests


def test_one_small_request_is_added_and_only_two_carry_our_header(
    cloud, openstack
):
    openstack(*CREATE, "--wait", "s1")
    plain, cloud.requests = cloud.requests, []
    openstack(*CREATE, *OVERRIDE, "--wait", "s1")

    assert len(cloud.requests) == len(plain) + 1
    assert [
        (request.method, request.path)
        for request in cloud.requests
        if ours(request)
    ] == [
        ("GET", "/nova/v2.1/flavors?limit=1"),
        ("POST", "/nova/v2.1/servers"),
    ]


@pytest.mark.parametrize(
    ("argument", "override"),
    [
        ("os_command_line=a=b=c", {"os_command_line": "a=b=c"}),
        ("os_command_line==", {"os_command_line": "="}),
        ("os_command_line=", {"os_command_line": ""}),
        (
            "os_command_line=console=ttyS0 inst.ks=http://h/a?x=1",
            {"os_command_line": "console=ttyS0 inst.ks=http://h/a?x=1"},
        ),
        ("trait:CUSTOM_A=required", {"trait:CUSTOM_A": "required"}),
        ("img_x=ключ, 'quoted'", {"img_x": "ключ, 'quoted'"}),
    ],
)
def test_a_value_is_kept_whole(cloud, openstack, argument, override):
    outcome = openstack(*CREATE, "--image-prop-override", argument, "s1")

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    assert creation.json["server"]["image_props_override"] == override


@pytest.mark.parametrize(
    ("options", "microversion"),
    [
        ((), "compute 2.100"),  # the newest that the SDK knows
        (("--os-compute-api-version", "2.37"), "compute 2.37"),
        (("--os-compute-api-version", "2.1"), "compute 2.1"),
    ],
)
def test_the_user_s_compute_microversion_is_kept(
    cloud, openstack, options, microversion
):
    outcome = openstack(*options, *CREATE, *OVERRIDE, "s1")

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    assert creation.headers["openstack-api-version"] == microversion
    assert creation.headers["x-openstack-imprint-api-version"] == "1.0"


@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_a_cloud_without_imprint_is_named_and_nothing_created(
    cloud, openstack, path
):
    cloud.compute, cloud.imprint = path, ()

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert outcome.error == (
        "The compute service of this cloud does not offer image property "
        "overrides (Imprint 1.0): no server was created"
    )
    assert not cloud.creations


def test_a_catalog_with_the_legacy_path_works_where_imprint_is(
    cloud, openstack
):
    cloud.compute = "v2"

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    assert creation.path == "/nova/v2/servers"
    assert creation.json["server"]["image_props_override"] == {
        "hw_disk_bus": "scsi"
    }


def test_a_cloud_with_other_versions_only_is_told_in_its_own_words(
    cloud, openstack
):
    cloud.imprint = ("2.0",)

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert outcome.error == (
        "Version 1.0 is not supported by imprint. (HTTP 406)"
    )
    assert not cloud.creations


def test_a_refused_version_is_refused_though_the_header_names_it(
    cloud, openstack
):
    cloud.probe = (406, "Version 1.0 is not supported by the API.")

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert not cloud.creations


def test_a_cloud_that_cannot_answer_is_not_called_one_without_imprint(
    cloud, openstack
):
    cloud.imprint = ()
    cloud.probe = (503, "The database is away.")

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert "The database is away." in outcome.error
    assert not cloud.creations


def test_a_user_who_may_not_list_flavors_may_still_override(cloud, openstack):
    cloud.probe = (403, "Policy doesn't allow flavors to be listed.")

    openstack(*CREATE, *OVERRIDE, "s1")

    assert len(cloud.creations) == 1


@pytest.mark.parametrize(
    ("refusal", "line"),
    [
        (
            (400, "hw_disk_bus='x' is not legal: ide, scsi are"),
            "hw_disk_bus='x' is not legal: ide, scsi are (HTTP 400)",
        ),
        (
            (403, "Image property 'img_signature' may not be overridden"),
            "Image property 'img_signature' may not be overridden (HTTP 403)",
        ),
        ((400, "two\nlines"), "two lines (HTTP 400)"),
        (
            (409, "Quota exceeded, too many servers."),
            "Quota exceeded, too many servers. (HTTP 409)",
        ),
    ],
)
def test_the_server_s_refusal_is_one_line(cloud, openstack, refusal, line):
    cloud.refusal = refusal

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert (outcome.status, outcome.error) == (1, line)


def test_a_fault_of_the_server_keeps_the_client_s_own_report(cloud, openstack):
    cloud.refusal = (500, "Unexpected API Error.")

    outcome = openstack(*CREATE, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert outcome.error.startswith("HttpException: 500: Server Error")
    assert "Unexpected API Error." in outcome.error


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["hw_disk_bus"],
            (
                "Image property override 'hw_disk_bus' has no '=': "
                "KEY=VALUE is expected"
            ),
        ),
        (
            ["=scsi"],
            (
                "Image property override '=scsi' has no key before its '=': "
                "KEY=VALUE is expected"
            ),
        ),
        (
            ["hw_disk_bus=scsi", "hw_disk_bus=ide"],
            (
                "Image property override 'hw_disk_bus' is given twice with "
                "different values: 'scsi' and 'ide'"
            ),
        ),
    ],
)
def test_an_argument_that_cannot_be_read_reaches_no_compute_service(
    cloud, openstack, arguments, line
):
    options = [f"--image-prop-override={argument}" for argument in arguments]

    outcome = openstack(*CREATE, *options, "s1")

    assert (outcome.status, outcome.error) == (1, line)
    assert not [r for r in cloud.requests if r.path.startswith("/nova")]


def test_the_overrides_are_shown_like_other_mappings(cloud, openstack):
    column = ("-c", "image_props_override")

    as_json = openstack(*CREATE, *OVERRIDE, *column, "-f", "json", "s1")
    as_table = openstack(*CREATE, *OVERRIDE, *column, "s1")

    assert json.loads(as_json.stdout) == {
        "image_props_override": {"hw_disk_bus": "scsi"}
    }
    assert "| hw_disk_bus='scsi' |" in as_table.stdout


def test_waiting_for_the_server_works(cloud, openstack):
    outcome = openstack(*CREATE, *OVERRIDE, "--wait", "-f", "json", "s1")

    assert json.loads(outcome.stdout)["status"] == "ACTIVE"


def test_several_servers_share_the_overrides(cloud, openstack):
    openstack(*CREATE, *OVERRIDE, "--min", "2", "--max", "3", "s1")

    (creation,) = cloud.creations
    server = creation.json["server"]
    assert (server["min_count"], server["max_count"]) == (2, 3)
    assert server["image_props_override"] == {"hw_disk_bus": "scsi"}


def test_a_server_boots_from_a_volume_with_overrides(cloud, openstack):
    outcome = openstack(
        "server",
        "create",
        "--volume",
        "root",
        "--flavor",
        "tiny",
        *OVERRIDE,
        "s1",
    )

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    server = creation.json["server"]
    assert server["imageRef"] == ""
    assert server["block_device_mapping_v2"][0]["source_type"] == "volume"
    assert server["image_props_override"] == {"hw_disk_bus": "scsi"}


def test_a_server_boots_from_a_new_volume_with_overrides(cloud, openstack):
    outcome = openstack(*CREATE, *OVERRIDE, "--boot-from-volume", "1", "s1")

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    server = creation.json["server"]
    (device,) = server["block_device_mapping_v2"]
    assert device["destination_type"] == "volume"
    assert server["image_props_override"] == {"hw_disk_bus": "scsi"}


def test_the_image_may_be_chosen_by_property_beside_overrides(
    cloud, openstack
):
    outcome = openstack(
        "server",
        "create",
        "--image-property",
        "name=tiny",
        "--flavor",
        "tiny",
        *OVERRIDE,
        "s1",
    )

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    assert creation.json["server"]["image_props_override"] == {
        "hw_disk_bus": "scsi"
    }


def test_a_prefix_of_all_image_options_is_ambiguous_and_names_all(
    cloud, openstack
):
    outcome = openstack(*CREATE, "--image-prop", "hw_disk_bus=scsi", "s1")

    assert outcome.status == 2
    assert outcome.stderr.splitlines()[-1] == (
        "openstack server create: error: ambiguous option: --image-prop "
        "could match --image-prop-override, --image-prop-preview, "
        "--image-property"
    )
    assert not cloud.creations


@pytest.mark.parametrize(
    ("image", "flavor"),
    [("tiny", "tiny"), ("tiny", "none"), ("none", "tiny")],
)
def test_the_next_command_of_a_session_is_a_plain_one_again(
    cloud, openstack, image, flavor
):
    first = ("--image", image, "--flavor", flavor, *OVERRIDE, "s1")
    lines = [
        " ".join(["server create", *first]),
        " ".join([*CREATE, "s2"]),
        "quit",
    ]

    openstack(stdin="\n".join(lines) + "\n")

    last = cloud.creations[-1]
    assert last.json["server"]["name"] == "s2"
    assert "image_props_override" not in last.json["server"]
    assert not ours(last)


def test_the_next_command_after_a_refusal_is_a_plain_one_again(
    cloud, openstack
):
    cloud.refusal = (403, "denied")
    lines = [
        " ".join([*CREATE, *OVERRIDE, "s1"]),
        " ".join([*CREATE, "s2"]),
        "quit",
    ]

    openstack(stdin="\n".join(lines) + "\n")

    first, last = cloud.creations
    assert first.json["server"]["image_props_override"]
    assert "image_props_override" not in last.json["server"]


def test_the_help_shows_the_option_and_what_it_does(cloud, openstack):
    outcome = openstack("server", "create", "--help")

    text = " ".join(outcome.stdout.split())
    assert "--image-prop-override <key=value>" in text
    assert "Override a property of the image for the new server only" in text
    assert "repeat option to override multiple properties" in text
    assert not outcome.stderr
