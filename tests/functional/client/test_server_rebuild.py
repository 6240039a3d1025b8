"""``openstack server rebuild`` with overrides, and without."""

import json

import pytest

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
REBUILD = ("server", "rebuild")
OVERRIDE = ("--image-prop-override", "hw_disk_bus=scsi")
NONE = ("--no-image-prop-override",)


def ours(request):
    return request.headers.get("x-openstack-imprint-api-version")


@pytest.mark.parametrize(
    ("options", "overrides"),
    [
        (OVERRIDE, {"hw_disk_bus": "scsi"}),
        (
            (*OVERRIDE, "--image-prop-override", "os_command_line=a=b=c"),
            {"hw_disk_bus": "scsi", "os_command_line": "a=b=c"},
        ),
        (NONE, {}),
    ],
)
@pytest.mark.parametrize("server", [SERVER, "s1"])
def test_overrides_are_sent_beside_what_the_command_sends(
    cloud, openstack, server, options, overrides
):
    plain = openstack(*REBUILD, "--name", "s2", "-f", "json", server)
    outcome = openstack(
        *REBUILD, "--name", "s2", *options, "-f", "json", server
    )

    assert outcome.status == 0, outcome.stderr
    first, second = cloud.rebuilds
    expected = first.json
    expected["rebuild"]["image_props_override"] = overrides
    assert second.json == expected
    headers = dict(second.headers)
    assert headers.pop("x-openstack-imprint-api-version") == "1.1"
    headers["content-length"] = first.headers["content-length"]
    assert headers == first.headers
    shown = json.loads(outcome.stdout)
    assert shown.pop("image_props_override") == overrides
    assert shown == json.loads(plain.stdout)


def test_the_overrides_are_shown_like_other_mappings(cloud, openstack):
    outcome = openstack(*REBUILD, *OVERRIDE, SERVER)

    assert "| hw_disk_bus='scsi'" in outcome.stdout


def test_without_the_options_no_request_is_ours(cloud, openstack):
    outcome = openstack(*REBUILD, SERVER)

    assert outcome.status == 0, outcome.stderr
    assert not any(ours(request) for request in cloud.requests)
    (rebuild,) = cloud.rebuilds
    assert "image_props_override" not in rebuild.json["rebuild"]
    assert "image_props_override" not in outcome.stdout


def test_setting_and_removing_at_once_is_an_error(cloud, openstack):
    outcome = openstack(*REBUILD, *OVERRIDE, *NONE, SERVER)

    assert outcome.status == 2
    assert outcome.stderr.splitlines()[-1] == (
        "openstack server rebuild: error: argument --no-image-prop-override: "
        "not allowed with argument --image-prop-override"
    )
    assert not cloud.rebuilds


@pytest.mark.parametrize("options", [OVERRIDE, NONE])
@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_a_cloud_without_imprint_is_named_and_nothing_rebuilt(
    cloud, openstack, path, options
):
    cloud.compute, cloud.imprint = path, ()

    outcome = openstack(*REBUILD, *options, SERVER)

    assert outcome.status == 1
    assert outcome.error == (
        "The compute service of this cloud does not offer image property "
        "overrides (Imprint 1.1): no server was rebuilt"
    )
    assert not cloud.rebuilds


def test_a_cloud_with_the_first_version_only_says_so(cloud, openstack):
    cloud.imprint = ("1.0",)

    outcome = openstack(*REBUILD, *OVERRIDE, SERVER)

    assert (outcome.status, outcome.error) == (
        1,
        "Version 1.1 is not supported by imprint. (HTTP 406)",
    )
    assert not cloud.rebuilds


def test_the_server_s_refusal_is_one_line(cloud, openstack):
    cloud.refusal = (403, "Image property\nimg_signature is denied")

    outcome = openstack(
        *REBUILD, "--image-prop-override", "img_signature=a", SERVER
    )

    assert (outcome.status, outcome.error) == (
        1,
        "Image property img_signature is denied (HTTP 403)",
    )


def test_an_argument_that_cannot_be_read_reaches_no_compute_service(
    cloud, openstack
):
    outcome = openstack(
        *REBUILD, "--image-prop-override", "hw_disk_bus", SERVER
    )

    assert (outcome.status, outcome.error) == (
        1,
        (
            "Image property override 'hw_disk_bus' has no '=': KEY=VALUE is "
            "expected"
        ),
    )
    assert not [r for r in cloud.requests if r.path.startswith("/nova")]


@pytest.mark.parametrize("refusal", [None, (403, "denied")])
def test_the_next_command_of_a_session_is_a_plain_one_again(
    cloud, openstack, refusal
):
    cloud.refusal = refusal
    lines = [
        " ".join([*REBUILD, *OVERRIDE, SERVER]),
        " ".join([*REBUILD, SERVER]),
        "quit",
    ]

    openstack(stdin="\n".join(lines) + "\n")

    first, last = cloud.rebuilds
    assert first.json["rebuild"]["image_props_override"]
    assert "image_props_override" not in last.json["rebuild"]
    assert not ours(last)


def test_the_help_shows_the_options(cloud, openstack):
    outcome = openstack(*REBUILD, "--help")

    text = " ".join(outcome.stdout.split())
    assert (
        "[--image-prop-override <key=value> | --no-image-prop-override]"
    ) in text
    assert "Those given replace all overrides that the server has" in text
    assert not outcome.stderr
