"""The image properties of a real server: shown, changed later, previewed."""

import contextlib
import json
import time
import uuid

import pytest

from imprint.cloud import facts
from imprint.cloud.servers import LIMIT, read_fault

RUN = uuid.uuid4().hex[:6]
SINCE = {"OpenStack-API-Version": "compute 2.98, imprint 1.1"}
EVENTS = {"OpenStack-API-Version": "compute 2.84"}
CREATED = {"hw_vif_model": "e1000"}
CHANGED = {
    "hw_disk_bus": "scsi",
    "hw_scsi_model": "virtio-scsi",
    "hw_machine_type": "q35",
    "hw_firmware_type": "uefi",
}


def call(cloud, method, path, **more):
    return cloud.connection.compute.request(
        path, method, headers=SINCE, **more
    )


def describe(cloud, server):
    answer = call(cloud, "GET", f"/servers/{server}/image-properties")
    assert answer.status_code == 200, answer.text
    return answer.json()["image_properties"]


def put(cloud, server, overrides):
    return call(
        cloud,
        "PUT",
        f"/servers/{server}/image-properties/overrides",
        json={"image_props_override": overrides},
    )


def remove(cloud, server, key):
    path = f"/servers/{server}/image-properties/overrides/{key}"
    return call(cloud, "DELETE", path)


def stop(cloud, server):
    cloud.act(server, **{"os-stop": None})
    cloud.wait(
        server,
        "off",
        lambda shown: (
            shown["status"] == "SHUTOFF" and not shown["OS-EXT-STS:task_state"]
        ),
    )


def start(cloud, server, before):
    """Start a server and wait for the report of another boot."""
    cloud.act(server, **{"os-start": None})
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        cloud.wait_active(server)
        report = facts.parse(cloud.read_console(server))
        if report.get("ready") and report.get("boot") != before.get("boot"):
            return report
        time.sleep(0.5)
    raise AssertionError(f"no report in {LIMIT} s")


def read_hardware(cloud, server):
    domain = cloud.read_domain(server)
    (disk,) = domain.findall("devices/disk[@device='disk']/target")
    machine = domain.find("os/type").get("machine")
    has_loader = domain.find("os/loader") is not None
    return disk.get("bus"), "q35" in machine, has_loader


@pytest.fixture(scope="module")
def image(upload):
    """Return an image like tiny, which is stopped without a long wait."""
    # the guest ignores the power button
    return upload("properties", os_shutdown_timeout="1", hw_vif_model="virtio")


@pytest.fixture(scope="module")
def server(alice, image, flavors, network):
    """Return a server of alice's and its guest's first report."""
    with contextlib.ExitStack() as leftovers:
        made = alice.create_accepted(
            f"properties-{RUN}",
            image=image,
            flavor=flavors["tiny"],
            network=network,
            override=CREATED,
        )
        leftovers.callback(alice.delete, [made])
        report = facts.parse(alice.wait_console(made, facts.READY))
        yield made, report


def test_a_servers_life_with_changes(alice, bob, admin, server):
    one, report = server
    shown = describe(alice, one)
    assert shown["hw_vif_model"] == {
        "value": "e1000",
        "origin": "override",
        "image": "virtio",
    }
    assert shown["os_command_line"]["origin"] == "image"
    for name in ("hw_disk_bus", "hw_machine_type", "hw_video_model"):
        assert shown[name]["origin"] == "nova"
    assert shown["hw_machine_type"]["value"] == "pc"
    assert read_hardware(alice, one) == ("virtio", False, False)
    assert describe(admin, one) == shown

    # neither another project nor a server that is on
    for answer in (
        call(bob, "GET", f"/servers/{one}/image-properties"),
        put(bob, one, {}),
        remove(bob, one, "hw_vif_model"),
    ):
        assert answer.status_code == 404, answer.text
        assert one in read_fault(answer)
    answer = put(alice, one, CHANGED)
    assert answer.status_code == 409
    assert "vm_state active" in read_fault(answer)

    stop(alice, one)
    for refused, code, word in (
        ({"hw_numa_nodes": "1"}, 409, "resize or a rebuild"),
        ({"img_owner_id": "x"}, 403, "img_owner_id"),
        ({"hw_disk_bus": "virtio-scsi"}, 400, "hw_scsi_model"),
    ):
        answer = put(alice, one, refused)
        assert (answer.status_code, word in read_fault(answer)) == (code, True)
    assert describe(alice, one) == shown

    answer = put(alice, one, CHANGED)
    assert answer.status_code == 200, answer.text
    assert answer.json()["image_properties"] == describe(alice, one)
    check_action(alice, admin, one, answer.headers["x-openstack-request-id"])
    report = start(alice, one, report)
    assert read_hardware(alice, one) == ("scsi", True, True)
    assert [disk.split()[0] for disk in report.list("disk")] == ["sda"]
    assert report.get("firmware") == "efi"
    shown = describe(alice, one)
    assert shown["hw_disk_bus"] == {"value": "scsi", "origin": "override"}
    # the image's own is back
    assert shown["hw_vif_model"] == {"value": "virtio", "origin": "image"}

    stop(alice, one)
    for key in CHANGED:
        answer = remove(alice, one, key)
        assert answer.status_code == 204, answer.text
    assert remove(alice, one, "hw_disk_bus").status_code == 404
    report = start(alice, one, report)
    assert read_hardware(alice, one) == ("virtio", False, False)
    assert [disk.split()[0] for disk in report.list("disk")] == ["vda"]
    assert report.get("firmware") == "bios"
    shown = describe(alice, one)
    for name, value in (("hw_disk_bus", "virtio"), ("hw_machine_type", "pc")):
        assert shown[name] == {"value": value, "origin": "nova"}


def check_action(alice, admin, server, request_id):
    """Look at what the owner and the administrator see of a change."""
    path = f"/servers/{server}/os-instance-actions/{request_id}"
    answer = alice.connection.compute.get(path, headers=EVENTS)
    action = answer.json()["instanceAction"]
    assert action["action"] == "image_props_override"
    assert action["user_id"] == alice.connection.current_user_id
    assert action["project_id"] == alice.connection.current_project_id
    assert "hw_disk_bus: none -> 'scsi'" in action["message"]
    assert "details" not in action["events"][0]
    answer = admin.connection.compute.get(path, headers=EVENTS)
    (event,) = answer.json()["instanceAction"]["events"]
    details = json.loads(event["details"])
    assert details["hw_vif_model"] == {"before": "e1000", "after": None}


def test_a_create_is_in_the_servers_action(admin, server):
    path = f"/servers/{server[0]}/os-instance-actions"
    answer = admin.connection.compute.get(path, headers=EVENTS)
    (create,) = [
        action["request_id"]
        for action in answer.json()["instanceActions"]
        if action["action"] == "create"
    ]
    answer = admin.connection.compute.get(f"{path}/{create}", headers=EVENTS)
    details = [
        json.loads(event["details"])
        for event in answer.json()["instanceAction"]["events"]
        if event["event"] == "image_props_override"
    ]
    assert details == [{"hw_vif_model": {"before": None, "after": "e1000"}}]


@pytest.mark.alone  # others' servers and ports come and go
def test_a_preview_creates_nothing(alice, images, flavors, network):
    servers = {one.id for one in alice.connection.compute.servers()}
    ports = {port.id for port in alice.connection.network.ports()}
    body = {
        "server": {
            "name": f"preview-{RUN}",
            "imageRef": images["tiny"],
            "flavorRef": flavors["tiny"],
            "networks": [{"uuid": network}],
            "image_props_override": {
                "hw_disk_bus": "sata",
                "img_owner_id": "x",
            },
        }
    }
    answer = call(alice, "POST", "/image-properties/preview", json=body)
    assert answer.status_code == 200, answer.text
    preview = answer.json()
    assert preview["image_properties"]["hw_disk_bus"]["value"] == "sata"
    assert preview["image_properties"]["os_command_line"]["origin"] == "image"
    (refused,) = preview["refused"]
    assert (refused["property"], refused["code"]) == ("img_owner_id", 403)
    assert preview["verdict"] == {
        "accepted": False,
        "code": 403,
        "message": refused["message"],
    }
    del body["server"]["image_props_override"]["img_owner_id"]
    answer = call(alice, "POST", "/image-properties/preview", json=body)
    assert answer.json()["verdict"]["accepted"] is True
    assert {one.id for one in alice.connection.compute.servers()} == servers
    assert {port.id for port in alice.connection.network.ports()} == ports
