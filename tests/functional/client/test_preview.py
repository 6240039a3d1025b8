"""``openstack server create --image-prop-preview``: nothing is created."""

import json

import pytest

CREATE = ("server", "create", "--image", "tiny", "--flavor", "tiny")
PREVIEW = (*CREATE, "--image-prop-preview")
OVERRIDE = ("--image-prop-override", "hw_disk_bus=scsi")
ACCEPTED = {"accepted": True, "code": 202, "message": ""}
DENIED = {
    "property": "img_signature",
    "code": 403,
    "message": "The image property img_signature may not be overridden",
}


@pytest.fixture
def preview(cloud):
    cloud.preview = {
        "image_properties": {
            "hw_video_model": {"value": "vga", "origin": "nova"},
            "hw_disk_bus": {
                "value": "scsi",
                "origin": "override",
                "image": "virtio",
            },
        },
        "refused": [],
        "verdict": ACCEPTED,
    }
    return cloud.preview


def test_the_preview_is_asked_with_the_body_of_create(
    cloud, openstack, preview
):
    openstack(*CREATE, *OVERRIDE, "--hint", "a=b", "s1")
    outcome = openstack(*PREVIEW, *OVERRIDE, "--hint", "a=b", "--wait", "s1")

    assert outcome.status == 0, outcome.stderr
    (creation,) = cloud.creations
    (asked,) = cloud.sent("POST", "/image-properties/preview")
    assert asked.json == creation.json
    assert asked.headers["x-openstack-imprint-api-version"] == "1.1"
    assert (
        asked.headers["openstack-api-version"]
        == creation.headers["openstack-api-version"]
    )


def test_overrides_are_not_needed(cloud, openstack, preview):
    outcome = openstack(*PREVIEW, "s1")

    assert outcome.status == 0, outcome.stderr
    (asked,) = cloud.sent("POST", "/image-properties/preview")
    assert "image_props_override" not in asked.json["server"]
    assert not cloud.creations


def test_the_preview_is_structured(cloud, openstack, preview):
    outcome = openstack(*PREVIEW, *OVERRIDE, "-f", "json", "s1")

    assert json.loads(outcome.stdout) == preview


def test_the_preview_is_readable(cloud, openstack, preview):
    preview["refused"] = [DENIED]

    outcome = openstack(*PREVIEW, *OVERRIDE, "s1")

    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in outcome.stdout.splitlines()
        if line.startswith("|")
    ]
    assert cells == [
        ["Field", "Value"],
        ["image_properties", "hw_disk_bus='scsi' (override; image: 'virtio')"],
        ["", "hw_video_model='vga' (nova)"],
        [
            "refused",
            (
                "img_signature: The image property img_signature may not be "
                "overridden (HTTP 403)"
            ),
        ],
        ["verdict", "accepted (HTTP 202)"],
    ]


@pytest.mark.parametrize(
    ("refused", "verdict", "reason"),
    [
        (
            [],
            {"accepted": False, "code": 400, "message": "disk too small"},
            "disk too small (HTTP 400)",
        ),
        (
            [DENIED],
            ACCEPTED,
            (
                "img_signature: The image property img_signature may not be "
                "overridden (HTTP 403)"
            ),
        ),
    ],
)
def test_what_would_be_refused_is_shown_whole_and_fails(
    cloud, openstack, preview, refused, verdict, reason
):
    preview.update(refused=refused, verdict=verdict)

    outcome = openstack(*PREVIEW, *OVERRIDE, "-f", "json", "s1")

    assert json.loads(outcome.stdout) == preview
    assert (outcome.status, outcome.error) == (
        1,
        f"The server would be refused: {reason}",
    )
    assert not cloud.creations


@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_a_cloud_without_imprint_is_named_and_nothing_created(
    cloud, openstack, path
):
    cloud.compute, cloud.imprint = path, ()

    outcome = openstack(*PREVIEW, *OVERRIDE, "s1")

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.error == (
        "The compute service of this cloud does not offer image property "
        "overrides (Imprint 1.1): no server was created"
    )
    assert not cloud.creations


def test_a_request_that_cannot_be_read_is_one_line(cloud, openstack):
    cloud.refusal = (400, "Invalid input for field name")

    outcome = openstack(*PREVIEW, "s1")

    assert (outcome.status, outcome.error) == (
        1,
        "Invalid input for field name (HTTP 400)",
    )


def test_the_next_command_of_a_session_creates_again(
    cloud, openstack, preview
):
    preview["verdict"] = {"accepted": False, "code": 400, "message": "no"}
    lines = [
        " ".join([*PREVIEW, *OVERRIDE, "s1"]),
        " ".join([*CREATE, "s2"]),
        "quit",
    ]

    outcome = openstack(stdin="\n".join(lines) + "\n")

    (creation,) = cloud.creations
    assert creation.json["server"]["name"] == "s2"
    assert "x-openstack-imprint-api-version" not in creation.headers
    assert outcome.stderr.count("would be refused") == 1
