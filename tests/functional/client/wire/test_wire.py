"""What unmodified clients send, byte shape by byte shape.

``--regenerate`` records anew; the diff is for review.
"""

import json
import pathlib

import pytest
from tests import recipes

RECORDS = pathlib.Path(__file__).resolve().parents[3] / "data" / "wire"
NETWORK = "bfc4d217-6666-4a0c-8a1a-000000000006"
OVERRIDES = {"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"}
FLAT = {f"imprint:{name}": value for name, value in OVERRIDES.items()}

# the key in the body and what stands there, as each client is documented
HINTS = {
    "openstackclient": ("OS-SCH-HNT:scheduler_hints", FLAT),
    "openstackclient-json": (
        "OS-SCH-HNT:scheduler_hints",
        {
            "image_props_override": '{"hw_disk_bus": "scsi",\n'
            + " " * 34
            + '"hw_scsi_model": "virtio-scsi"}'
        },
    ),
    "sdk": ("OS-SCH-HNT:scheduler_hints", FLAT),
    "sdk-dict": (
        "OS-SCH-HNT:scheduler_hints",
        {"image_props_override": OVERRIDES},
    ),
    "ansible": ("OS-SCH-HNT:scheduler_hints", FLAT),
    "nova": ("os:scheduler_hints", FLAT),
    "novaclient": ("os:scheduler_hints", FLAT),
    "heat": ("os:scheduler_hints", FLAT),
    # not in a Python package; their records are written by hand, after
    # gophercloud's servers.SchedulerHintOpts.ToSchedulerHintsMap, which adds
    # AdditionalProperties to the other hints,
    "gophercloud": ("os:scheduler_hints", FLAT),
    # terraform-provider-openstack's resourceInstanceSchedulerHintsV2, which
    # fills them from additional_properties,
    "terraform": ("os:scheduler_hints", FLAT),
    # and Horizon's openstack_dashboard.api.nova.server_create, which gives
    # the hints of its launch form to novaclient
    "horizon": ("os:scheduler_hints", FLAT),
}


@pytest.fixture
def recorder(cloud):
    """The cloud of recorded answers, with what these clients ask besides."""
    network = {"id": NETWORK, "name": "private", "status": "ACTIVE"}
    networks, images = cloud.network, cloud.image
    compute, server = cloud._compute, cloud._server

    def answer_network(request, path, query):
        if path == "v2.0/networks":
            return 200, {}, {"networks": [network]}
        if path == f"v2.0/networks/{NETWORK}":
            return 200, {}, {"network": network}
        if path in ("v2.0/ports", "v2.0/subnets"):
            return 200, {}, {path.removeprefix("v2.0/"): []}
        return (404, {}, {}) if path else networks(request, path, query)

    def answer_image(request, path, query):
        if path == "v2/schemas/image":
            return 200, {}, {"name": "image", "properties": {}}
        return images(request, path, query)

    def answer_compute(request, path, query):
        if path.endswith("/os-interface"):
            return 200, {"interfaceAttachments": []}
        return compute(request, path, query)

    def show_server():
        address = {"addr": "192.0.2.5", "version": 4}
        return {**server(), "addresses": {"private": [address]}}

    cloud.network, cloud.image = answer_network, answer_image
    cloud._compute, cloud._server = answer_compute, show_server
    return cloud


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_a_client_sends_what_is_recorded(
    recorder, tmp_path, name, pytestconfig
):
    recipes.follow(recipes.RECIPES[name], tmp_path / "clouds.yaml", tmp_path)
    (creation,) = recorder.creations
    body = creation.json
    # Heat's has a boundary of chance
    body["server"].pop("user_data", None)
    version = creation.headers.get("openstack-api-version")
    sent = {"OpenStack-API-Version": version, "body": body}
    record = RECORDS / f"{name}.json"
    if pytestconfig.getoption("regenerate"):
        record.write_text(json.dumps(sent, indent=2) + "\n")
    assert sent == json.loads(record.read_text())


@pytest.mark.parametrize("name", HINTS)
def test_a_record_has_the_overrides_where_the_pages_say(name):
    body = json.loads((RECORDS / f"{name}.json").read_text())["body"]
    key, hints = HINTS[name]
    assert body.keys() == {"server", key}
    assert body[key] == hints


def test_no_record_is_left_over():
    assert {path.stem for path in RECORDS.iterdir()} == HINTS.keys()
